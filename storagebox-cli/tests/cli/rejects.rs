//! Lines that cannot be used are counted, listed with their line numbers, and do not stop the command. A rejected line
//! that is not blank makes the exit code 1.

use crate::support::Place;

/// The lines are: 1 good, 2 empty, 3 too long, 4 NUL, 5 not UTF-8, 6 text after a quote, 7 and 8 one good record, 9
/// open quote, 10 good, 11 an empty first column.
fn bad_lines(limit: usize) -> Vec<u8> {
    let mut bytes = b"first\n\n".to_vec();
    bytes.extend(vec![b'x'; limit + 1]);
    bytes.extend(b"\nnul\0inside\n\xFF\xFE\n\"a\"b\n\"two\nlines\"\n\"open\nlast\n,second\n");
    bytes
}

fn listed(file: &str, limit: usize) -> String {
    let long = limit + 1;
    format!(
        "{file},2,empty\n\
         {file},3,\"too long: {long} bytes, at most {limit}\"\n\
         {file},4,holds U+0000\n\
         {file},5,\"not UTF-8; save the file as UTF-8\"\n\
         {file},6,malformed CSV: text after a closing quote\n\
         {file},9,malformed CSV: a quote is not closed\n\
         {file},11,its first column is empty\n"
    )
}

#[test]
fn bad_lines_are_listed_and_the_rest_is_used() {
    let place = Place::with(bad_lines(1024), bad_lines(512));
    let ended = place.hand_out(&[]).exits(1);
    assert_eq!(
        place.read("given.rejects.csv"),
        ["file,line,reason\n", &listed("items.csv", 1024), &listed("ids.csv", 512)].concat()
    );
    let figures = ["items added", "lines", "given", "rejected lines"].map(|key| ended.figure(key));
    assert_eq!(figures, [3, 3, 3, 14]);
    let ids: Vec<_> = place.given("given.csv").into_iter().map(|line| line.id).collect();
    assert_eq!(ids, ["first", "two\nlines", "last"]);
    let said = "warning: 14 lines could not be used; see given.rejects.csv";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

#[test]
fn values_of_the_maximum_length_are_accepted() {
    let place = Place::with("i".repeat(1024), "x".repeat(512));
    assert_eq!(place.hand_out(&[]).exits(0).figure("rejected lines"), 0);
}

#[test]
fn crlf_and_a_byte_order_mark_are_removed_from_values() {
    let place = Place::with("\u{feff}SAVE-1\r\n", "\u{feff}ada\r\nada\r\n");
    place.hand_out(&["--concurrency", "1"]).exits(0);
    assert_eq!(place.read("given.csv"), "id,item,outcome\nada,SAVE-1,new\nada,SAVE-1,again\n");
}

#[test]
fn a_header_counts_as_a_line() {
    let place = Place::with("code\nA\n", "email\n\nada\n");
    place.hand_out(&["--header"]).exits(0);
    assert_eq!(place.read("given.rejects.csv"), "file,line,reason\nids.csv,2,empty\n");
}

#[test]
fn rejected_lines_are_listed_in_the_named_file() {
    let place = Place::with("A\n", "\nada\n");
    place.hand_out(&["--rejects", "bad.csv"]).exits(0);
    assert_eq!(place.names(), ["bad.csv", "given.csv", "ids.csv", "items.csv"]);
}

#[test]
fn the_list_of_rejected_lines_names_standard_input() {
    let place = Place::with("A\n", "");
    let args = ["hand-out", "items", "--items", "items.csv", "--ids", "-", "--out", "given.csv"];
    place.run_with_input(&args, b"\nada\n").exits(0);
    assert_eq!(place.read("given.rejects.csv"), "file,line,reason\nstandard input,1,empty\n");
}

#[test]
fn hand_out_with_too_few_items_exits_with_1() {
    Place::with("A\n\n", "ada\nbob\n").hand_out(&[]).exits(1);
}

#[test]
fn rejected_lines_of_codes_csv_and_codes_txt_are_listed_apart() {
    let place = Place::new();
    for (name, list) in [
        ("codes.csv", "codes.rejects.csv"),
        ("codes.txt", "codes.txt.rejects.csv"),
        ("more.2026.txt", "more.2026.txt.rejects.csv"),
    ] {
        place.write(name, "A\n\n");
        place.run(&["bank", "load", "b", name]).exits(0);
        assert_eq!(place.read(list), format!("file,line,reason\n{name},2,empty\n"));
    }
}
