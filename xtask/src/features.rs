//! Checks every feature alone, and the rule that a backend's feature includes that backend's driver and no other.

use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::workspace;

/// The crates that contain or include a driver, and the features that may include them.
const DRIVERS: [(&str, &[&str]); 11] = [
    ("aws-sdk-dynamodb", &["dynamo"]),
    ("deadpool", &["postgres", "redis-pool"]),
    ("libsqlite3-sys", &["sqlite"]),
    ("redis", REDIS),
    ("sqlx", &["postgres", "sqlite"]),
    ("sqlx-postgres", &["postgres"]),
    ("sqlx-sqlite", &["sqlite"]),
    ("storagebox-dynamo", &["dynamo"]),
    ("storagebox-postgres", &["postgres"]),
    ("storagebox-redis", REDIS),
    ("storagebox-sqlite", &["sqlite"]),
];

/// The features that may include Redis's driver.
const REDIS: &[&str] = &["redis", "redis-cluster", "redis-pool", "redis-sentinel"];

const FACADE: &str = "storagebox";

/// A package with its features, without `default`.
#[derive(Debug, PartialEq)]
struct Package {
    name: String,
    is_published: bool,
    features: Vec<String>,
}

/// Checks the facade, without features and with each feature alone.
///
/// The command with one feature is built by the README's first command, and with all features by the tests. `cargo
/// xtask prove features` checks each package by itself, and builds its documentation too.
pub(crate) fn each_used() -> Result<String, Failure> {
    each(packages()?.into_iter().filter(|package| package.name == FACADE), check)
}

/// Checks each package that has features, without features and with each feature alone.
pub(crate) fn each_alone() -> Result<String, Failure> {
    each(packages()?, check)
}

/// Builds the documentation of each published package, in the same way: a link is broken if only another feature
/// provides its target.
pub(crate) fn each_documented() -> Result<String, Failure> {
    each(packages()?.into_iter().filter(|package| package.is_published), document)
}

fn each(
    packages: impl IntoIterator<Item = Package>,
    build: fn(&str, Option<&str>) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let mut builds = 0;
    for package in packages {
        for feature in alone(&package) {
            build(&package.name, feature).map_err(|failure| in_feature(&package.name, feature, failure))?;
            builds += 1;
        }
    }
    Ok(format!("{builds} builds"))
}

fn check(package: &str, feature: Option<&str>) -> Result<String, Failure> {
    let of_package = ["clippy", "--locked", "-p", package, "--no-default-features"];
    captured(cargo(of_package.into_iter().chain(with(feature)).chain(["--", "-D", "warnings"])))
}

fn document(package: &str, feature: Option<&str>) -> Result<String, Failure> {
    let of_package = ["doc", "--locked", "--no-deps", "-p", package, "--no-default-features"];
    let mut command = cargo(of_package.into_iter().chain(with(feature)));
    command.env("RUSTDOCFLAGS", "-D warnings");
    captured(command)
}

fn in_feature(package: &str, feature: Option<&str>, failure: Failure) -> Failure {
    let (package, feature) = (package.to_owned(), feature.map(str::to_owned));
    Failure::Feature { package, feature, failure: Box::new(failure) }
}

/// Tests the facade's error for a backend whose feature is off. The other tests run with all features.
pub(crate) fn off_is_named() -> Result<String, Failure> {
    let facade = ["test", "--locked", "-p", "storagebox", "--no-default-features", "--test", "open"];
    captured(cargo(facade)).map(|_| String::new())
}

/// Checks that the dependencies of the facade, and of the command, with each feature alone include no driver of another
/// feature.
pub(crate) fn one_driver_each() -> Result<String, Failure> {
    let facade = package(&workspace::read("storagebox/Cargo.toml")?);
    one_driver_in(&facade)?;
    one_driver_in(&package(&workspace::read("storagebox-cli/Cargo.toml")?))?;
    Ok(facade.features.join(", "))
}

