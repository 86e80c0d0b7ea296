//! Builds the example backends outside the workspace: a copy of each must compile and conform.

use std::fs;
use std::path::Path;

use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::workspace;

/// The folders of the backends, with the prefix of the suite's lines about each.
const BACKENDS: [(&str, &str); 2] = [("own-backend", "consumer: "), ("custom-backend", "redb: ")];

/// Certifies each backend. Returns the suite's verdicts.
pub(crate) fn run() -> Result<String, Failure> {
    let verdicts = BACKENDS.map(|(name, says)| certify(name, says));
    Ok(verdicts.into_iter().collect::<Result<Vec<_>, _>>()?.join("; "))
}

fn certify(name: &str, says: &str) -> Result<String, Failure> {
    let builds = workspace::builds()?.join("outside");
    let (example, folder) = (workspace::root().join("examples").join(name), builds.join(name));
    for part in ["src", "tests"] {
        // Removes the files of an earlier run, which may no longer exist.
        let _ = fs::remove_dir_all(folder.join(part));
        copy(&example.join(part), &folder.join(part))?;
    }
    let manifest = outside(&workspace::read(example.join("Cargo.toml"))?, &workspace::read("Cargo.toml")?);
    write(&folder.join("Cargo.toml"), &manifest)?;
    // The same versions as in the workspace, which are already downloaded.
    write(&folder.join("Cargo.lock"), &workspace::read("Cargo.lock")?)?;
    let mut tests = cargo(["test", "--offline"]);
    tests.current_dir(&folder).env("CARGO_TARGET_DIR", builds.join("target"));
    verdict(&captured(tests)?, says).ok_or(Failure::NotCertified)
}

/// Returns the suite's last line about the backend, if it says that the backend conforms.
fn verdict(told: &str, says: &str) -> Option<String> {
    let last = told.lines().rfind(|line| line.starts_with(says));
    last.filter(|line| line[says.len()..].starts_with("conforms at ")).map(str::to_owned)
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

/// Returns the version of a dependency in the workspace's manifest. If it has none, returns an empty version, which
/// cargo refuses.
fn version<'a>(name: &str, manifest: &'a str) -> &'a str {
    let rest = manifest.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix("= "));
    let version = rest.map(|rest| rest.strip_prefix("{ version = ").unwrap_or(rest));
    version.and_then(|version| version.split('"').nth(1)).unwrap_or_default()
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::File { path: from.to_owned(), error };
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy(&path, &place)? } else { write(&place, &workspace::read(&path)?)? }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::File { path: path.to_owned(), error };
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_outside_names_its_versions() {
        let of_workspace =
            "[workspace.dependencies]\nredb = \"4.6.0\"\ntokio = { version = \"1.54.1\", features = [] }\n";
        let manifest = "redb = { workspace = true }\ntokio = { workspace = true, features = [\"rt\"] }\n";
        let expected = "redb = { version = \"4.6.0\" }\ntokio = { version = \"1.54.1\", features = [\"rt\"] }";
        assert_eq!(outside(manifest, of_workspace), format!("{expected}\n\n[workspace]\n"));
    }

    /// The guide's versions are those of the workspace, for all dependencies of the example except the one for its
    /// mistake.
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
    fn only_a_verdict_that_it_conforms_is_one() {
        let told = "redb: L1 5 of 5\nredb: conforms at L4 in all 10 parts\nother: conforms at L3 in all 10 parts\n";
        assert_eq!(verdict(told, "redb: ").unwrap(), "redb: conforms at L4 in all 10 parts");
        assert_eq!(verdict("redb: L1 5 of 5\nredb: no verdict: 1 of 5 cases were chosen\n", "redb: "), None);
        assert_eq!(verdict("", "redb: "), None);
    }

    #[test]
    fn every_example_of_a_backend_is_certified() {
        let manifest = workspace::read("Cargo.toml").unwrap();
        let examples = workspace::members(&manifest).filter_map(|member| member.strip_prefix("examples/"));
        let is_backend = |name: &&str| {
            let manifest = workspace::read(format!("examples/{name}/Cargo.toml")).unwrap();
            manifest.contains("storagebox-conformance")
        };
        let backends: Vec<_> = examples.filter(is_backend).collect();
        assert_eq!(backends.len(), BACKENDS.len());
        let certified = BACKENDS.map(|(name, _)| name);
        backends.iter().for_each(|backend| assert!(certified.contains(backend), "{backend} is not certified"));
    }
}
