//! `dedup run` on persistent stores: twenty shells at once, a runner that dies, and signals.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Output, Stdio};
use std::time::Duration;
use std::{fs, thread};

use crate::stores::{Store, tests_on};
use crate::support::{Ended, Place};

tests_on! {
    [dynamo postgres redis sqlite]:
        twenty_concurrent_shells_print_the_output_of_one_run,
        the_command_of_a_killed_runner_is_run_again,
        an_interrupted_command_is_run_again,
        a_command_that_ignores_a_signal_is_killed,
        a_process_left_by_a_command_is_not_waited_for,
        a_waiting_caller_ends_at_a_signal,
        a_command_does_not_get_the_url_by_default;
}

const SHELLS: usize = 20;

/// The pause between two signals.
const PAUSE: Duration = Duration::from_millis(20);

/// A script that counts its runs, writes bytes that are not text to both outputs, and fails.
const TALKS: &str = r"echo run >> runs; printf 'out\377\000\n'; printf 'err\376' >&2; exit 7";

/// Options with which different commands may have the same id.
const ANY_COMMAND: [&str; 2] = ["--fingerprint", "nightly"];

/// The runs of one id in one folder. A command that waits for ever ends when the folder is deleted.
pub(crate) struct Once {
    place: Place,
}

impl Once {
    pub(crate) fn at(place: Place) -> Self {
        Self { place }
    }

    fn spawn(&self, options: &[&str], script: &str) -> Child {
        let args = [&["dedup", "run", "records", "nightly"], options, &["--", "sh", "-c", script]].concat();
        let mut command = self.place.command(&args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn run(&self, options: &[&str], script: &str) -> Output {
        self.spawn(options, script).wait_with_output().unwrap()
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.place.path("runs")).map_or(0, |runs| runs.lines().count())
    }

    /// Starts a run, waits until its command runs, and returns the process and its further output.
    fn started(&self, options: &[&str], script: &str) -> (Child, BufReader<ChildStdout>) {
        let mut runner = self.spawn(options, script);
        let mut stdout = BufReader::new(runner.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        (runner, stdout)
    }

    /// Asserts that the runner prints how its command was interrupted, and that the next runner runs the command again.
    #[track_caller]
    fn is_left_open_by(&self, runner: Child, told: &str) {
        let ended = Ended::from(runner.wait_with_output().unwrap()).exits(123);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
        assert_eq!(self.run(&ANY_COMMAND, TALKS).status.code(), Some(7));
        assert_eq!(self.runs(), 2);
    }

    /// Asserts that twenty concurrent shells get the output of one run. Ignores notes about the created store, which
    /// begin with `made`.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_made_and_run_for_twenty_shells(&self, made: &str) {
        let shells: Vec<_> = (0..SHELLS).map(|_| self.spawn(&[], TALKS)).collect();
        for output in shells.into_iter().map(|shell| shell.wait_with_output().unwrap()) {
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), &output.stdout[..]), (Some(7), &b"out\xFF\0\n"[..]), "{said}");
            let said: Vec<_> = said.lines().filter(|line| !line.starts_with(made)).collect();
            assert_eq!(said, [String::from_utf8_lossy(b"err\xFE")]);
        }
        assert_eq!(self.runs(), 1);
    }

    fn a_storagebox_within_guesses_no_store(&self) {
        let storagebox = env!("CARGO_BIN_EXE_storagebox");
        let within = |id, options: &[&str]| {
            let args = [&["dedup", "run", "records", id], options, &["--", storagebox, "ping"]].concat();
            self.place.run(&args)
        };
        let refused = within("c", &[]).exits(2);
        let told = "error: the store is not known here: `dedup run` does not hand STORAGEBOX_URL on";
        assert!(refused.stderr.starts_with(told), "{}", refused.stderr);
        within("d", &["--pass-url"]).exits(0);
        assert!(!self.place.path("storagebox.db").exists());
    }
}

