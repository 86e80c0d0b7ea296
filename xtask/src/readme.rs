//! Runs the README's first command as written, and checks its result.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use storagebox_testkit::Folder;

use crate::command::{captured, cargo};
use crate::hand_out_report::{HandOutReport, check_count};
use crate::workspace;

/// Runs the README's first command, and checks that each person got exactly one code and no code was given twice.
pub(crate) fn run() -> Result<String> {
    let readme = workspace::read("README.md")?;
    let words = marked_command(&readme).context("README.md has no `cargo run` in its first ```sh block")?;
    let folder = Folder::new("readme")?;
    captured(in_folder(&words, folder.path()))?;
    let after = |option| {
        let pair = words.windows(2).find(|pair| pair[0] == option);
        pair.map(|pair| pair[1]).with_context(|| format!("the README's command has no {option}"))
    };
    let report = workspace::read(folder.path().join(after("--out")?))?;
    check(&report, &workspace::read(after("--items")?)?, &workspace::read(after("--ids")?)?)
}

fn check(report: &str, items: &str, ids: &str) -> Result<String> {
    let report = HandOutReport::read([report])?;
    let people = ids.lines().collect::<HashSet<_>>().len();
    report.check_items(items)?;
    check_count("lines", ids.lines().count(), report.lines)?;
    report.check_people(people)?;
    Ok(format!("{} lines, {people} people, {} codes given, none twice", report.lines, report.items.len()))
}

/// The text before the shell block with the README's first command. `.ci/run` finds the block by this text too.
const MARK: &str = "<!-- gate: hand-out -->\n```sh\n";

/// Returns the words of the first line in the marked block, if it is a `cargo run`.
fn marked_command(readme: &str) -> Option<Vec<&str>> {
    let (_, block) = readme.split_once(MARK)?;
    let words: Vec<_> = block.lines().next()?.split_whitespace().collect();
    words.starts_with(&["cargo", "run"]).then_some(words)
}

/// Returns the command with absolute paths of its manifest and its inputs, to run in `folder`.
fn in_folder(words: &[&str], folder: &Path) -> Command {
    let root = workspace::root();
    let mut command = cargo(["run", "--manifest-path"]);
    command.arg(root.join("Cargo.toml")).current_dir(folder);
    for (before, word) in words[1..].iter().zip(&words[2..]) {
        match *before {
            "--items" | "--ids" => command.arg(root.join(word)),
            // The output path stays relative, so that nothing is written into the workspace.
            _ => command.arg(word),
        };
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_command_of_the_readme_is_found() {
        let readme = format!("# Title\n```sh\nls\n```\n{MARK}cargo run -p one -- --out given.csv\n```\n");
        let expected = ["cargo", "run", "-p", "one", "--", "--out", "given.csv"];
        assert_eq!(marked_command(&readme).unwrap(), expected);
        assert_eq!(marked_command(&format!("{MARK}ls\n```\n")), None);
        assert_eq!(marked_command("```sh\ncargo run\n```\n"), None);
    }

    #[test]
    fn input_paths_become_absolute_and_the_output_path_is_kept() {
        let words = ["cargo", "run", "-p", "storagebox-cli", "--", "--ids", "ids.csv", "--out", "Cargo.toml"];
        let command = in_folder(&words, Path::new("/elsewhere"));
        let arguments: Vec<_> = command.get_args().collect();
        assert!(arguments.contains(&workspace::root().join("ids.csv").as_os_str()));
        assert_eq!(arguments[4], "storagebox-cli");
        assert_eq!(*arguments.last().unwrap(), "Cargo.toml", "an output with the name of a file here is no input");
        assert_eq!(command.get_current_dir(), Some(Path::new("/elsewhere")));
    }

    #[test]
    fn an_id_without_an_item_is_reported() {
        let error = check("id,item,outcome\nada,A,new\nbob,,empty", "A\nB", "ada\nbob").unwrap_err();
        assert_eq!(error.to_string(), "items given: 1, not 2");
    }
}
