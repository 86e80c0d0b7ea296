//! The README's transcripts, run line by line: what a person would see, and the exit code where it is not 0.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::Place;

const README: &str = include_str!("../../README.md");
const BLOCK: &str = "```console\n";

/// One line of a transcript, with what it is to show.
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

/// What the command shows in a shell, notes and errors first, as the README has them.
fn shown(place: &Place, command: &str) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(place.folder()).env("PATH", path()).env_remove("STORAGEBOX_URL");
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let code = output.status.code().unwrap();
    let code = if code == 0 { String::new() } else { format!("? {code}") };
    format!("{stderr}{stdout}{code}").trim_end().to_owned()
}

/// With the binary that is tested before all others.
fn path() -> OsString {
    let ours = Path::new(env!("CARGO_BIN_EXE_storagebox")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap();
    env::join_paths([ours].into_iter().chain(env::split_paths(&others))).unwrap()
}

/// Each in a folder of its own; the store that the first one makes is there for the next.
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
