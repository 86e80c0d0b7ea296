//! The commands on a terminal. Only a terminal gets progress bars and colours.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{FILES, Place};

const RED: &str = "\u{1b}[31m";
const BAR: &str = "[==";

/// Returns the exit code, and all that a command shows on a terminal of 110 columns.
fn shown(place: &Place, args: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
    let mut command = place.command(args);
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        if variables.iter().all(|(name, _)| *name != variable) {
            command.env_remove(variable);
        }
    }
    run_on_a_terminal(command)
}

fn run_on_a_terminal(mut command: Command) -> (i32, String) {
    let (ours, theirs) = terminal();
    command.stdin(Stdio::null()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // The command value holds the other end of the terminal, which would never close.
    drop(command);
    let shown = read(File::from(ours));
    (child.wait().unwrap().code().unwrap(), shown)
}

/// Opens a terminal of 110 columns. Returns the user's side and the programs' side of the terminal.
pub(crate) fn terminal() -> (OwnedFd, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let size = Winsize { ws_row: 40, ws_col: 110, ws_xpixel: 0, ws_ypixel: 0 };
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    tcsetwinsize(&theirs, size).unwrap();
    (ours, theirs.into())
}

fn read(mut terminal: File) -> String {
    let mut shown = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        match terminal.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => shown.extend_from_slice(&chunk[..read]),
            // Linux returns this error when the last program has closed the other end.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("{error}"),
        }
    }
    String::from_utf8(shown).unwrap()
}

#[test]
fn a_progress_bar_is_removed_before_the_answer() {
    let items: String = (0..20_000).map(|number| format!("CODE-{number}\n")).collect();
    let place = Place::with(&items, &items);
    let (code, shown) = shown(&place, &[&["hand-out", "items"], &FILES[..]].concat(), &[]);
    assert_eq!(code, 0, "{shown}");
    for part in ["loading", "handing out", BAR, "lines", "left"] {
        assert!(shown.contains(part), "{part:?} in {shown:?}");
    }
    let (_, answer) = shown.rsplit_once("items added").unwrap();
    assert!(!answer.contains(BAR) && answer.contains("audit"), "{answer:?}");
}

#[test]
fn the_demo_shows_its_faults_while_it_runs() {
    let (code, shown) = shown(&Place::new(), &["demo", "--people", "500"], &[]);
    assert_eq!(code, 0, "{shown}");
    for part in ["handing out", "calls", " faults", BAR, "audit"] {
        assert!(shown.contains(part), "{part:?} in {shown:?}");
    }
}

