//! Files as other programs write them: read correctly, or refused with the line and advice. A load of nothing is no
//! success.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::{Ended, Place};

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn compressed(text: &str) -> Vec<u8> {
    let mut gzip = Command::new("gzip").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    gzip.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    gzip.wait_with_output().unwrap().stdout
}

/// Passes a file with these bytes to every command that reads a file.
fn read_by_all(bytes: &[u8]) -> Vec<Ended> {
    let place = Place::new();
    place.write("list.csv", bytes);
    place.write("good.csv", "A\nB\n");
    [
        &["bank", "load", "n", "list.csv"][..],
        &["bank", "reclaim", "n", "list.csv"],
        &["bank", "withdraw", "n", "--file", "list.csv"],
        &["bank", "restore", "n", "--file", "list.csv"],
        &["token", "create", "n", "--file", "list.csv"],
        &["token", "discard", "n", "--file", "list.csv"],
        &["hand-out", "n", "--items", "list.csv", "--ids", "good.csv", "--out", "out.csv"],
        &["hand-out", "n", "--items", "good.csv", "--ids", "list.csv", "--out", "out.csv"],
    ]
    .map(|args| place.run(args))
    .into()
}

#[track_caller]
fn refused_by_all(bytes: &[u8], told: &[&str]) {
    for ended in read_by_all(bytes) {
        let ended = ended.exits(2);
        assert!(told.iter().all(|part| ended.stderr.contains(part)), "{told:?}: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    }
}

#[test]
fn a_file_that_is_no_list_is_refused_with_advice() {
    let text = "SAVE-1\nSAVE-2\nSAVE-3\n";
    let wide = "list.csv, line 1: it is UTF-16 or UTF-32\nhelp: save it as UTF-8";
    refused_by_all(&utf16(text), &[wide]);
    refused_by_all(&utf16(&format!("\u{feff}{text}")), &[wide]);
    refused_by_all(&compressed(text), &["line 1: it is a compressed file\nhelp: unpack it first"]);
    refused_by_all(b"PK\x03\x04\x14\0\x06\0\x08\0", &["line 1: it is a workbook", "save the sheet as CSV"]);
    refused_by_all(b"<!DOCTYPE html>\n<html>not found</html>\n", &["line 1: it is a document, not a list"]);
    refused_by_all(b"\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<Error>no</Error>\n", &["it is a document, not a list"]);
    refused_by_all(b"\n<HTML>\nSign in\n", &["it is a document, not a list"]);
    refused_by_all(b"[\n  \"SAVE-1\",\n  \"SAVE-2\"\n]\n", &["line 1: it is JSON\nhelp: give a text", "jq -r"]);
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    refused_by_all(pointer, &["line 1: it is a Git LFS pointer", "git lfs pull"]);
    refused_by_all(b"Discount Code,Uses\nSAVE-1,0\n", &["line 1: it looks like a header", "give --header"]);
    refused_by_all(b"sep=;\nSAVE-1;Ada\n", &["line 1: its columns are separated by `;`", "CSV with commas"]);
    refused_by_all(b"email\nada@example.com\n", &["line 1: it looks like a header", "give --header"]);
}

#[test]
fn a_list_without_a_usable_line_exits_with_2() {
    refused_by_all(b"", &["list.csv has no line that can be used\n"]);
    refused_by_all(b"\n\r\n\n", &["list.csv has no line that can be used\n"]);
    refused_by_all(b"A-1\rA-2\rA-3\r", &["can be used; line 1: holds a carriage return that ends no line"]);
    refused_by_all(b"A-1\rA-2\rA-3", &["line 1: holds a carriage return"]);
    refused_by_all(b"\"A\"\r\"B\"\r", &["line 1: holds a carriage return"]);
    refused_by_all(b"\nM\xFCller\nJ\xF6rg\n", &["line 2: not UTF-8; save the file as UTF-8"]);
    refused_by_all(b"A-1;Ada\nA-2;Bob\n", &["line 1: holds `;` and no quotes", "separated by commas"]);
    refused_by_all(b"A-1\tAda\nA-2\tBob\n", &["line 1: holds `\\t` and no quotes"]);
    refused_by_all(b"A-1|Ada\nA-2|Bob\n", &["line 1: holds `|` and no quotes"]);
    refused_by_all(b",Ada\n,Bob\n", &["line 1: its first column is empty"]);
    refused_by_all(b"A\0\n\0B\n", &["line 1: holds U+0000"]);
    refused_by_all(b"A-1 \n", &["line 1: the field ends with a space (U+0020)", "in quotes"]);
    refused_by_all(b"\x1a", &["line 1: the field begins with a control character (U+001A)"]);
}

/// Each file has a good line, and a line whose value another program would read differently.
#[test]
fn a_rejected_line_is_left_out_and_exits_with_1() {
    for (lines, reason) in [
        (&b"A\nM\xFCller\n"[..], "not UTF-8"),
        (b"A\nB\rC\n", "carriage return"),
        (b"A\nB;C\n", "`;`"),
        (b"A\nB\0\n", "U+0000"),
        (b"A\nB \n", "ends with a space"),
        (b"A\n,C\n", "its first column is empty"),
        (b"A\nB\xEF\xBB\xBFC\n", "two files were joined"),
        (b"A\n\x1a\n", "control character"),
    ] {
        let place = Place::new();
        place.write("list.csv", lines);
        let ended = place.run(&["bank", "load", "n", "list.csv", "--json"]).exits(1);
        assert_eq!((&ended.json()["items_added"], &ended.json()["rejected_lines"]), (&1.into(), &1.into()));
        assert!(ended.stderr.contains("1 line could not be used; see list.rejects.csv"), "{}", ended.stderr);
        let list = place.read("list.rejects.csv");
        assert!(list.contains("list.csv,2,") && list.contains(reason), "{list}");
        for args in [&["token", "create", "n", "--file", "list.csv"], &["token", "discard", "n", "--file", "list.csv"]]
        {
            place.run(args).exits(1);
        }
        let place = Place::with("I\nJ\n", lines);
        place.hand_out(&[]).exits(1);
        assert_eq!(place.given("given.csv").len(), 1);
    }
}

#[test]
fn a_list_with_blank_lines_exits_with_0() {
    let place = Place::new();
    place.write("list.csv", "A\n\n\r\nB\n\n");
    place.run(&["bank", "load", "n", "list.csv"]).exits(0);
}

/// The second file begins with a byte order mark and repeats the header. A person in both files must get only one code.
#[test]
fn joined_files_are_read_as_one_file() {
    let ids = "\u{feff}email,name\nada@example.com,Ada\n\u{feff}email,name\n\u{feff}ada@example.com,Ada\n";
    let place = Place::with("code\nA-1\nA-2\n", ids);
    place.hand_out(&["--header", "--concurrency", "1"]).exits(1);
    let given = place.given("given.csv");
    let [first, second] = &given[..] else { panic!("{} lines", given.len()) };
    assert_eq!((&*first.outcome, &*second.outcome), ("new", "again"));
    assert_eq!((&first.id, &first.item), (&second.id, &second.item), "which of the two items is open");
    assert_eq!(place.read("given.rejects.csv"), "file,line,reason\nids.csv,3,repeats the header\n");
}

#[test]
fn no_code_is_given_to_a_separator_directive() {
    for directive in ["sep=,\n", "\u{feff}sep=,\r\n", "\"sep=,\"\n"] {
        let place = Place::with(format!("{directive}A-1\n"), format!("{directive}name\nada\n"));
        let args = ["hand-out", "n", "--items", "items.csv", "--ids", "ids.csv", "--out", "given.csv"];
        place.run(&args).exits(1);
        assert_eq!(place.given("given.csv").len(), 2, "a word is no header for sure");
        let place = Place::with(format!("{directive}code\nA-1\n"), format!("{directive}name\nada\n"));
        place.hand_out(&["--header"]).exits(0);
        assert_eq!(place.read("given.csv"), "id,item,outcome\nada,A-1,new\n");
    }
}

/// If the file were accepted, its first value would be skipped as a header.
#[test]
fn a_value_in_place_of_the_header_is_refused() {
    for ids in ["ada@example.com\nbob.b@example.org\n", "1001\n1002\n", "c-7,Ada\nc-8,Bob\n"] {
        let place = Place::with("code\nA-1\n", ids);
        let ended = place.hand_out(&["--header"]).exits(2);
        let told = "error: ids.csv, line 1: it looks like the next line, but --header says that it is a header\n";
        assert!(ended.stderr.contains(told) && ended.stderr.contains("leave out --header"), "{}", ended.stderr);
    }
}

#[test]
fn a_value_in_quotes_is_read_unchanged() {
    let ids = "\"auth0|7\"\n\" ada \"\n\"a;b\"\n";
    let place = Place::with("A\nB\nC\n", ids);
    place.hand_out(&["--concurrency", "1"]).exits(0);
    let given: Vec<_> = place.given("given.csv").into_iter().map(|line| line.id).collect();
    assert_eq!(given, ["auth0|7", " ada ", "a;b"]);
}

#[test]
fn no_message_shows_a_control_character() {
    let place = Place::new();
    place.write("list\u{1b}[2J.csv", "a\u{1b}]0;x\u{7}\n");
    let ended = place.run(&["bank", "load", "n", "list\u{1b}[2J.csv"]).exits(2);
    assert!(!ended.stderr.contains(['\u{1b}', '\u{7}']), "{:?}", ended.stderr);
}
