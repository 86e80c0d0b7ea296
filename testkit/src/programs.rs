//! Programs on this machine.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the first program of this name on the path.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Returns the first program of this name on the path or in `/usr/sbin`.
pub(crate) fn of_system(name: &str) -> Option<PathBuf> {
    in_path(name).or_else(|| Some(Path::new("/usr/sbin").join(name)).filter(|program| program.is_file()))
}

/// Returns the first word of the program's `--version` that begins with a digit.
pub(crate) fn version(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    first_number(&String::from_utf8_lossy(&output.stdout))
}

/// Returns the text after these letters in the program's `--version`.
pub(crate) fn version_in(program: &Path, before: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().find_map(|word| word.strip_prefix(before)).map(str::to_owned)
}

pub(crate) fn first_number(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    words.find(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_the_first_word_that_begins_with_a_digit() {
        let version = |text| first_number(text).unwrap();
        assert_eq!(version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), "15.18");
        assert_eq!(version("PgBouncer 1.18.0\nlibevent 2.1.12-stable"), "1.18.0");
        assert_eq!(first_number("nothing here"), None);
    }

    #[test]
    fn program_is_found_only_if_it_is_on_the_path() {
        assert!(in_path("sh").is_some());
        assert_eq!(in_path("no-such-program"), None);
    }
}
