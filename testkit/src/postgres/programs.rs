//! Finds PostgreSQL's programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{INSTALL, NAME};
use crate::failure::Failure;
use crate::programs::in_path;

/// The variable that names the folder with `initdb` and `postgres`.
pub(super) const VARIABLE: &str = "STORAGEBOX_TEST_POSTGRES_BIN";

/// The usual folders of PostgreSQL. Each contains one folder per version, whose name is the prefix and the version.
const KNOWN: [(&str, &str); 6] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql@"),
    ("/usr/local/opt", "postgresql@"),
    ("/Library/PostgreSQL", ""),
    ("/Applications/Postgres.app/Contents/Versions", ""),
];

/// Returns the folder of the programs: the folder that the variable names, or else the folder on the path, the folder
/// of `pg_config`, or the newest known folder.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    match env::var_os(VARIABLE) {
        Some(named) => given(Path::new(&named)),
        None => from_path().or_else(from_config).or_else(newest).ok_or_else(missing),
    }
}

/// Returns the path of a program that is installed with `initdb`, but may be in another folder.
pub(super) fn beside_initdb(folder: &Path, program: &str) -> PathBuf {
    let linked = || fs::canonicalize(folder.join("initdb")).ok().map(|initdb| initdb.with_file_name(program));
    let known = [Some(folder.join(program)), in_path(program), linked()];
    known.into_iter().flatten().find(|path| path.is_file()).unwrap_or_else(|| folder.join(program))
}

fn missing() -> Failure {
    Failure::NotInstalled { server: NAME, install: INSTALL }
}

fn given(folder: &Path) -> Result<PathBuf, Failure> {
    let absent = ["initdb", "postgres"].map(|program| folder.join(program)).into_iter().find(|it| !it.is_file());
    absent.map_or_else(|| Ok(folder.to_owned()), |program| Err(Failure::NoProgram { variable: VARIABLE, program }))
}

fn is_whole(folder: &Path) -> bool {
    folder.join("initdb").is_file() && folder.join("postgres").is_file()
}

fn from_path() -> Option<PathBuf> {
    in_path("initdb")?.parent().map(Path::to_owned).filter(|folder| is_whole(folder))
}

fn from_config() -> Option<PathBuf> {
    let output = Command::new(in_path("pg_config")?).arg("--bindir").output().ok()?;
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Some(folder).filter(|folder| is_whole(folder))
}

fn newest() -> Option<PathBuf> {
    let versions = KNOWN.iter().flat_map(|(root, prefix)| versions(root, prefix));
    versions.max_by_key(|(version, _)| *version).map(|(_, folder)| folder)
}

fn versions(root: &str, prefix: &str) -> Vec<(u32, PathBuf)> {
    let folders = fs::read_dir(root).into_iter().flatten().flatten();
    let found = folders.filter_map(|folder| {
        let version = folder.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
        Some((version, folder.path().join("bin")))
    });
    found.filter(|(_, folder)| is_whole(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder with empty programs of each version.
    fn installed(name: &str, versions: &[&str]) -> PathBuf {
        let root = env::temp_dir().join(format!("storagebox-{name}-{}", std::process::id()));
        for version in versions {
            let folder = root.join(version).join("bin");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("initdb"), "").unwrap();
            fs::write(folder.join("postgres"), "").unwrap();
        }
        root
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let root = installed("versions-test", &["pg-9", "pg-16", "pg-next", "other"]);
        let mut found = versions(root.to_str().unwrap(), "pg-");
        found.sort();
        assert_eq!(found, [(9, root.join("pg-9/bin")), (16, root.join("pg-16/bin"))]);
        fs::remove_file(root.join("pg-9/bin/postgres")).unwrap();
        assert_eq!(versions(root.to_str().unwrap(), "pg-").len(), 1);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn named_folder_without_the_programs_is_refused() {
        let failure = given(Path::new("/nowhere")).unwrap_err();
        let expected = "STORAGEBOX_TEST_POSTGRES_BIN is set, but there is no /nowhere/initdb";
        assert_eq!(failure.to_string(), expected);
    }
}
