//! Signals on a terminal. It sends the signals of Ctrl-C and Ctrl-Z to its whole foreground group.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use super::processes::FAMILY;
use super::*;
use crate::terminal::terminal;

/// A run in the foreground of a terminal, and the user's side of that terminal.
struct Foreground {
    runner: Child,
    keys: File,
    shown: BufReader<File>,
}

impl Session {
    fn in_the_foreground(&self, script: &str) -> Foreground {
        self.in_the_foreground_by(&[], script)
    }

    /// Starts the run in a terminal, through the shell if a shell is given.
    fn in_the_foreground_by(&self, shell: &[&str], script: &str) -> Foreground {
        let (ours, theirs) = terminal();
        let run = self.command(&[], script);
        let mut session = Command::new("setsid");
        session.arg("--ctty").args(shell).args(run.get_args()).current_dir(run.get_current_dir().unwrap());
        session.env_remove("STORAGEBOX_URL").stderr(copy(&theirs)).stdout(copy(&theirs)).stdin(theirs);
        let runner = session.spawn().unwrap();
        let keys = File::from(ours);
        let shown = BufReader::new(keys.try_clone().unwrap());
        Foreground { runner, keys, shown }
    }
}

fn copy(terminal: &OwnedFd) -> OwnedFd {
    terminal.try_clone().unwrap()
}

impl Foreground {
    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
    }

    /// Reads up to a line that ends with this text.
    fn shows(&mut self, end: &str) {
        let mut line = String::new();
        while !line.trim_end().ends_with(end) {
            line.clear();
            assert_ne!(self.shown.read_line(&mut line).unwrap(), 0);
        }
    }

    /// Discards what the terminal shows, because a terminal whose output is not read accepts no more keys.
    fn read_on(&self) {
        let mut shown = self.keys.try_clone().unwrap();
        thread::spawn(move || io::copy(&mut shown, &mut io::sink()));
    }

    fn exits(mut self, code: i32) {
        assert_eq!(self.runner.wait().unwrap().code(), Some(code));
    }
}

#[test]
fn a_command_reads_from_its_terminal() {
    let session = Session::new();
    let mut run = session.in_the_foreground("echo started; read line; echo got $line");
    run.shows("started");
    run.press(b"abc\n");
    run.shows("got abc");
    run.exits(0);
    assert!(session.is_recorded());
}

/// The terminal sends the signal to the runner and the command at once, and the command may end first.
#[test]
fn no_result_is_recorded_after_a_signal_to_runner_and_command() {
    at_some_moment(|session, script, moment| {
        let mut run = session.in_the_foreground(script);
        run.shows("started");
        moment();
        kill_process_group(Pid::from_child(&run.runner), Signal::TERM).unwrap();
        run.shows("and nothing is recorded");
        run.exits(123);
    });
}

#[test]
fn the_interrupt_key_ends_every_process_of_the_command() {
    let session = Session::new();
    let script = format!(
        "trap 'exit 0' INT; bash -c 'echo $$ >> pids; {WAITS}' & until test -s pids; do :; done; echo $$ >> pids; echo started; {WAITS}"
    );
    let mut run = session.in_the_foreground(&script);
    run.shows("started");
    run.press(b"\x03");
    run.shows("and nothing is recorded");
    run.exits(123);
    assert!(!session.is_recorded());
    session.all_have_ended(2);
}

/// The terminal sends the signal to all processes, and the runner must not send it again.
#[test]
fn the_interrupt_key_reaches_the_command_once() {
    let session = Session::new();
    let script = format!(
        "trap 'echo heard; n=$((n+1)); test $n = 1 && rm alive' INT; echo started; {WAITS}; echo $n times; exit 3"
    );
    let mut run = session.in_the_foreground(&script);
    run.shows("started");
    run.press(b"\x03");
    run.shows("1 times");
    run.exits(123);
}

#[test]
fn pressing_the_interrupt_key_again_kills_every_process() {
    let session = Session::new();
    let mut run = session.in_the_foreground(FAMILY);
    run.shows("started");
    run.read_on();
    while run.runner.try_wait().unwrap().is_none() {
        run.press(b"\x03");
        thread::yield_now();
    }
    run.exits(123);
    session.all_have_ended(5);
}

/// The stop key stops the runner and the command, and `fg` in the shell continues both.
#[test]
fn the_stop_key_stops_the_command_and_its_runner() {
    let session = Session::new();
    let shell = ["bash", "-c", "set -m; \"$@\"; echo stopped; read; fg; exit $?", "bash"];
    let script = format!("echo $$ $PPID > pids; echo started; {WAITS}; echo done");
    let mut run = session.in_the_foreground_by(&shell, &script);
    run.shows("started");
    let ids = session.place.read("pids");
    run.press(b"\x1a");
    run.shows("stopped");
    while !ids.split_whitespace().all(is_stopped) {
        thread::yield_now();
    }
    fs::remove_file(session.place.path("alive")).unwrap();
    run.press(b"\n");
    run.shows("done");
    run.exits(0);
    assert!(session.is_recorded());
}

/// The signal is sent only to the runner, and not by the terminal.
#[test]
fn a_signal_to_the_runner_reaches_the_children_of_the_command() {
    let session = Session::new();
    let below = format!("trap \"echo ended; exit 0\" TERM; echo started; {WAITS}");
    let mut run = session.in_the_foreground(&format!("trap : TERM; bash -c '{below}'; exit 0"));
    run.shows("started");
    kill_process(Pid::from_child(&run.runner), Signal::TERM).unwrap();
    run.shows("ended");
    run.exits(123);
    assert!(!session.is_recorded());
}