fn twenty_concurrent_shells_print_the_output_of_one_run<S: Store>() {
    let store = S::ready();
    let once = Once::at(store.place());
    let shells: Vec<_> = (0..SHELLS).map(|_| once.spawn(&[], TALKS)).collect();
    let mut outputs: Vec<_> = shells.into_iter().map(|shell| shell.wait_with_output().unwrap()).collect();
    outputs.push(once.run(&[], TALKS));
    for output in &outputs {
        assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, b"out\xFF\0\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(b"err\xFE"));
    }
    assert_eq!(once.runs(), 1);
}

/// The runner is killed while its command runs. When the lease has expired, another runner runs the command again, and
/// prints a note.
fn the_command_of_a_killed_runner_is_run_again<S: Store>() {
    let store = S::ready();
    let once = Once::at(store.place());
    // The command ends once its standard error is closed.
    let hangs = "echo run >> runs; echo started; while echo . >&2; do sleep 0.05; done";
    let options = ["--lease", "2s", "--fingerprint", "nightly"];
    let (mut runner, stdout) = once.started(&options, hangs);
    let stderr = runner.stderr.take().unwrap();
    let waits = once.spawn(&options, TALKS);
    runner.kill().unwrap();
    runner.wait().unwrap();
    drop((stdout, stderr));
    let output = waits.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(7), &b"out\xFF\0\n"[..]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("note: the run of another caller left no result"), "{said}");
    assert_eq!(once.runs(), 2);
    assert_eq!(once.run(&options, TALKS).stdout, b"out\xFF\0\n");
    assert_eq!(once.runs(), 2);
}

/// The command gets the signal and ends. Nothing is recorded, and the next runner runs the command again.
fn an_interrupted_command_is_run_again<S: Store>() {
    let store = S::ready();
    let once = Once::at(store.place());
    let script =
        "echo run >> runs; trap 'echo told; exit 9' TERM; echo started; while test -e runs; do sleep 0.05; done";
    let (runner, mut stdout) = once.started(&ANY_COMMAND, script);
    terminate(&runner);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "told\n");
    let told = "error: interrupted: the command got the signal and ended (exit status: 9), and nothing is recorded\nhelp: look at";
    once.is_left_open_by(runner, told);
}

/// A second signal kills a command that ignores the first signal. Nothing is recorded.
fn a_command_that_ignores_a_signal_is_killed<S: Store>() {
    let store = S::ready();
    let once = Once::at(store.place());
    let script = "trap '' TERM; echo run >> runs; echo $$ > pid; echo started; while test -e runs; do sleep 0.05; done";
    let (runner, _stdout) = once.started(&ANY_COMMAND, script);
    let command = once.place.read("pid");
    // Two signals at once are one request, so the signal is repeated until the command has ended. A further signal would
    // interrupt the runner while it returns its lease.
    while tell("-0", command.trim()) {
        terminate(&runner);
        thread::sleep(PAUSE);
    }
    let told =
        "error: interrupted: the command got the signal and ended (signal: 9 (SIGKILL)), and nothing is recorded\n";
    once.is_left_open_by(runner, told);
}

/// The command ends. A process that it started keeps running, and holds the output of the command open.
fn a_process_left_by_a_command_is_not_waited_for<S: Store>() {
    let store = S::ready();
    let once = Once::at(store.place());
    let script = "echo run >> runs; (while test -e runs && ! test -e go; do sleep 0.05; done) & echo hi; exit 5";
    for _ in 0..2 {
        let output = once.run(&[], script);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(5), &b"hi\n"[..]));
    }
    fs::write(once.place.path("go"), "").unwrap();
    assert_eq!(once.runs(), 1);
}

