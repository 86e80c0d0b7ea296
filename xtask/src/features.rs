//! Checks every feature alone, and the rule that a backend's feature includes that backend's driver and no other.

use anyhow::{Context, Result, bail};

use crate::command::{captured, cargo, silent};
use crate::workspace::{Package, package, packages};

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

/// Checks the facade without features and with each feature alone.
pub(crate) fn each_used() -> Result<String> {
    // The README's first command builds `storagebox-cli` with one feature, and the tests build it with all features.
    // `cargo xtask prove features` checks every package.
    each(&[package(FACADE)?], check)
}

/// Checks each package that has features, without features and with each feature alone.
pub(crate) fn each_alone() -> Result<String> {
    each(&packages_with_features()?, check)
}

/// Builds the documentation of each published package, without features and with each feature alone.
pub(crate) fn each_documented() -> Result<String> {
    // A link is broken in a build without the feature that provides its target.
    let mut packages = packages_with_features()?;
    packages.retain(Package::is_published);
    each(&packages, document)
}

fn packages_with_features() -> Result<Vec<Package>> {
    let mut packages = packages()?;
    packages.retain(|package| package.features().next().is_some());
    Ok(packages)
}

fn each(packages: &[Package], build: fn(&str, Option<&str>) -> Result<String>) -> Result<String> {
    let mut builds = 0;
    for package in packages {
        for feature in alone(package) {
            build(&package.name, feature).with_context(|| format!("{} with {}", package.name, named(feature)))?;
            builds += 1;
        }
    }
    Ok(format!("{builds} builds"))
}

fn named(feature: Option<&str>) -> String {
    feature.map_or("no feature".to_owned(), |feature| format!("the feature `{feature}` alone"))
}

fn check(package: &str, feature: Option<&str>) -> Result<String> {
    let of_package = ["clippy", "--locked", "-p", package, "--no-default-features"];
    silent(cargo(of_package.into_iter().chain(with(feature)).chain(["--", "-D", "warnings"])))
}

fn document(package: &str, feature: Option<&str>) -> Result<String> {
    let of_package = ["doc", "--locked", "--no-deps", "-p", package, "--no-default-features"];
    let mut command = cargo(of_package.into_iter().chain(with(feature)));
    command.env("RUSTDOCFLAGS", "-D warnings");
    silent(command)
}

/// Tests the facade's error for a backend whose feature is off.
pub(crate) fn off_is_named() -> Result<String> {
    // The other tests run with all features.
    silent(cargo(["test", "--locked", "-p", FACADE, "--no-default-features", "--test", "open"]))
}

/// Checks that the facade and the command, built with each feature alone, depend on no driver of another feature.
pub(crate) fn one_driver_each() -> Result<String> {
    let facade = package(FACADE)?;
    one_driver_in(&facade)?;
    one_driver_in(&package("storagebox-cli")?)?;
    Ok(facade.features().collect::<Vec<_>>().join(", "))
}

fn one_driver_in(package: &Package) -> Result<()> {
    for feature in alone(package) {
        let of_package = ["tree", "--locked", "-p", &package.name, "--no-default-features"];
        let arguments = of_package.into_iter().chain(with(feature)).chain(["-e", "normal", "--prefix", "none"]);
        let drivers = foreign(&captured(cargo(arguments))?, feature);
        if !drivers.is_empty() {
            bail!("{} with {} depends on the drivers {}", package.name, named(feature), drivers.join(", "));
        }
    }
    Ok(())
}

/// Returns the drivers in this dependency tree that the feature must not include.
fn foreign(tree: &str, feature: Option<&str>) -> Vec<&'static str> {
    let is_in_tree = |name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    DRIVERS
        .iter()
        .filter(|(_, features)| feature.is_none_or(|feature| !features.contains(&feature)))
        .filter(|(name, _)| is_in_tree(name))
        .map(|(name, _)| *name)
        .collect()
}

fn with(feature: Option<&str>) -> impl Iterator<Item = &str> {
    feature.into_iter().flat_map(|feature| ["--features", feature])
}

/// Returns `None` for no feature, then each feature.
fn alone(package: &Package) -> impl Iterator<Item = Option<&str>> {
    std::iter::once(None).chain(package.features().map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_foreign_to_every_feature_but_its_own() {
        let tree = "storagebox v0.1.0 (/somewhere)\nredis v1.8.1\ntokio v1.0.0\n";
        assert_eq!(foreign(tree, Some("redis")), [""; 0]);
        assert_eq!(foreign(tree, Some("memory")), ["redis"]);
        assert_eq!(foreign(tree, None), ["redis"]);
    }

    #[test]
    fn a_crate_whose_name_begins_like_a_driver_is_no_driver() {
        assert_eq!(foreign("redis-protocol v6.0.0\n", Some("memory")), [""; 0]);
    }

    #[test]
    fn the_command_has_one_driver_for_each_feature() {
        let command = package("storagebox-cli").unwrap();
        assert!(command.features().any(|feature| feature == "memory"));
        one_driver_in(&command).unwrap();
    }
}
