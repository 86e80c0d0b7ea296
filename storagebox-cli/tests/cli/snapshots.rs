//! The texts that people read, in `snapshots/`: every help, and the tables and errors of a store in memory.
//!
//! A changed text changes its file. `INSTA_UPDATE=always cargo test -p storagebox-cli --test cli snapshots` rewrites
//! the files; review the difference like code.

use std::process::Stdio;

#[cfg(all(feature = "dynamo", feature = "sqlite"))]
use crate::help::COMMANDS;
use crate::support::Place;

/// Compares the text with `tests/cli/snapshots/NAME.snap`. The text is wrapped at 100 columns, the width without a
/// terminal.
#[track_caller]
fn is_as_before(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name.to_owned(), text));
}

/// Runs the command, and returns both outputs and the exit code.
fn told(place: &Place, args: &[&str]) -> String {
    let mut command = place.command(args);
    command.env_remove("COLUMNS").env_remove("RUST_LOG").env_remove("NO_COLOR").stdin(Stdio::null());
    let output = command.output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let code = output.status.code().unwrap();
    format!("$ storagebox {}\n{stdout}--- standard error\n{stderr}--- exit code {code}\n", args.join(" "))
}

/// Needs a build with all features, because help texts depend on the features.
#[cfg(all(feature = "dynamo", feature = "sqlite"))]
#[test]
fn every_help_text_equals_its_snapshot() {
    for &command in COMMANDS {
        let name = [&["help"], command].concat().join("-");
        is_as_before(&name, &told(&Place::new(), &[command, &["--help"]].concat()));
    }
}

#[test]
fn each_table_equals_its_snapshot() {
    let place = Place::with("SAVE-1\nSAVE-2\n\n", "ada\nada\nbob\neve\n").on("memory:");
    for (name, args) in [
        ("ping", &["ping"][..]),
        ("setup", &["setup"]),
        ("promises", &["promises"]),
        ("hand-out", &["hand-out", "items", "--items", "items.csv", "--ids", "ids.csv", "--out", "given.csv"]),
        ("bank-load", &["bank", "load", "b", "items.csv"]),
        ("bank-take", &["bank", "take", "b", "ada"]),
        ("bank-counts", &["bank", "counts", "b"]),
        ("bank-audit", &["bank", "audit", "b"]),
        ("dedup-record", &["dedup", "record", "records", "order-7", "paid", "--op", "ada"]),
        ("dedup-get", &["dedup", "get", "records", "order-7"]),
        ("token-create", &["token", "create", "tokens", "m-1", "m-2"]),
        ("token-consume", &["token", "consume", "tokens", "m-1", "--op", "ada"]),
        ("counter-add", &["counter", "add", "counters", "shoes", "-3", "--op", "order-7"]),
        ("counter-get", &["counter", "get", "counters", "shoes"]),
        ("counter-log", &["counter", "log", "counters", "shoes"]),
        ("counter-promise", &["counter", "promise", "counters"]),
        (
            "ordered-put",
            &["ordered", "put", "values", "k", "v", "--at", "4102444800000", "--writer", "w", "--max-skew", "none"],
        ),
        ("ordered-get", &["ordered", "get", "values", "k"]),
        ("ordered-reset", &["ordered", "reset", "values", "k", "--at", "4102444800000", "--writer", "w"]),
        ("ordered-purge", &["ordered", "purge", "values"]),
    ] {
        is_as_before(&format!("table-{name}"), &told(&place, args));
    }
}

/// The answer contains a horizon that changes with the time. In the snapshot, a word replaces the horizon.
#[test]
fn the_answer_to_a_too_old_time_equals_its_snapshot() {
    let place = Place::new().on("memory:");
    let text = told(&place, &["ordered", "put", "values", "k", "v", "--at", "100000000003", "--writer", "w"]);
    let horizon = text.lines().find_map(|line| line.strip_prefix("horizon ")).unwrap().trim();
    let time = jiff::Timestamp::from_millisecond(horizon.parse().unwrap()).unwrap();
    let time = format!("{time:.3}");
    is_as_before("table-ordered-put-too-old", &text.replace(horizon, "HORIZON").replace(&time, "TIME"));
}

#[test]
fn each_error_equals_its_snapshot() {
    let place = Place::with("A\n", "ada\n").on("memory:");
    place.write("long", vec![b'a'; 262_145]);
    for (name, args) in [
        ("no-command", &[][..]),
        ("unknown-command", &["bnak"]),
        ("no-namespace", &["bank", "counts"]),
        ("no-id-in-json", &["bank", "take", "b", "--json"]),
        ("no-duration", &["bank", "take", "b", "ada", "--for", "soon"]),
        ("unknown-scheme", &["--url", "carrier-pigeon://ada:secret@loft/", "ping"]),
        ("url-in-the-wrong-place", &["ping", "postgres://ada:secret@host/vouchers"]),
        ("missing-file", &["bank", "load", "b", "none.csv"]),
        ("overwritten-input", &["bank", "load", "b", "items.csv", "--rejects", "items.csv"]),
        ("value-too-long", &["dedup", "record", "records", "order-7", "--op", "ada", "--file", "long"]),
        ("value-and-file", &["dedup", "record", "records", "order-7", "paid", "--op", "ada", "--file", "long"]),
        ("no-op", &["counter", "add", "counters", "shoes", "1"]),
        ("crossed-bounds", &["counter", "add", "counters", "shoes", "1", "--op", "a", "--min", "2", "--max", "1"]),
        ("no-strategy", &["counter", "get", "counters", "shoes", "--strategy", "luck"]),
        ("skew-of-a-sequence", &["ordered", "purge", "values", "--stamps", "sequence", "--max-skew", "1h"]),
        ("no-stamp", &["ordered", "delete", "values", "k", "--at", "soon", "--writer", "w"]),
        ("no-such-command", &["dedup", "run", "records", "a", "--", "no-such-command"]),
        ("no-command-to-run", &["dedup", "run", "records", "a"]),
        ("output-too-long", &["dedup", "run", "records", "a", "--json", "--", "head", "-c", "300000", "/dev/zero"]),
        ("no-folder-for-man", &["man", "--dir", "none"]),
        ("output-exists", &["dedup", "get", "records", "order-7", "--out", "items.csv"]),
    ] {
        is_as_before(&format!("error-{name}"), &told(&place, args));
    }
}
