//! Builds the example backends outside the workspace: a copy of each must compile and conform.

use anyhow::{Context, Result};

use crate::command::{captured, cargo};
use crate::workspace;

/// The folders of the example backends, each with the prefix of the suite's lines about the backend.
const BACKENDS: [(&str, &str); 2] = [("own-backend", "consumer: "), ("custom-backend", "redb: ")];

/// Certifies each example backend, and returns the suite's verdicts.
pub(crate) fn run() -> Result<String> {
    let verdicts = BACKENDS.map(|(name, prefix)| certify(name, prefix));
    Ok(verdicts.into_iter().collect::<Result<Vec<_>>>()?.join("; "))
}

fn certify(name: &str, prefix: &str) -> Result<String> {
    let builds = workspace::builds()?.join("outside");
    let (example, folder) = (workspace::root().join("examples").join(name), builds.join(name));
    for part in ["src", "tests"] {
        workspace::synchronize(&example.join(part), &folder.join(part))?;
    }
    let manifest = outside(&workspace::read(example.join("Cargo.toml"))?, &workspace::read("Cargo.toml")?);
    workspace::write(folder.join("Cargo.toml"), manifest)?;
    // Uses the versions of the workspace, which are already downloaded.
    workspace::write(folder.join("Cargo.lock"), workspace::read("Cargo.lock")?)?;
    let mut tests = cargo(["test", "--offline"]);
    tests.current_dir(&folder).env("CARGO_TARGET_DIR", builds.join("target"));
    verdict(&captured(tests)?, prefix).context("the suite printed no verdict on the example backend")
}

/// Returns the suite's last line about the backend, if it says that the backend conforms.
fn verdict(output: &str, prefix: &str) -> Option<String> {
    let last = output.lines().rfind(|line| line.starts_with(prefix));
    last.filter(|line| line[prefix.len()..].starts_with("conforms at ")).map(str::to_owned)
}

/// Returns the manifest of a crate outside the workspace, with explicit versions.
fn outside(manifest: &str, of_workspace: &str) -> String {
    let root = format!("{}/", workspace::root().display());
    let own = |line: &str| match line.split_once(" = { workspace = true") {
        Some((name, rest)) => format!("{name} = {{ version = \"{}\"{rest}", version(name, of_workspace)),
        None => line.replace("../../", &root),
    };
    let lines: Vec<_> = manifest.lines().map(own).collect();
    format!("{}\n\n[workspace]\n", lines.join("\n"))
}

/// Returns the version of a dependency in the workspace's manifest, or an empty text, which cargo refuses.
fn version<'a>(name: &str, manifest: &'a str) -> &'a str {
    let rest = manifest.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix("= "));
    let version = rest.map(|rest| rest.strip_prefix("{ version = ").unwrap_or(rest));
    version.and_then(|version| version.split('"').nth(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::workspace::Package;

    #[test]
    fn a_manifest_outside_the_workspace_names_its_versions() {
        let of_workspace =
            "[workspace.dependencies]\nredb = \"4.6.0\"\ntokio = { version = \"1.54.1\", features = [] }\n";
        let manifest = "redb = { workspace = true }\ntokio = { workspace = true, features = [\"rt\"] }\n";
        let expected = "redb = { version = \"4.6.0\" }\ntokio = { version = \"1.54.1\", features = [\"rt\"] }";
        assert_eq!(outside(manifest, of_workspace), format!("{expected}\n\n[workspace]\n"));
    }

    /// The guide's manifest omits `libtest-mimic`, which only the test of the example's deliberate mistake needs.
    #[test]
    fn the_manifest_of_the_guide_has_the_versions_that_are_tested() {
        let (guide, example) = ("examples/custom-backend/outside.toml", "examples/custom-backend/Cargo.toml");
        let manifests = [guide, example, "Cargo.toml"].map(|path| workspace::read(path).unwrap());
        let [guide, example, of_workspace]: [toml::Table; 3] = manifests.map(|text| text.parse().unwrap());
        let of = |dependency: &toml::Value| {
            let version = dependency.get("version").unwrap_or(dependency);
            version.as_str().map(str::to_owned)
        };
        for section in ["dependencies", "dev-dependencies"] {
            let mut names: Vec<_> = example[section].as_table().unwrap().keys().collect();
            names.retain(|name| *name != "libtest-mimic");
            assert_eq!(guide[section].as_table().unwrap().keys().collect::<Vec<_>>(), names);
            for name in names {
                assert_eq!(of(&guide[section][name]), of(&of_workspace["workspace"]["dependencies"][name]));
            }
        }
        let profiles = guide["profile"]["dev"]["package"].as_table().unwrap();
        assert!(profiles.iter().all(|(name, level)| of_workspace["profile"]["dev"]["package"][name] == *level));
    }

    #[test]
    fn a_line_without_the_word_conforms_is_no_verdict() {
        let output = "redb: L1 5 of 5\nredb: conforms at L4 in all 10 parts\nother: conforms at L3 in all 10 parts\n";
        assert_eq!(verdict(output, "redb: ").unwrap(), "redb: conforms at L4 in all 10 parts");
        assert_eq!(verdict("redb: L1 5 of 5\nredb: no verdict: 1 of 5 cases were chosen\n", "redb: "), None);
        assert_eq!(verdict("", "redb: "), None);
    }

    #[test]
    fn every_example_of_a_backend_is_certified() {
        let packages = workspace::packages().unwrap();
        let is_backend = |folder: &&Path| {
            let manifest = workspace::read(folder.join("Cargo.toml")).unwrap();
            folder.parent().is_some_and(|parent| parent.ends_with("examples"))
                && manifest.contains("storagebox-conformance")
        };
        let backends = packages.iter().map(Package::folder).filter(is_backend).map(workspace::name);
        assert_eq!(backends.collect::<BTreeSet<_>>(), BACKENDS.map(|(name, _)| name.to_owned()).into());
    }
}
