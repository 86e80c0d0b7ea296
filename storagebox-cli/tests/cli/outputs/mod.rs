//! Where commands write: never over the store, an input or another file, and never for others to read.

#[cfg(unix)]
mod unix;

use std::fs;

use crate::support::{Ended, Place};

const STORE: &str = "storagebox.db";

/// The commands that write one value.
const GETS: [&[&str]; 2] =
    [&["dedup", "get", "records", "order"], &["ordered", "get", "values", "key", "--stamps", "sequence"]];

/// Returns a [`Place`] with a bank, a record, a value, and two inputs that each have an unusable line.
fn place() -> Place {
    filled(Place::without_url())
}

fn filled(place: Place) -> Place {
    place.write("items.csv", "A\n");
    place.run(&["bank", "load", "b", "items.csv"]).exits(0);
    place.write("items.csv", "A\n\n");
    place.write("ids.csv", "ada\n\n");
    place.run(&["dedup", "record", "records", "order", "paid", "--op", "ada"]).exits(0);
    place.run(&["ordered", "put", "values", "key", "5", "--at", "1", "--writer", "w", "--stamps", "sequence"]).exits(0);
    place
}

/// Returns every command that writes a file, with the path `output`.
fn commands(output: &str) -> Vec<Vec<&str>> {
    let hand_out = ["hand-out", "b", "--items", "items.csv", "--ids", "ids.csv", "--out"];
    vec![
        vec!["bank", "load", "b", "items.csv", "--rejects", output],
        vec!["bank", "reclaim", "c", "ids.csv", "--rejects", output],
        vec!["token", "create", "tokens", "--file", "ids.csv", "--rejects", output],
        [&hand_out[..], &[output]].concat(),
        [&hand_out[..], &["given.csv", "--rejects", output]].concat(),
        vec!["dedup", "get", "records", "order", "--out", output],
        vec!["ordered", "get", "values", "key", "--stamps", "sequence", "--out", output],
    ]
}

#[track_caller]
fn all_refuse(place: &Place, output: &str, because: &str) {
    for command in commands(output) {
        let refused = place.run(&command).exits(2);
        assert!(refused.stderr.contains(because), "{command:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{command:?}");
    }
}

#[track_caller]
fn is_whole(place: &Place) {
    let counts = place.run(&["bank", "audit", "b"]).exits(0);
    assert_eq!(counts.figure("free"), 1);
    place.run(&["dedup", "get", "records", "order"]).exits(0);
}

#[test]
fn no_output_replaces_the_store() {
    let place = place();
    fs::create_dir(place.path("folder")).unwrap();
    fs::hard_link(place.path(STORE), place.path("hard.csv")).unwrap();
    let whole = place.path(STORE);
    for output in [STORE, "./storagebox.db", "folder/../storagebox.db", "hard.csv", whole.to_str().unwrap()] {
        all_refuse(&place, output, "is the store's own file");
        for get in GETS {
            let refused = place.run(&[get, &["--out", output, "--force"]].concat()).exits(2);
            assert!(refused.stderr.contains("is the store's own file"), "{}", refused.stderr);
        }
    }
    is_whole(&place);
}

#[test]
fn no_output_replaces_the_sqlite_files_beside_the_store() {
    let place = place();
    for beside in ["storagebox.db-wal", "storagebox.db-shm", "storagebox.db-journal"] {
        all_refuse(&place, beside, "is the store's own file");
    }
    is_whole(&place);
}

#[cfg(unix)]
#[test]
fn a_link_to_the_store_is_refused_as_output() {
    use std::os::unix::fs::symlink;
    let place = place();
    symlink(STORE, place.path("link.csv")).unwrap();
    symlink("link.csv", place.path("further.csv")).unwrap();
    symlink(".", place.path("here")).unwrap();
    for output in ["link.csv", "further.csv", "here/storagebox.db", "here/storagebox.db-wal"] {
        all_refuse(&place, output, "is the store's own file");
    }
    is_whole(&place);
    // The URL of the store may be a link, too.
    let place = place.on("sqlite:link.csv");
    for output in [STORE, "storagebox.db-wal", "link.csv"] {
        all_refuse(&place, output, "is the store's own file");
    }
    is_whole(&place);
}

#[test]
fn a_store_is_recognised_by_every_form_of_its_url() {
    let place = place();
    let whole = place.path(STORE).display().to_string();
    let urls = ["sqlite://storagebox.db", "sqlite:%73toragebox.db?synchronous=normal", "sqlite:./storagebox.db"];
    let urls = urls.into_iter().map(str::to_owned).chain([format!("sqlite://{whole}"), format!("sqlite:{whole}")]);
    for url in urls {
        let load = ["bank", "load", "b", "items.csv", "--rejects", STORE, "--url", &url];
        let refused = place.run(&load).exits(2);
        assert!(refused.stderr.contains("is the store's own file"), "{url}: {}", refused.stderr);
    }
    is_whole(&place);
}