/// A signal ends a caller that waits for the run of another caller. The run continues.
fn a_waiting_caller_ends_at_a_signal<S: Store>() {
    let store = S::ready();
    let once = Once::at(store.place());
    let script = "echo run >> runs; echo started; while test -e runs && ! test -e go; do sleep 0.05; done; echo done";
    let (mut runner, mut stdout) = once.started(&[], script);
    let short = once.run(&["--wait", "0s"], script);
    assert_eq!(short.status.code(), Some(124), "{}", String::from_utf8_lossy(&short.stderr));
    let mut waits = once.spawn(&[], script);
    terminate_once_it_waits(&mut waits);
    let ended = Ended::from(waits.wait_with_output().unwrap()).exits(122);
    assert!(ended.stderr.starts_with("error: interrupted: the command was not run\n"), "{}", ended.stderr);
    fs::write(once.place.path("go"), "").unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), runner.wait().unwrap().code()), ("done\n", Some(0)));
    assert_eq!(once.runs(), 1);
}

/// The URL may hold a password, so the command gets the URL only with `--pass-url`.
fn a_command_does_not_get_the_url_by_default<S: Store>() {
    let store = S::ready();
    let once = Once::at(store.place());
    let run = |id, options: &[&str], command: &[&str]| {
        let args = [&["dedup", "run", "records", id], options, &["--"], command].concat();
        once.place.run(&args)
    };
    let withheld = run("a", &[], &["env"]).exits(0).stdout;
    assert!(withheld.lines().any(|line| line == "STORAGEBOX_ID=a"), "{withheld}");
    let recorded = once.place.run(&["dedup", "get", "records", "a", "--out", "-"]).exits(0).stdout;
    let passed = run("b", &["--pass-url"], &["env"]).exits(0).stdout;
    let url = passed.lines().find_map(|line| line.strip_prefix("STORAGEBOX_URL=")).unwrap();
    assert!(!withheld.contains(url) && !recorded.contains(url), "{withheld} {recorded}");
    once.a_storagebox_within_guesses_no_store();
}

fn terminate(child: &Child) {
    assert!(tell("-TERM", &child.id().to_string()));
}

/// Sends the signal. Returns whether the process exists.
fn tell(signal: &str, id: &str) -> bool {
    std::process::Command::new("kill").args([signal, id]).stderr(Stdio::null()).status().unwrap().success()
}

/// Waits until the process has a handler for SIGTERM, and then sends SIGTERM until the process ends.
fn terminate_once_it_waits(child: &mut Child) {
    while child.try_wait().unwrap().is_none() {
        if catches_sigterm(child) {
            // The process may lose a signal that arrives just after the installation of the handler.
            terminate(child);
        }
        thread::sleep(PAUSE);
    }
}

fn catches_sigterm(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> 14 & 1 == 1
}

/// The output is a device without space, which is an error, unlike a closed pipe.
#[cfg(all(feature = "sqlite", target_os = "linux"))]
#[test]
fn output_that_cannot_be_written_is_replayed_by_the_next_run() {
    let place = Place::without_url();
    let args = ["dedup", "run", "records", "a", "--", "sh", "-c", "echo run >> runs; echo hi"];
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let first: Ended = place.command(&args).stdout(full).output().unwrap().into();
    let first = first.exits(125);
    assert!(first.stderr.contains("could not be shown") && first.stderr.contains("replays it"), "{}", first.stderr);
    assert_eq!(place.run(&args).exits(0).stdout, "hi\n");
    assert_eq!(place.read("runs"), "run\n");
}

/// A `storagebox` in the command must not use the default store in place of the named store.
#[cfg(all(unix, feature = "sqlite"))]
#[test]
fn a_url_from_the_option_is_not_passed_to_the_command() {
    let place = Place::without_url();
    place.run(&["setup", "--url", "sqlite:named.db"]).exits(0);
    let nested = format!("{} ping", env!("CARGO_BIN_EXE_storagebox"));
    for (id, more) in [("a", &[][..]), ("b", &["--pass-url"])] {
        let args =
            [&["dedup", "run", "--url", "sqlite:named.db", "records", id], more, &["--", "sh", "-c", &nested]].concat();
        let ended = place.run(&args).exits(2);
        assert!(ended.stderr.contains("the store is not known here"), "{}", ended.stderr);
    }
    assert!(!place.path("storagebox.db").exists());
}
