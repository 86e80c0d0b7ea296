//! The texts of `--help`. Neither they nor errors of the command line show a password.

use crate::support::Place;

const URL: &str = "postgres://ada:secret@localhost/vouchers";

pub(crate) const COMMANDS: &[&[&str]] = &[
    &[],
    &["hand-out"],
    &["setup"],
    &["ping"],
    &["maintain"],
    &["bank"],
    &["bank", "load"],
    &["bank", "take"],
    &["bank", "extend"],
    &["bank", "confirm"],
    &["bank", "release"],
    &["bank", "retire"],
    &["bank", "show"],
    &["bank", "holder"],
    &["bank", "counts"],
    &["bank", "list"],
    &["bank", "audit"],
    &["bank", "withdraw"],
    &["bank", "restore"],
    &["bank", "reclaim"],
    &["bank", "import"],
    &["assign"],
    &["recover"],
    &["dedup"],
    &["dedup", "record"],
    &["dedup", "get"],
    &["dedup", "replace"],
    &["dedup", "list"],
    &["dedup", "forget"],
    &["dedup", "run"],
    &["dedup", "begin"],
    &["dedup", "extend"],
    &["dedup", "complete"],
    &["dedup", "abort"],
    &["token"],
    &["token", "create"],
    &["token", "exists"],
    &["token", "consume"],
    &["token", "discard"],
    &["counter"],
    &["counter", "add"],
    &["counter", "get"],
    &["counter", "cancel"],
    &["counter", "log"],
    &["counter", "compact"],
    &["counter", "promise"],
    &["ordered"],
    &["ordered", "put"],
    &["ordered", "delete"],
    &["ordered", "get"],
    &["ordered", "list"],
    &["ordered", "reset"],
    &["ordered", "purge"],
    &["demo"],
    #[cfg(feature = "conform")]
    &["conform"],
    &["promises"],
    &["completions"],
    &["man"],
];

/// A screen has 100 columns and 40 lines. `-h` and `--help` must show the same text.
#[test]
fn every_help_fits_on_one_screen() {
    for &command in COMMANDS {
        let place = Place::new();
        let [long, short] = ["--help", "-h"].map(|help| place.run(&[command, &[help]].concat()).exits(0).stdout);
        let lines = long.lines().count();
        assert!(lines <= 40, "{command:?} has {lines} lines:\n{long}");
        let widest = long.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{command:?} is {widest:?} wide:\n{long}");
        assert_eq!(long, short, "{command:?}");
    }
}

/// The main help lists the exit codes of all commands, and the help of `dedup run` lists its own exit codes.
#[test]
fn only_two_help_texts_list_exit_codes() {
    for &command in COMMANDS {
        let text = Place::new().run(&[command, &["--help"]].concat()).exits(0).stdout;
        let lists = command.is_empty() || command == ["dedup", "run"];
        assert_eq!(text.contains("Exit codes:"), lists, "{command:?}: {text}");
    }
}

/// The order of arguments is the same for the operations of all parts: part, operation, namespace, subject.
#[test]
fn the_namespace_is_the_first_argument_of_every_operation() {
    for &command in COMMANDS {
        let [part, operation] = command else { continue };
        let text = Place::new().run(&[command, &["--help"]].concat()).exits(0).stdout;
        let usage = text.lines().find(|line| line.starts_with("Usage: ")).unwrap();
        let places: Vec<_> = usage.split_whitespace().collect();
        let is_option = |at: usize| at > 0 && places[at - 1].starts_with("--");
        let first = (0..places.len()).find(|&at| places[at].starts_with('<') && !is_option(at));
        assert_eq!(first.map(|at| places[at]), Some("<NAMESPACE>"), "{part} {operation}: {usage}");
        assert!(!text.contains("--namespace"), "{text}");
    }
}

#[test]
fn help_lists_the_possible_values() {
    let help = |args: &[&str]| Place::new().run(&[args, &["--help"]].concat()).exits(0).stdout;
    assert!(help(&["completions"]).contains("bash, elvish, fish, powershell, zsh"));
    assert!(help(&["ordered", "put"]).contains("[possible values: time, sequence]"));
    for strategy in ["marker:", "window:", "sharded:", "atomic", "ledger", "optimistic", "history:", "token-set:"] {
        assert!(help(&["counter", "add"]).contains(&format!("\n  {strategy}")), "{strategy}");
    }
}

#[test]
fn every_help_names_the_variable_and_hides_its_value() {
    let place = Place::new().on(URL);
    for &command in COMMANDS {
        let help = place.run(&[command, &["--help"]].concat()).exits(0).stdout;
        assert!(help.contains("STORAGEBOX_URL") && !help.contains("secret"), "{command:?}: {help}");
    }
}

/// No error of the command line or the store shows more of a URL than its scheme.
#[test]
fn no_usage_error_shows_the_url() {
    let place = Place::new();
    for args in [
        &["ping", URL][..],
        &[URL, "ping"],
        &["ping", "--ulr", URL],
        &["--url", URL],
        &["--url", URL, "bank", "take", "b"],
        &["--url", "carrier-pigeon://ada:secret@loft/vouchers", "ping"],
        &["--url", "memory://ada:secret@here/vouchers", "bank", "counts", "b"],
    ] {
        let ended = place.run(args).exits(2);
        let shown = [ended.stdout, ended.stderr].concat();
        assert!(!shown.contains("secret") && !shown.contains("vouchers"), "{args:?}: {shown}");
    }
}

#[test]
fn no_error_shows_a_url_from_the_environment() {
    for url in ["carrier-pigeon://ada:secret@loft/vouchers", "secret", "memory:secret"] {
        let ended = Place::new().on(url).run(&["setup"]).exits(2);
        assert!(ended.stderr.starts_with("error: cannot open the store"), "{}", ended.stderr);
        assert!(ended.stderr.contains("\nhelp: ") && !ended.stderr.contains("secret"), "{}", ended.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_url_that_is_not_utf_8_is_bad_usage_and_is_not_shown() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let url = OsStr::from_bytes(b"postgres://ada:secret\xFF@localhost/");
    let output = Place::new().command(&["ping"]).env("STORAGEBOX_URL", url).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("secret"));
}
