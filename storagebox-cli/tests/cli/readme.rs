//! Runs the transcripts of the README line by line, and compares the output and exit codes other than 0.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::Place;

const README: &str = include_str!("../../README.md");
const BLOCK: &str = "```console\n";

/// A command of a transcript, and its expected output.
struct Line<'a> {
    command: &'a str,
    shows: String,
}

fn transcripts() -> Vec<Vec<Line<'static>>> {
    let blocks = README.split(BLOCK).skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.map(|block| lines(block).collect()).collect()
}

fn lines(block: &str) -> impl Iterator<Item = Line<'_>> {
    let commands = block.strip_prefix("$ ").unwrap().split("\n$ ");
    commands.map(|command| {
        let (command, shows) = command.split_once('\n').unwrap_or((command, ""));
        Line { command, shows: shows.trim_end().to_owned() }
    })
}

/// Runs the command in a shell, and returns its output: notes and errors first, as in the README.
fn shown(place: &Place, command: &str) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(place.folder()).env("PATH", path()).env_remove("STORAGEBOX_URL");
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let code = output.status.code().unwrap();
    let code = if code == 0 { String::new() } else { format!("? {code}") };
    format!("{stderr}{stdout}{code}").trim_end().to_owned()
}

/// Returns a PATH that begins with the folder of the tested binary.
fn path() -> OsString {
    let ours = Path::new(env!("CARGO_BIN_EXE_storagebox")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap();
    env::join_paths([ours].into_iter().chain(env::split_paths(&others))).unwrap()
}

/// Each transcript runs in its own folder. Only the first transcript shows that the store is created.
#[test]
fn every_transcript_shows_what_the_readme_says() {
    let transcripts = transcripts();
    assert!(transcripts.len() >= 3);
    let made = "note: made the store sqlite:storagebox.db in this directory; ";
    for transcript in transcripts {
        let place = Place::without_url();
        if !transcript[0].shows.starts_with(made) {
            place.run(&["setup"]).exits(0);
        }
        for line in transcript {
            assert_eq!(shown(&place, line.command), line.shows, "$ {}", line.command);
        }
    }
}