/// If the command read the store as an input, SQLite's locks would be released when the input is closed.
#[test]
fn the_store_is_refused_as_an_input() {
    let place = place();
    for command in [
        &["bank", "load", "b", STORE][..],
        &["bank", "reclaim", "b", STORE],
        &["token", "create", "tokens", "--file", STORE],
        &["hand-out", "items", "--ids", STORE, "--out", "given.csv"],
        &["dedup", "record", "records", "r", "--file", STORE, "--op", "o"],
        &["ordered", "put", "values", "r", "--file", STORE, "--at", "1", "--writer", "w", "--stamps", "sequence"],
    ] {
        let refused = place.run(command).exits(2);
        assert!(refused.stderr.contains("is the store's own file"), "{command:?}: {}", refused.stderr);
    }
    is_whole(&place);
}

#[test]
fn a_manual_page_does_not_replace_the_store() {
    let place = filled(Place::without_url());
    fs::rename(place.path(STORE), place.path("storagebox-bank.1")).unwrap();
    let place = place.on("sqlite:storagebox-bank.1");
    let refused = place.run(&["man", "--dir", "."]).exits(2);
    assert!(refused.stderr.contains("is the store's own file"), "{}", refused.stderr);
    is_whole(&place);
}

#[test]
fn an_input_through_standard_input_is_not_overwritten() {
    let place = place();
    let load = ["bank", "load", "b", "-", "--rejects", "items.csv"];
    let input = fs::File::open(place.path("items.csv")).unwrap();
    let ended: Ended = place.command(&load).stdin(input).output().unwrap().into();
    let told = "items.csv would overwrite standard input, which is read";
    assert!(ended.exits(2).stderr.contains(told));
    assert_eq!(place.read("items.csv"), "A\n\n");
}

#[test]
fn two_paths_to_one_output_are_refused() {
    let place = place();
    let args = ["hand-out", "items", "--ids", "ids.csv", "--out", "new.csv", "--rejects", "./new.csv"];
    let refused = place.run(&args).exits(2);
    assert!(refused.stderr.contains("--out and --rejects are the same file"), "{}", refused.stderr);
}

#[test]
fn an_output_that_exists_is_refused_before_any_work() {
    let place = place();
    place.write("mine.csv", "mine");
    all_refuse(&place, "mine.csv", "error: mine.csv exists");
    assert_eq!(place.read("mine.csv"), "mine");
    is_whole(&place);
}

#[test]
fn force_replaces_the_output() {
    let place = place();
    let hand_out = ["hand-out", "b", "--ids", "ids.csv"];
    for (command, written) in [(GETS[0], "paid"), (GETS[1], "5"), (&hand_out, "id,item,outcome\nada,A,")] {
        place.write("mine.csv", "mine");
        place.run(&[command, &["--out", "mine.csv", "--force"]].concat()).exits(0);
        assert!(place.read("mine.csv").starts_with(written), "{command:?}");
    }
}

#[test]
fn a_run_without_rejected_lines_keeps_an_older_list_of_them() {
    let place = place();
    place.write("good.csv", "A\n");
    let list = "file,line,reason\nitems.csv,2,empty\n";
    for (name, named) in [("mine.csv", &["--rejects", "mine.csv"][..]), ("good.rejects.csv", &[])] {
        place.write(name, list);
        let ended = place.run(&[&["bank", "load", "b", "good.csv"], named].concat()).exits(0);
        assert!(ended.stderr.contains(&format!("{name} is older and stays as it is")), "{}", ended.stderr);
        assert_eq!(place.read(name), list);
    }
}

#[test]
fn a_list_of_rejected_lines_replaces_only_an_older_list() {
    let place = place();
    place.write("items.rejects.csv", "mine");
    let refused = place.run(&["bank", "load", "b", "items.csv"]).exits(2);
    assert!(refused.stderr.contains("error: items.rejects.csv exists"), "{}", refused.stderr);
    assert_eq!(place.read("items.rejects.csv"), "mine");
    place.write("items.rejects.csv", "file,line,reason\nolder.csv,1,empty\n");
    place.run(&["bank", "load", "b", "items.csv"]).exits(0);
    assert_eq!(place.read("items.rejects.csv"), "file,line,reason\nitems.csv,2,empty\n");
}
