//! What `--help` shows, and that neither it nor a complaint shows a password.

use crate::support::Place;

const URL: &str = "postgres://ada:secret@localhost/vouchers";

pub(crate) const COMMANDS: [&[&str]; 57] = [
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
    &["lease"],
    &["lease", "begin"],
    &["lease", "extend"],
    &["lease", "complete"],
    &["lease", "abort"],
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
    &["counter", "plan"],
    &["ordered"],
    &["ordered", "put"],
    &["ordered", "delete"],
    &["ordered", "get"],
    &["ordered", "list"],
    &["ordered", "purge"],
    &["demo"],
    &["promises"],
    &["completions"],
    &["man"],
];

#[test]
fn every_help_lists_the_exit_codes() {
    for command in COMMANDS {
        for help in ["--help", "-h"] {
            let text = Place::new().run(&[command, &[help]].concat()).exits(0).stdout;
            let codes: &[_] = match command {
                ["dedup", "run"] => &["Exit codes:", "2    ", "124  ", "125  ", "126  ", "127  ", "130  "],
                _ => &["Exit codes:", "0    done", "1    ", "2    ", "3    ", "130  "],
            };
            for code in codes {
                assert!(text.contains(code), "{command:?}: {code:?} in {text}");
            }
        }
    }
}

#[test]
fn every_help_names_the_variable_and_hides_its_value() {
    let place = Place::new().on(URL);
    for command in COMMANDS {
        let help = place.run(&[command, &["--help"]].concat()).exits(0).stdout;
        assert!(help.contains("STORAGEBOX_URL") && !help.contains("secret"), "{command:?}: {help}");
    }
}

/// Whatever is wrong with the command line or the store, the URL's scheme is all that is shown of it.
#[test]
fn no_complaint_shows_the_url() {
    let place = Place::new();
    for args in [
        &["ping", URL][..],
        &[URL, "ping"],
        &["ping", "--ulr", URL],
        &["--url", URL],
        &["--url", URL, "bank", "take", "--bank", "b"],
        &["--url", "carrier-pigeon://ada:secret@loft/vouchers", "ping"],
        &["--url", "memory://ada:secret@here/vouchers", "bank", "counts", "--bank", "b"],
    ] {
        let ended = place.run(args).exits(2);
        let shown = [ended.stdout, ended.stderr].concat();
        assert!(!shown.contains("secret") && !shown.contains("vouchers"), "{args:?}: {shown}");
    }
}

#[test]
fn the_environments_url_is_not_shown_either() {
    for url in ["carrier-pigeon://ada:secret@loft/vouchers", "secret", "memory:secret"] {
        let ended = Place::new().on(url).run(&["setup"]).exits(2);
        assert!(ended.stderr.starts_with("error: cannot open the store"), "{}", ended.stderr);
        assert!(ended.stderr.contains("\nhelp: ") && !ended.stderr.contains("secret"), "{}", ended.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_url_that_is_no_text_is_bad_usage_and_is_not_shown() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let url = OsStr::from_bytes(b"postgres://ada:secret\xFF@localhost/");
    let output = Place::new().command(&["ping"]).env("STORAGEBOX_URL", url).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("secret"));
}
