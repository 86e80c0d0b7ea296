use super::*;
use crate::input::records::Unreadable;

fn record(first: &str) -> Record {
    Record { line: 1, ends_at: 0, first: Ok(first.into()), quoted: false, alone: true }
}

fn quoted(first: &str) -> Record {
    Record { quoted: true, ..record(first) }
}

fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn a_file_that_is_no_list_is_recognised_by_its_first_bytes() {
    let utf16 = [wide("A-1\nA-2\n", u16::to_le_bytes), wide("A-1\nA-2\n", u16::to_be_bytes)];
    let marked = utf16.clone().map(|text| [&b"\xFF\xFE"[..], &text].concat());
    for text in utf16.iter().chain(&marked) {
        assert_eq!(check_head(text), Err(Foreign::Wide), "{text:?}");
    }
    for (head, foreign) in [
        (&b"\xFF\xFE\0\0a\0\0\0"[..], Foreign::Wide),
        (b"\0\0\xFE\xFF", Foreign::Wide),
        (b"\x1F\x8B\x08\0", Foreign::Compressed),
        (b"BZh91AY&SY\x01", Foreign::Compressed),
        (b"\x28\xB5\x2F\xFD\x04", Foreign::Compressed),
        (b"PK\x03\x04\x14\0", Foreign::Workbook),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", Foreign::Workbook),
        (b"%PDF-1.7\n", Foreign::Document),
        (b"<!DOCTYPE html>", Foreign::Document),
        (b"\r\n  <!doctype html>", Foreign::Document),
        (b"\xEF\xBB\xBF<?xml version=\"1.0\"?>", Foreign::Document),
        (b"<HTML><HEAD>", Foreign::Document),
        (b"<Error><Code>AccessDenied", Foreign::Document),
        (b"-----BEGIN PGP MESSAGE-----\n", Foreign::Document),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", Foreign::Pointer),
        (b"[\n  \"A-1\",\n", Foreign::Json),
        (b"\xEF\xBB\xBF[\r\n  \"A-1\"", Foreign::Json),
        (b"[\"A-1\"]", Foreign::Json),
        (b"[{\"code\":1}]", Foreign::Json),
        (b"{\"code\":\"A-1\"}\n{", Foreign::Json),
        (b"{\n  \"codes\"", Foreign::Json),
        (b"SQLite format 3\0", Foreign::Document),
    ] {
        assert_eq!(check_head(head), Err(foreign), "{head:?}");
        assert!(!foreign.help().is_empty());
    }
    for head in [
        &b""[..],
        b"a",
        b"A-1\n",
        b"\xEF\xBB\xBFA-1\n",
        b"PK-7\n",
        b"BZh91\n",
        b"a\0b\n",
        "é\nß\n".as_bytes(),
        b"[A-1]\n",
        b"{A}\n",
        b"<ada>\n",
        b"version 7\n",
        b"\n\nA-1\n",
        b"-----\n",
    ] {
        assert_eq!(check_head(head), Ok(()), "{head:?}");
    }
}

#[test]
fn more_bytes_are_read_if_another_format_is_possible() {
    for (head, is) in
        [(&b"ada\n"[..], true), (b"A\n", true), (b"A", false), (b"", false), (b"A\0", false), (b"PK", false)]
    {
        assert_eq!(is_enough(head), is, "{head:?}");
    }
    for head in
        [&b"\x1F"[..], b"BZh", b"SQLite", b"\0\0", b"<!", b"\n\n", b"\xEF\xBB\xBF", b"[", b" <HT", b"version ht"]
    {
        assert!(!is_enough(head), "{head:?}");
    }
    assert!(is_enough(&[0; HEAD]));
}

#[test]
fn a_separator_directive_is_not_a_value() {
    for (first, is) in
        [("sep=", true), ("sep=,", true), ("SEP=,", true), ("sep=ab", false), ("separate", false), ("", false)]
    {
        assert_eq!(is_directive(&record(first)), Ok(is), "{first}");
    }
    assert_eq!(is_directive(&quoted("sep=,")), Ok(true));
    for other in [';', '\t', '|'] {
        assert_eq!(is_directive(&record(&format!("sep={other}"))), Err(Foreign::Separator(other)));
    }
    let long = Record { first: Err(Unreadable::LongLine), ..record("") };
    assert_eq!(is_directive(&long), Ok(false));
}

