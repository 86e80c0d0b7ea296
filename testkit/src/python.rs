//! Python environments for test programs that do not use this library.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// A Python environment in `target/tools`, whose packages are not dependencies of this workspace.
struct Environment {
    folder: &'static str,
    packages: &'static [&'static str],
    /// The module that the test programs import.
    module: &'static str,
}

const ARTICLE_1: Environment =
    Environment { folder: "python", packages: &["storagebox==1.0.7", "boto3==1.44.5"], module: "storagebox" };

const PSYCOPG: Environment =
    Environment { folder: "python-psycopg", packages: &["psycopg[binary]==3.3.9"], module: "psycopg" };

/// Returns the interpreter of an environment that has the package of article 1 and the client library that it calls.
/// `python3` and its pip create the environment in a few seconds if it does not exist.
///
/// # Errors
///
/// Returns [`Failure::Started`] if there is no `python3`, [`Failure::Program`] if it has no `venv` or the package
/// cannot be installed.
pub fn with_the_package_of_article_1() -> Result<PathBuf, Failure> {
    ARTICLE_1.interpreter()
}

/// Returns the interpreter of an environment that has psycopg, in the same way.
///
/// # Errors
///
/// As [`with_the_package_of_article_1`].
pub fn with_psycopg() -> Result<PathBuf, Failure> {
    PSYCOPG.interpreter()
}

impl Environment {
    fn interpreter(&self) -> Result<PathBuf, Failure> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools").join(self.folder);
        let python = folder.join("bin/python");
        if !has_module(&python, self.module) {
            run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
            run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(self.packages))?;
        }
        Ok(python)
    }
}

/// Returns whether the module can be imported.
fn has_module(python: &Path, module: &str) -> bool {
    // Also finds an environment whose installation was cut off.
    let imported = Command::new(python).args(["-c", &format!("import {module}")]).output();
    imported.is_ok_and(|output| output.status.success())
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let program = PathBuf::from(command.get_program());
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Err(Failure::Started { program, error }),
    };
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(Failure::Program {
        command: program.display().to_string(),
        status: output.status,
        output: String::from_utf8_lossy(&said).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_interpreter_has_no_module() {
        assert!(!has_module(Path::new("/no-such-program"), "sys"));
        assert!(!has_module(Path::new("/bin/false"), "sys"));
    }

    #[test]
    fn the_output_of_a_failed_command_is_shown() {
        let failure = run(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert!(failure.to_string().starts_with("why\n"), "{failure}");
        assert!(matches!(run(&mut Command::new("no-such-program")), Err(Failure::Started { .. })));
    }
}
