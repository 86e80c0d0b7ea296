//! Runs the README's first command as written, and checks its result.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use storagebox_testkit::Folder;

use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::hand_out_report::HandOutReport;
use crate::workspace;

/// Runs the command. Each person must have one code, and no two people the same.
pub(crate) fn run() -> Result<String, Failure> {
    let readme = workspace::read("README.md")?;
    let words = marked_command(&readme).ok_or(Failure::NoCommand)?;
    let folder = Folder::new("readme")?;
    captured(in_folder(&words, folder.path()))?;
    let files = Files::of(&words).ok_or(Failure::NoCommand)?;
    let out = folder.path().join(files.out);
    let text = fs::read_to_string(&out).map_err(|error| Failure::File { path: out, error })?;
    look_at(&HandOutReport::read(&text)?, &workspace::read(files.items)?, &workspace::read(files.ids)?)
}

fn look_at(given: &HandOutReport<'_>, items: &str, ids: &str) -> Result<String, Failure> {
    let people = ids.lines().collect::<HashSet<_>>().len();
    given.all_from(items)?;
    same("lines", ids.lines().count(), given.lines)?;
    same("people", people, given.by_id.len())?;
    same("codes given", people, given.items.len())?;
    Ok(format!("{} lines, {people} people, {} codes given, none twice", given.lines, given.items.len()))
}

fn same(what: &'static str, expected: usize, found: usize) -> Result<(), Failure> {
    if expected == found { Ok(()) } else { Err(Failure::Untrue { what, expected, found }) }
}

/// The text before the shell block with this command. `.ci/run` finds the block by it too.
const MARK: &str = "<!-- gate: hand-out -->\n```sh\n";

/// Returns the words of the first line in the marked block, if it is a `cargo run`.
fn marked_command(readme: &str) -> Option<Vec<&str>> {
    let (_, block) = readme.split_once(MARK)?;
    let words: Vec<_> = block.lines().next()?.split_whitespace().collect();
    words.starts_with(&["cargo", "run"]).then_some(words)
}

/// Returns the command in another folder, so that it leaves nothing here: cargo and the inputs are found from there. An
/// earlier run may have left a file with the name of the output here.
fn in_folder(words: &[&str], folder: &Path) -> Command {
    let root = workspace::root();
    let mut command = cargo(["run", "--manifest-path"]);
    command.arg(root.join("Cargo.toml")).current_dir(folder);
    for (before, word) in words[1..].iter().zip(&words[2..]) {
        if matches!(*before, "--items" | "--ids") {
            command.arg(root.join(word))
        } else {
            command.arg(word)
        };
    }
    command
}

/// The files that the command names.
struct Files<'a> {
    items: &'a str,
    ids: &'a str,
    out: &'a str,
}

impl<'a> Files<'a> {
    fn of(words: &[&'a str]) -> Option<Self> {
        let after = |option| words.windows(2).find(|pair| pair[0] == option).map(|pair| pair[1]);
        Some(Self { items: after("--items")?, ids: after("--ids")?, out: after("--out")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_found_by_its_mark() {
        let readme = format!("# Title\n```sh\nls\n```\n{MARK}cargo run -p one -- --out given.csv\n```\n");
        let expected = ["cargo", "run", "-p", "one", "--", "--out", "given.csv"];
        assert_eq!(marked_command(&readme).unwrap(), expected);
        assert_eq!(marked_command(&format!("{MARK}ls\n```\n")), None);
        assert_eq!(marked_command("```sh\ncargo run\n```\n"), None);
    }

    #[test]
    fn inputs_are_found_from_another_folder_and_outputs_stay_there() {
        let words = ["cargo", "run", "-p", "storagebox-cli", "--", "--ids", "ids.csv", "--out", "Cargo.toml"];
        let command = in_folder(&words, Path::new("/elsewhere"));
        let arguments: Vec<_> = command.get_args().collect();
        assert!(arguments.contains(&workspace::root().join("ids.csv").as_os_str()));
        assert_eq!(arguments[4], "storagebox-cli");
        assert_eq!(*arguments.last().unwrap(), "Cargo.toml", "an output that lies here is no input");
        assert_eq!(command.get_current_dir(), Some(Path::new("/elsewhere")));
    }

    #[test]
    fn a_person_without_a_code_is_found() {
        let given = HandOutReport::read("id,item,outcome\nada,A,new\nbob,,empty").unwrap();
        let failure = look_at(&given, "A\nB", "ada\nbob").unwrap_err();
        assert_eq!(failure.to_string(), "codes given: 1, not 2");
    }
}
