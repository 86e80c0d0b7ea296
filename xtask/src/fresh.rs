//! Builds and runs a newcomer's programs, in a separate crate with one feature: the README's program and one for each
//! part.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{captured, cargo};
use crate::workspace;

const MANIFEST: &str = "\
[package]
name = \"fresh\"
version = \"0.1.0\"
edition = \"2024\"

[dependencies]
storagebox = { path = \"{storagebox}\", default-features = false, features = [\"memory\"] }
tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }

[lints.rust]
warnings = \"deny\"

[profile.dev]
debug = false

[workspace]
";

/// The most lines that a program may have.
const LINES: usize = 20;
/// Words that no program may contain, because a newcomer does not know them.
const NEEDLESS: [&str; 5] = ["Retry", "TryInto", "TryFrom", "Ext", "parts::"];

/// Builds a crate outside the workspace, runs its programs, and returns the names of the programs.
pub(crate) fn run() -> Result<String> {
    let folder = workspace::builds()?.join("fresh");
    let programs = programs()?;
    write(&folder, &programs)?;
    for (name, _) in &programs {
        let mut program = cargo(["run", "--offline", "--bin", name.as_str()]);
        program.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target"));
        captured(program)?;
    }
    Ok(programs.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", "))
}

/// Returns the name and the text of each program, sorted.
fn programs() -> Result<Vec<(String, String)>> {
    let readme = workspace::read("README.md")?;
    let mut programs = vec![("readme".to_owned(), program(&readme).context("README.md has no block of Rust")?)];
    for path in workspace::entries("examples/parts")? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        programs.push((name, workspace::read(&path)?));
    }
    programs.sort();
    programs.iter().try_for_each(|(name, text)| check_simplicity(name, text))?;
    Ok(programs)
}

/// Returns the README's first Rust block, wrapped in a `main` function.
fn program(readme: &str) -> Option<String> {
    let (_, block) = readme.split_once("```rust\n")?;
    let (block, _) = block.split_once("```")?;
    Some(format!("#[tokio::main]\nasync fn main() -> storagebox::Result<()> {{\n{block}Ok(())\n}}\n"))
}

/// Checks that the program is short and contains no word of `NEEDLESS`.
fn check_simplicity(name: &str, text: &str) -> Result<()> {
    if let Some(word) = NEEDLESS.into_iter().find(|word| text.contains(word)) {
        bail!("no newcomer would write the program {name}: it needs `{word}`");
    }
    ensure!(
        text.lines().count() <= LINES,
        "no newcomer would write the program {name}: it has more than {LINES} lines"
    );
    Ok(())
}

fn write(folder: &Path, programs: &[(String, String)]) -> Result<()> {
    let sources = folder.join("src/bin");
    // Removes the programs of an earlier run, which may no longer exist.
    let _ = fs::remove_dir_all(&sources);
    let storagebox = workspace::root().join("storagebox").to_string_lossy().into_owned();
    workspace::write(folder.join("Cargo.toml"), MANIFEST.replace("{storagebox}", &storagebox))?;
    // Uses the versions of the workspace, which are already downloaded.
    workspace::write(folder.join("Cargo.lock"), workspace::read("Cargo.lock")?)?;
    programs.iter().try_for_each(|(name, text)| workspace::write(sources.join(format!("{name}.rs")), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_and_the_readme_have_an_example_program() {
        let names: Vec<_> = programs().unwrap().into_iter().map(|(name, _)| name).collect();
        let expected = ["bank", "counters", "dedup", "deduplicator", "ledger", "ordered_values", "readme", "tokens"];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_program_with_many_lines_or_a_needless_word_is_refused() {
        assert!(check_simplicity("short", "use storagebox::Store;\n").is_ok());
        assert!(check_simplicity("long", &"\n".repeat(21)).is_err());
        assert!(check_simplicity("trait", "use storagebox::parts::ItemBank;\n").is_err());
    }
}
