//! The commands on a terminal: bars and colours there, and nowhere else.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{FILES, Place};

const RED: &str = "\u{1b}[31m";
const BAR: &str = "[==";

/// Everything that a command shows on a terminal of 110 columns, and how it ends.
fn shown(place: &Place, args: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
    let (ours, theirs) = terminal();
    let mut command = place.command(args);
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        if variables.iter().all(|(name, _)| *name != variable) {
            command.env_remove(variable);
        }
    }
    command.stdin(Stdio::null()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // It holds the other end of the terminal, which would never close.
    drop(command);
    let shown = read(File::from(ours));
    (child.wait().unwrap().code().unwrap(), shown)
}

fn terminal() -> (OwnedFd, OwnedFd) {
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
            // Linux says so when the last program has closed the other end.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("{error}"),
        }
    }
    String::from_utf8(shown).unwrap()
}

#[test]
fn a_bar_is_drawn_and_taken_away_before_the_answer() {
    let items: String = (0..20_000).map(|number| format!("CODE-{number}\n")).collect();
    let place = Place::with(&items, &items);
    let (code, shown) = shown(&place, &[&["hand-out"], &FILES[..]].concat(), &[]);
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
fn an_error_is_coloured_unless_somebody_minds() {
    let place = Place::new();
    let args = ["bank", "load", "--bank", "b", "none.csv"];
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
fn help_is_coloured_on_a_terminal_alone() {
    let place = Place::new();
    let (_, coloured) = shown(&place, &["--help"], &[]);
    assert!(coloured.contains("\u{1b}["), "{coloured:?}");
    let (_, plain) = shown(&place, &["--help"], &[("NO_COLOR", "1")]);
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    assert!(!place.run(&["--help"]).exits(0).stdout.contains('\u{1b}'));
}

#[test]
fn an_answer_has_no_colours_of_its_own() {
    let (_, shown) = shown(&Place::new(), &["ping"], &[]);
    let (_, answer) = shown.split_once("backend").unwrap();
    assert!(!answer.contains('\u{1b}'), "{answer:?}");
}

#[test]
fn what_is_promised_fits_the_terminal() {
    let (_, shown) = shown(&Place::new(), &["promises"], &[("NO_COLOR", "1")]);
    assert!(shown.lines().all(|line| line.trim_end().chars().count() <= 110), "{shown}");
}
