//! Arguments, exit codes, and the files that a command leaves.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use crate::support::{Ended, FILES, Place};

/// Asserts a refusal before any work: exit code 2, an error and advice, and no changed file.
#[track_caller]
fn refused(place: &Place, args: &[&str], because: &str) {
    place.write("given.csv", "old");
    let before = place.names();
    let ended = place.run(args).exits(2);
    let lines: Vec<_> = ended.stderr.lines().filter(|line| !line.starts_with("note: ")).collect();
    assert_eq!(lines.len(), 2, "{}", ended.stderr);
    assert!(lines[0].starts_with("error: ") && lines[0].contains(because), "{}", ended.stderr);
    assert!(lines[1].starts_with("help: "), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    assert_eq!(place.names(), before);
    assert_eq!(place.read("given.csv"), "old");
}

fn place() -> Place {
    Place::with("SAVE-1\n", "ada\n")
}

/// Returns the arguments of `hand-out` on these files.
fn hand_out<'a>(items: &'a str, ids: &'a str, out: &'a str) -> [&'a str; 9] {
    ["hand-out", "items", "--items", items, "--ids", ids, "--out", out, "--force"]
}

fn with_url(url: &str) -> Ended {
    place().hand_out(&["--url", url])
}

#[test]
fn usage_errors_exit_with_2() {
    let hand_out = |more: [&'static str; 2]| [&["hand-out", "items"], &FILES[..], &more].concat();
    for args in [
        vec![],
        vec!["hand-in"],
        vec!["hand-out"],
        hand_out(["--concurrency", "0"]),
        vec!["hand-out", ""],
        hand_out(["--surprise", "me"]),
        vec!["setup", "now"],
        vec!["bank"],
        vec!["bank", "counts"],
        vec!["bank", "empty", "b"],
        vec!["bank", "take", "b"],
        vec!["bank", "take", "b", ""],
        vec!["bank", "take", "b", "ada", "--for", "soon"],
        vec!["bank", "take", "b", "ada", "--for", "0s"],
        vec!["bank", "list", "b", "--limit", "-1"],
        vec!["bank", "load", "b"],
    ] {
        let ended = place().run(&args).exits(2);
        assert!(ended.stderr.contains("--help"), "{}", ended.stderr);
    }
}

#[test]
fn json_prints_a_store_error_as_one_object() {
    let place = place();
    let there = place.run(&["bank", "counts", "b", "--json", "--url", "sqlite:not-there.db"]);
    let ended = there.exits(3);
    let said: serde_json::Value = serde_json::from_str(ended.stderr.trim_end()).expect("one object");
    assert_eq!((&said["kind"], &said["certainty"]), (&"NotSetUp".into(), &"NotApplied".into()), "{said}");
    assert_eq!((&said["exit_code"], &said["backend"]), (&3.into(), &"sqlite".into()), "{said}");
    assert!(said["error"].as_str().is_some_and(|error| error.starts_with("cannot ")), "{said}");
    assert_eq!(ended.stdout, "");
}

/// A usage error must have the same JSON fields as an error of the store.
#[test]
fn json_prints_a_usage_error_as_one_object() {
    for args in [
        &["--json"][..],
        &["--json", "bnak"],
        &["bank", "--json"],
        &["bank", "take", "b", "--json"],
        &["--json", "bank", "take", "b", ""],
        &["bank", "take", "b", "ada", "--for", "soon", "--json"],
        &["counter", "get", "n", "a", "--strategy", "luck", "--json"],
        &["ping", "postgres://ada:secret@host/vouchers", "--json"],
        &["dedup", "run", "jobs", "a", "--json"],
        &["ordered", "purge", "n", "--stamps", "sequence", "--max-skew", "1h", "--json"],
    ] {
        let ended = place().on("memory:").run(args).exits(2);
        assert_eq!(ended.stdout, "", "{args:?}");
        let last = ended.stderr.lines().last().unwrap();
        let said: serde_json::Value = serde_json::from_str(last).expect("one object");
        assert_eq!(said["exit_code"], 2, "{said}");
        for field in ["error", "help"] {
            assert!(said[field].as_str().is_some_and(|text| !text.is_empty()), "{args:?}: {said}");
        }
        assert!(!ended.stderr.contains("secret"), "{said}");
    }
}

#[test]
fn unknown_scheme_error_lists_known_schemes_but_no_password() {
    let ended = with_url("carrier-pigeon://ada:secret@loft/").exits(2);
    assert!(ended.stderr.contains("memory:"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
    assert!(ended.stderr.contains("\nhelp: "), "{}", ended.stderr);
}

#[test]
fn the_url_may_come_from_the_environment() {
    let ended = place().on("carrier-pigeon:").hand_out(&[]).exits(2);
    assert!(ended.stderr.starts_with("error: cannot open the store: "), "{}", ended.stderr);
}

#[test]
fn one_note_says_that_a_memory_store_is_not_kept() {
    let ended = with_url("memory:").exits(0);
    assert_eq!(ended.stderr.matches("it is gone when the program ends").count(), 1, "{}", ended.stderr);
}

#[test]
fn no_progress_bar_is_drawn_without_a_terminal() {
    let ended = place().hand_out(&[]).exits(0);
    assert!(!ended.stderr.contains('\u{1b}') && !ended.stderr.contains('\r'), "{:?}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

#[test]
fn hand_out_json_has_the_expected_figures() {
    let audit = Place::with("A\nB\n", "ada\nada\n\n").hand_out(&["--json"]).exits(0).json();
    for (key, figure) in [
        ("items_added", 2),
        ("already_there", 0),
        ("lines", 2),
        ("distinct_ids", 1),
        ("given", 1),
        ("free_left", 1),
        ("ids_without_item", 0),
        ("rejected_lines", 1),
    ] {
        assert_eq!(audit[key], figure, "{key}");
    }
    assert_eq!(audit["outcomes"]["new"], 1);
    assert_eq!(audit["outcomes"]["again"], 1);
    assert_eq!(audit["counts_checked"], true);
    assert_eq!(audit["mismatches"].as_array().unwrap().len(), 0);
}

#[test]
fn standard_input_for_both_inputs_is_refused() {
    let args = hand_out("-", "-", "given.csv");
    refused(&place(), &args, "both");
}

#[test]
fn a_missing_input_is_refused_before_any_work() {
    for (items, ids) in [("none.csv", "ids.csv"), ("items.csv", "none.csv")] {
        refused(&place(), &hand_out(items, ids, "given.csv"), "none.csv");
    }
}

#[test]
fn a_directory_is_refused_as_input() {
    let place = place();
    fs::create_dir(place.path("folder")).unwrap();
    refused(&place, &hand_out("items.csv", "folder", "given.csv"), "folder");
}

#[test]
fn a_missing_output_directory_is_refused_before_any_work() {
    let args = hand_out("items.csv", "ids.csv", "none/given.csv");
    refused(&place(), &args, "none");
}

#[test]
fn a_folder_is_refused_as_output() {
    let place = place();
    fs::create_dir(place.path("folder")).unwrap();
    refused(&place, &hand_out("items.csv", "ids.csv", "folder"), "folder");
}

#[test]
fn an_input_is_never_overwritten() {
    let place = place();
    fs::create_dir(place.path("folder")).unwrap();
    fs::hard_link(place.path("items.csv"), place.path("hard.csv")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("ids.csv", place.path("link.csv")).unwrap();
    let links = if cfg!(unix) { &["hard.csv", "link.csv"][..] } else { &["hard.csv"] };
    for out in ["items.csv", "./ids.csv", "folder/../ids.csv"].iter().chain(links) {
        refused(&place, &hand_out("items.csv", "ids.csv", out), "overwrite");
        let args = [&["hand-out", "items", "--force"], &FILES[..], &["--rejects", out]].concat();
        refused(&place, &args, "overwrite");
        assert_eq!([place.read("items.csv"), place.read("ids.csv")], ["SAVE-1\n", "ada\n"]);
    }
}

#[test]
fn an_old_output_is_replaced_only_with_force() {
    let place = place();
    place.write("given.csv", "old");
    refused(&place, &[&["hand-out", "items"], &FILES[..]].concat(), "given.csv exists");
    place.hand_out(&["--force"]).exits(0);
    assert_eq!(place.read("given.csv"), "id,item,outcome\nada,SAVE-1,new\n");
    assert_eq!(place.names(), ["given.csv", "ids.csv", "items.csv"]);
}

/// The work is done even if the reader closes the pipe of the audit.
#[test]
fn a_closed_pipe_of_the_audit_is_no_failure() {
    let place = place();
    let mut command = place.command(&[&["hand-out", "items", "--items", "-"], &FILES[2..]].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"SAVE-1\n").unwrap();
    let ended: Ended = child.wait_with_output().unwrap().into();
    ended.exits(0);
    assert!(place.path("given.csv").exists());
}

/// The command is interrupted while it waits for standard input.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_the_old_output_and_nothing_else() {
    let place = place();
    place.write("given.csv", "old");
    let mut command =
        place.command(&[&["hand-out", "items", "--force", "--items", "items.csv", "--ids", "-"], &FILES[4..]].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"ada\n").unwrap();
    let mut stderr = child.stderr.take().unwrap();
    // The note comes once the files are open, and before the items are loaded.
    stderr.read_exact(&mut [0; 5]).unwrap();
    let kill = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert!(said.contains("error: interrupted\nhelp: "), "{said}");
    assert_eq!(place.read("given.csv"), "old");
    assert_eq!(place.names(), ["given.csv", "ids.csv", "items.csv"]);
    drop(stdin);
}