#[test]
fn a_header_must_match_the_header_option() {
    let check = |first, second, is_said| check_header(&record(first), Some(&record(second)), is_said);
    for (first, second) in [("SAVE-0001", "SAVE-0002"), ("ada@example.com", "bob.b@example.org"), ("17", "18")] {
        assert_eq!(check(first, second, true), Err(Foreign::NoHeader), "{first}");
        assert_eq!(check(first, second, false), Ok(()), "{first}");
    }
    for (first, second) in [
        ("email", "ada@example.com"),
        ("E-Mail", "ada@example.com"),
        ("User_ID", "17"),
        ("code", "A-1"),
        ("Discount Code", "A-1"),
        ("customerEmail", "ada@example.com"),
        ("E-Mail Address", "ada@example.com"),
        ("gift_card_number", "17"),
    ] {
        assert_eq!(check(first, second, false), Err(Foreign::Header), "{first}");
        assert_eq!(check(first, second, true), Ok(()), "{first}");
    }
    for (first, second) in [
        ("code", "summer"),
        ("ada", "bob"),
        ("", ""),
        ("name", "user"),
        ("GIFT", "GIFT-10"),
        ("First Order", "A-1"),
        ("-", "A-1"),
    ] {
        for is_said in [false, true] {
            assert_eq!(check(first, second, is_said), Ok(()), "{first}");
        }
    }
    assert_eq!(check_header(&record("email"), None, false), Ok(()));
    assert_eq!(check_columns(&record("email;name")), Err(Foreign::Separator(';')));
    assert_eq!(check_columns(&quoted("email;name")), Ok(()));
}

#[test]
fn an_ambiguous_value_without_quotes_is_rejected() {
    let odd = |told: &str| Reason::Odd(format!("the field {told}; remove it"));
    for (first, reason) in [
        ("", Reason::Empty),
        ("a\0", Reason::Nul),
        ("a\rb\rc", Reason::Return),
        ("a\r", Reason::Return),
        ("a;b", Reason::Separator(';')),
        ("a\tb", Reason::Separator('\t')),
        ("auth0|7", Reason::Separator('|')),
        ("a\u{feff}b", Reason::Mark),
        ("a\u{feff}", Reason::Mark),
        ("=\"00123\"", Reason::Formula),
        ("a\u{200b}b", odd("has a character without width (U+200B) as character 2")),
        ("a\u{ad}b", odd("has a character without width (U+00AD) as character 2")),
        ("a ", odd("ends with a space (U+0020)")),
        (" a", odd("begins with a space (U+0020)")),
        ("a\u{a0}", odd("ends with a blank (U+00A0)")),
        ("\u{1a}", odd("begins with a control character (U+001A)")),
        ("a\u{1b}[2Jb", odd("has a control character (U+001B) as character 2")),
    ] {
        assert_eq!(text(&record(first)), Err(reason), "{first:?}");
    }
    assert_eq!(text(&Record { alone: false, ..record("") }), Err(Reason::EmptyColumn));
    assert_eq!(text(&Record { first: Ok(b"\xE9".into()), ..record("") }), Err(Reason::NotUtf8));
}

#[test]
fn a_value_in_quotes_is_read_unchanged() {
    for first in ["auth0|7", "a;b", " a ", "a\rb", "a\tb", "a\u{1b}b", "\u{feff}a", "=\"00123\"", "a\u{ad}b"] {
        assert_eq!(text(&quoted(first)), Ok(first));
    }
    assert_eq!(text(&quoted("a\0")), Err(Reason::Nul));
    for first in ["a b", "é", "a.b-c_d@e", "=1+1", "a'b", "a\"b"] {
        assert_eq!(text(&record(first)), Ok(first));
    }
}
