//! Runs the examples.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::workspace;

/// Runs every example as built for the tests; each must succeed. Returns their names.
pub(crate) fn run() -> Result<String, Failure> {
    each(|name| Ok(Command::new(workspace::example(name)?)))
}

/// Runs every example with `cargo run`, as users do, with the dependencies of that build. Returns their names.
pub(crate) fn each_alone() -> Result<String, Failure> {
    each(|name| Ok(cargo(["run", "--locked", "-p", "storagebox-examples", "--example", name])))
}

fn each(command: impl Fn(&str) -> Result<Command, Failure>) -> Result<String, Failure> {
    let names = names(&workspace::root().join("examples/examples"))?;
    if names.is_empty() {
        return Err(Failure::NoExamples);
    }
    for name in &names {
        captured(command(name)?)?;
    }
    Ok(names.join(", "))
}

/// Returns the examples that cargo finds: Rust files, and folders with a `main.rs`.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let failed = |error| Failure::File { path: folder.to_owned(), error };
    let mut names = vec![];
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_example = path.extension().is_some_and(|ending| ending == "rs") || path.join("main.rs").is_file();
        names.extend(path.file_stem().filter(|_| is_example).map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use storagebox_testkit::Folder;

    use super::*;

    #[test]
    fn files_and_folders_are_examples_and_all_else_is_not() {
        let scratch = Folder::new("examples-test").unwrap();
        let folder = scratch.path();
        fs::create_dir_all(folder.join("in-a-folder")).unwrap();
        fs::create_dir_all(folder.join("data")).unwrap();
        for file in ["in-a-file.rs", "in-a-folder/main.rs", "data/codes.csv", "README.md"] {
            fs::write(folder.join(file), "").unwrap();
        }
        assert_eq!(names(folder).unwrap(), ["in-a-file", "in-a-folder"]);
    }
}