fn one_driver_in(package: &Package) -> Result<(), Failure> {
    for feature in alone(package) {
        let of_package = ["tree", "--locked", "-p", &package.name, "--no-default-features"];
        let arguments = of_package.into_iter().chain(with(feature)).chain(["-e", "normal", "--prefix", "none"]);
        let drivers = foreign(&captured(cargo(arguments))?, feature);
        if !drivers.is_empty() {
            let (package, feature) = (package.name.clone(), feature.map(str::to_owned));
            return Err(Failure::ForeignDrivers { package, feature, drivers });
        }
    }
    Ok(())
}

/// Returns the drivers in a list of crates that the feature must not include.
fn foreign(tree: &str, feature: Option<&str>) -> Vec<String> {
    let is_in_tree = |name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    DRIVERS
        .iter()
        .filter(|(_, features)| feature.is_none_or(|feature| !features.contains(&feature)))
        .filter(|(name, _)| is_in_tree(name))
        .map(|(name, _)| (*name).to_owned())
        .collect()
}

fn with(feature: Option<&str>) -> impl Iterator<Item = &str> {
    feature.into_iter().flat_map(|feature| ["--features", feature])
}

/// Returns no feature, then each feature.
fn alone(package: &Package) -> impl Iterator<Item = Option<&str>> {
    std::iter::once(None).chain(package.features.iter().map(|feature| Some(feature.as_str())))
}

fn packages() -> Result<Vec<Package>, Failure> {
    let workspace = workspace::read("Cargo.toml")?;
    let manifests = workspace::members(&workspace).map(|member| workspace::read(format!("{member}/Cargo.toml")));
    let packages = manifests.map(|manifest| Ok(package(&manifest?)));
    let packages: Vec<_> = packages.collect::<Result<_, Failure>>()?;
    Ok(packages.into_iter().filter(|package| !package.features.is_empty()).collect())
}

fn package(manifest: &str) -> Package {
    let name = keys(manifest, "package").find(|(key, _)| *key == "name");
    Package {
        name: name.map_or("", |(_, name)| name.trim_matches('"')).to_owned(),
        is_published: !keys(manifest, "package").any(|pair| pair == ("publish", "false")),
        features: keys(manifest, "features")
            .map(|(feature, _)| feature.to_owned())
            .filter(|feature| feature != "default")
            .collect(),
    }
}

/// Returns the keys of a section, each with the rest of its line.
fn keys<'a>(manifest: &'a str, section: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let heading = format!("[{section}]");
    let body = manifest.lines().skip_while(move |line| line.trim() != heading).skip(1);
    let body = body.take_while(|line| !line.starts_with('['));
    body.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[package]
name = "namespace"
version = "1.0.0"

[features]
default = ["memory"]
# A comment = with a sign.
memory = ["dep:namespace-memory"]
many = [
    "memory",
]

[dependencies]
serde = "1"
"#;

    #[test]
    fn a_manifest_gives_its_name_and_its_features() {
        let features = vec!["memory".to_owned(), "many".to_owned()];
        let expected = Package { name: "namespace".to_owned(), is_published: true, features };
        assert_eq!(package(MANIFEST), expected);
        let kept = MANIFEST.replace("version = \"1.0.0\"", "publish = false");
        assert!(!package(&kept).is_published);
        assert_eq!(alone(&expected).collect::<Vec<_>>(), [None, Some("memory"), Some("many")]);
    }

    #[test]
    fn a_driver_is_foreign_to_every_feature_but_its_own() {
        let tree = "storagebox v0.1.0 (/somewhere)\nredis v1.8.1\ntokio v1.0.0\n";
        assert_eq!(foreign(tree, Some("redis")), [""; 0]);
        assert_eq!(foreign(tree, Some("memory")), ["redis"]);
        assert_eq!(foreign(tree, None), ["redis"]);
    }

    #[test]
    fn a_crate_whose_name_only_begins_alike_is_no_driver() {
        assert_eq!(foreign("redis-protocol v6.0.0\n", Some("memory")), [""; 0]);
    }

    #[test]
    fn the_command_has_one_driver_for_each_feature() {
        let command = package(&workspace::read("storagebox-cli/Cargo.toml").unwrap());
        assert!(command.features.iter().any(|feature| feature == "memory"));
        one_driver_in(&command).unwrap();
    }

    #[test]
    fn the_facade_has_features() {
        let packages = packages().unwrap();
        assert!(packages.iter().any(|package| package.name == "storagebox"));
    }
}
