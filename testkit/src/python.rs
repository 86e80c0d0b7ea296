//! Python with the package of article 1, for programs that run the package beside this library.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The package, and the client library that it calls. Neither is a dependency of this workspace.
const PACKAGES: [&str; 2] = ["storagebox==1.0.7", "boto3==1.44.5"];

/// Returns the interpreter of an environment in `target/tools` that has the package. `python3` and its pip create the
/// environment in a few seconds if it does not exist.
///
/// # Errors
///
/// Returns [`Failure::Started`] if there is no `python3`, [`Failure::Program`] if it has no `venv` or the package
/// cannot be installed.
pub fn with_the_package_of_article_1() -> Result<PathBuf, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/python");
    let python = folder.join("bin/python");
    if !has_the_package(&python) {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
    }
    Ok(python)
}

/// Returns whether the package can be imported. A half-finished environment fails this check too.
fn has_the_package(python: &Path) -> bool {
    let imported = Command::new(python).args(["-c", "import storagebox"]).output();
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
    fn an_interpreter_that_is_not_there_has_no_package() {
        assert!(!has_the_package(Path::new("/no-such-program")));
        assert!(!has_the_package(Path::new("/bin/false")));
    }

    #[test]
    fn what_fails_is_shown() {
        let failure = run(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert!(failure.to_string().starts_with("why\n"), "{failure}");
        assert!(matches!(run(&mut Command::new("no-such-program")), Err(Failure::Started { .. })));
    }
}