#[test]
fn an_error_is_coloured_unless_a_variable_forbids_it() {
    let place = Place::new();
    let args = ["bank", "load", "b", "none.csv"];
    let (code, coloured) = shown(&place, &args, &[]);
    assert_eq!(code, 2);
    assert!(coloured.contains(RED) && coloured.contains("none.csv"), "{coloured:?}");
    for minds in [("NO_COLOR", "1"), ("CLICOLOR", "0")] {
        let (_, plain) = shown(&place, &args, &[minds]);
        assert!(plain.contains("error: ") && !plain.contains('\u{1b}'), "{minds:?}: {plain:?}");
    }
    let piped = |variables: &[(&str, &str)]| {
        let mut command = place.command(&args);
        command.env_remove("CLICOLOR_FORCE").envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    assert!(!piped(&[]).contains('\u{1b}'));
    assert!(piped(&[("CLICOLOR_FORCE", "1")]).contains(RED));
}

#[test]
fn help_is_coloured_only_on_a_terminal() {
    let place = Place::new();
    let (_, coloured) = shown(&place, &["--help"], &[]);
    assert!(coloured.contains("\u{1b}["), "{coloured:?}");
    let (_, plain) = shown(&place, &["--help"], &[("NO_COLOR", "1")]);
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    assert!(!place.run(&["--help"]).exits(0).stdout.contains('\u{1b}'));
}

#[test]
fn an_answer_has_no_colours() {
    let (_, shown) = shown(&Place::new(), &["ping"], &[]);
    let (_, answer) = shown.split_once("backend").unwrap();
    assert!(!answer.contains('\u{1b}'), "{answer:?}");
}

#[test]
fn promises_fit_the_width_of_the_terminal() {
    let (_, shown) = shown(&Place::new(), &["promises"], &[("NO_COLOR", "1")]);
    assert!(shown.lines().all(|line| line.trim_end().chars().count() <= 110), "{shown}");
}

/// Text with characters that a terminal would obey or not show.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\r\u{9b}2J\u{7f}\u{202e}\u{2066}\u{200b}\u{200d}\u{feff}\u{2028}y";

#[track_caller]
fn shows_nothing_to_obey(place: &Place, args: &[&str]) -> String {
    let (_, shown) = shown(place, args, &[("NO_COLOR", "1")]);
    let obeyed = |character: &char| {
        let is_layout = matches!(character, '\r' | '\n' | '\t');
        (character.is_control() && !is_layout)
            || "\u{202e}\u{2066}\u{200b}\u{200d}\u{feff}\u{2028}".contains(*character)
    };
    assert_eq!(shown.chars().find(obeyed), None, "{args:?}: {shown:?}");
    assert_eq!(shown.matches('\r').count(), shown.matches("\r\n").count(), "{args:?}: {shown:?}");
    shown
}

/// The hostile text is in the name and the content of a file, in the name of a namespace, and in every argument.
#[test]
fn control_characters_in_errors_are_escaped() {
    let place = Place::with("A\n", "ada\n");
    for args in [
        &["bank", "load", "b", HOSTILE][..],
        &["bank", "load", "b", "items.csv", "--rejects", HOSTILE, "--json", HOSTILE],
        &["bank", "load", "b", "items.csv", "--rejects", &format!("{HOSTILE}/none")],
        &["dedup", "get", "records", "a", "--out", &format!("{HOSTILE}/none"), "--json"],
        &["dedup", "run", "records", "a", "--", HOSTILE],
        &["dedup", "run", "records", "a", "--json", "--", HOSTILE],
        &["man", "--dir", HOSTILE],
        &[HOSTILE],
        &["bank", "take", "b", "ada", "--for", HOSTILE],
        &["ordered", "put", HOSTILE, HOSTILE, HOSTILE, "--at", "100000000003", "--writer", HOSTILE],
        &["bank", "take", HOSTILE, HOSTILE, "-vv"],
    ] {
        let shown = shows_nothing_to_obey(&place, args);
        assert!(shown.contains("owned"), "{args:?}: {shown:?}");
    }
}

/// Listings, answers and values contain a hostile text. Programs get the text unchanged.
#[cfg(feature = "sqlite")]
#[test]
fn control_characters_in_answers_are_escaped() {
    let place = Place::without_url();
    place.write("items.csv", format!("\"{HOSTILE}\"\n"));
    place.run(&["bank", "load", "b", "items.csv"]).exits(0);
    place.run(&["bank", "take", "b", HOSTILE]).exits(0);
    place.run(&["dedup", "record", "records", HOSTILE, HOSTILE, "--op", "o"]).exits(0);
    place
        .run(&[
            "ordered",
            "put",
            "values",
            HOSTILE,
            HOSTILE,
            "--at",
            "4102444800000",
            "--writer",
            HOSTILE,
            "--max-skew",
            "none",
        ])
        .exits(0);
    for args in [
        &["bank", "list", "b"][..],
        &["bank", "show", "b", HOSTILE],
        &["dedup", "list", "records"],
        &["dedup", "get", "records", HOSTILE],
        &["dedup", "get", "records", HOSTILE, "--out", "-"],
        &["ordered", "list", "values"],
        &["ordered", "get", "values", HOSTILE, "--out", "-"],
        &["counter", "get", "counters", HOSTILE],
    ] {
        let shown = shows_nothing_to_obey(&place, args);
        assert!(shown.contains("owned"), "{args:?}: {shown:?}");
        if !args.contains(&"--out") {
            let shown = shows_nothing_to_obey(&place, &[args, &["--json"]].concat());
            let line = shown.lines().last().unwrap();
            let answer: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(answer.to_string().contains("]0;owned"), "{answer}");
        }
        // Programs get every byte unchanged.
        let piped = place.run(args);
        assert!(!piped.stdout.contains("\\u{9b}") || !args.contains(&"list"), "{}", piped.stdout);
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_line_break_in_a_field_does_not_start_a_row() {
    const FORGED: &str = "free-1\nSAVE-99,spent,eve";
    let place = Place::without_url();
    place.write("items.csv", format!("\"{FORGED}\"\n"));
    place.write("ids.csv", format!("\"{FORGED}\"\n"));
    place.run(&["bank", "load", "b", "items.csv"]).exits(0);
    place.run(&["dedup", "record", "records", FORGED, FORGED, "--op", "o"]).exits(0);
    let hand_out = ["hand-out", "b", "--ids", "ids.csv", "--out", "-"];
    for args in [&["bank", "list", "b"][..], &["dedup", "list", "records"], &hand_out] {
        let (_, shown) = shown(&place, args, &[("NO_COLOR", "1")]);
        assert!(!shown.contains("\nSAVE-99"), "{args:?}: {shown}");
        assert!(shown.contains(r"free-1\nSAVE-99"), "{args:?}: {shown}");
    }
    assert!(place.run(&["bank", "list", "b"]).stdout.contains(FORGED));
}

#[test]
fn control_characters_in_filter_and_program_name_are_escaped() {
    use std::os::unix::process::CommandExt;
    const OBEYED: &str = "\u{1b}]0;owned\u{7}";
    let place = Place::new();
    let mut filtered = place.command(&["ping"]);
    filtered.env("RUST_LOG", format!("{OBEYED}=trace,warn"));
    let mut named = place.command(&["pong"]);
    named.arg0(OBEYED);
    for (mut command, told) in [(filtered, "is no filter"), (named, "storagebox [OPTIONS]")] {
        command.env("NO_COLOR", "1");
        let (_, shown) = run_on_a_terminal(command);
        assert!(!shown.contains('\u{1b}') && shown.contains(told), "{shown:?}");
    }
}
