//! Decides which input is accepted. A file of another kind is refused as a whole before any work. A line whose value is
//! ambiguous is rejected.

use storagebox::values::plain;

use super::Reason;
use super::records::{BYTE_ORDER_MARK, Record, Unreadable};
use super::scan::Fault;

/// The number of bytes that is enough to recognise the kind of any file.
const HEAD: usize = 256;

/// Column separators that other programs use in place of the comma.
const SEPARATORS: [char; 3] = [';', '\t', '|'];

/// The kind of a file that is not a list of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Foreign {
    #[error("it is UTF-16 or UTF-32")]
    Wide,
    #[error("it is a compressed file")]
    Compressed,
    #[error("it is a workbook or another archive")]
    Workbook,
    #[error("it is a document, not a list")]
    Document,
    #[error("it is JSON")]
    Json,
    #[error("it is a Git LFS pointer, not the file itself")]
    Pointer,
    #[error("its columns are separated by `{}`", .0.escape_default())]
    Separator(char),
    #[error("it looks like the next line, but --header says that it is a header")]
    NoHeader,
    #[error("it looks like a header")]
    Header,
}

impl Foreign {
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::Wide => "save it as UTF-8, as `iconv -f UTF-16 -t UTF-8` does",
            Self::Compressed => "unpack it first, and give the text or `-`",
            Self::Workbook => "save the sheet as CSV in UTF-8",
            Self::Document => "give a text with one value per line, or CSV",
            Self::Json => "give a text with one value per line, as `jq -r` writes it, or CSV",
            Self::Pointer => "fetch the file itself, as `git lfs pull` does",
            Self::Separator(_) => "save it as CSV with commas, or only its first column",
            Self::NoHeader => "leave out --header; if it is a header, remove the line as well",
            Self::Header => "give --header; if it is a value, move it further down",
        }
    }
}

/// The first bytes of files that are not lists.
const BEGINNINGS: [(&[u8], Foreign); 14] = [
    (b"\xFF\xFE", Foreign::Wide),
    (b"\xFE\xFF", Foreign::Wide),
    (b"\0\0\xFE\xFF", Foreign::Wide),
    (b"\x1F\x8B", Foreign::Compressed),
    (b"\x1F\x9D", Foreign::Compressed),
    (b"\x28\xB5\x2F\xFD", Foreign::Compressed),
    (b"\xFD7zXZ\0", Foreign::Compressed),
    (b"\x04\x22\x4D\x18", Foreign::Compressed),
    (b"7z\xBC\xAF\x27\x1C", Foreign::Compressed),
    (b"PK\x03\x04", Foreign::Workbook),
    (b"PK\x05\x06", Foreign::Workbook),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", Foreign::Workbook),
    (b"%PDF-", Foreign::Document),
    (b"SQLite format 3\0", Foreign::Document),
];

/// The beginnings of documents in lower case, after white space and byte order marks.
const OPENINGS: [(&[u8], Foreign); 15] = [
    (b"{\\rtf", Foreign::Document),
    (b"<?xml ", Foreign::Document),
    (b"<!doctype ", Foreign::Document),
    (b"<html", Foreign::Document),
    (b"<head", Foreign::Document),
    (b"<body", Foreign::Document),
    (b"<error", Foreign::Document),
    (b"-----begin ", Foreign::Document),
    (b"version https://git-lfs.", Foreign::Pointer),
    (b"[\n", Foreign::Json),
    (b"[\r\n", Foreign::Json),
    (b"[\"", Foreign::Json),
    (b"[{", Foreign::Json),
    (b"{\n", Foreign::Json),
    (b"{\"", Foreign::Json),
];

/// The first block of a bzip2 file, after `BZh` and a digit.
const BZIP2_BLOCK: &[u8] = b"1AY&SY";

/// Words that are usual names of a first column.
const NAMES: &str = "\
    account code codes coupon coupons customer customers email emails id ids item items key keys mail \
    member name number token tokens user username users voucher vouchers";
/// Words that a longer name of a column, such as `Discount Code`, may combine with a word of `NAMES`.
const WITH_NAMES: &str = "\
    access activation address card contact discount e external first full gift last license order phone \
    product promo promotion record serial subscriber unique";

/// Returns whether these bytes are enough to recognise the kind of a file.
pub(super) fn is_enough(head: &[u8]) -> bool {
    // Fewer than `HEAD` bytes must be enough, because a pipe may deliver a few bytes, and the next bytes much later.
    let text = opening(head);
    let may_be_known = BEGINNINGS.iter().any(|(beginning, _)| beginning.starts_with(head))
        || OPENINGS.iter().any(|(beginning, _)| begins_with(beginning, text));
    head.len() >= HEAD || (head.len() > 1 && !may_be_known && !b"BZh".starts_with(head) && !head.contains(&0))
}

/// Checks the kind of a file by its first bytes.
pub(super) fn check_head(head: &[u8]) -> Result<(), Foreign> {
    let known = BEGINNINGS.iter().find(|(beginning, _)| head.starts_with(beginning));
    let known = known.or_else(|| OPENINGS.iter().find(|(beginning, _)| begins_with(opening(head), beginning)));
    let is_bzip2 = head.starts_with(b"BZh") && head.get(4..10) == Some(BZIP2_BLOCK);
    let known = known.map(|(_, is)| *is).or(is_bzip2.then_some(Foreign::Compressed));
    match known.or(is_wide(head).then_some(Foreign::Wide)) {
        Some(foreign) => Err(foreign),
        None => Ok(()),
    }
}

/// Returns the text after byte order marks and white space.
fn opening(head: &[u8]) -> &[u8] {
    let mut text = head;
    while let Some(rest) = text.trim_ascii_start().strip_prefix(BYTE_ORDER_MARK) {
        text = rest;
    }
    text.trim_ascii_start()
}

fn begins_with(text: &[u8], beginning: &[u8]) -> bool {
    text.get(..beginning.len()).is_some_and(|text| text.eq_ignore_ascii_case(beginning))
}

/// Returns whether the bytes are UTF-16 without a byte order mark: every other byte is zero.
fn is_wide(head: &[u8]) -> bool {
    let head = &head[..head.len().min(HEAD)];
    let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    even.max(odd) > even.min(odd) * 4 && even.max(odd) >= 2 && even.max(odd) * 3 > head.len()
}

/// Returns whether the record is the directive `sep=,` of a spreadsheet. Fails if the directive names another
/// separator.
pub(super) fn is_directive(record: &Record) -> Result<bool, Foreign> {
    let Ok(first) = &record.first else { return Ok(false) };
    let Some(separator) = first.strip_prefix(b"sep=").or(first.strip_prefix(b"SEP=")) else { return Ok(false) };
    match str::from_utf8(separator).map(|text| text.chars().collect::<Vec<_>>()).as_deref() {
        Ok([] | [',']) => Ok(true),
        Ok([other]) => Err(Foreign::Separator(*other)),
        _ => Ok(false),
    }
}

/// Returns whether the second record is needed to decide whether the first record is a header.
pub(super) fn asks_for_next(first: &Record, is_said: bool) -> bool {
    is_said || text_of(first).is_some_and(is_name)
}

/// Checks that the first record is a header if the user said so, and is not a header otherwise.
pub(super) fn check_header(first: &Record, second: Option<&Record>, is_said: bool) -> Result<(), Foreign> {
    let (Some(first), Some(second)) = (text_of(first), second.and_then(text_of)) else { return Ok(()) };
    let are_alike = shape(first) == shape(second) && shape(first).contains('9');
    match is_said {
        true if are_alike || (first.contains('@') && second.contains('@')) => Err(Foreign::NoHeader),
        false if is_name(first) && !is_name(second) && shape(first) != shape(second) => Err(Foreign::Header),
        _ => Ok(()),
    }
}

fn text_of(record: &Record) -> Option<&str> {
    record.first.as_ref().ok().and_then(|first| str::from_utf8(first).ok())
}

fn is_name(text: &str) -> bool {
    let text = apart(text).to_ascii_lowercase();
    let is_in = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    let mut words = text.split([' ', '_', '-']).filter(|word| !word.is_empty());
    let has_name = words.clone().any(|word| is_in(NAMES, word));
    has_name && words.all(|word| is_in(NAMES, word) || is_in(WITH_NAMES, word))
}

/// Separates the words of a name such as `userId` by spaces.
fn apart(text: &str) -> String {
    let mut apart = String::new();
    for character in text.chars() {
        if character.is_uppercase() && apart.ends_with(char::is_lowercase) {
            apart.push(' ');
        }
        apart.push(character);
    }
    apart
}

/// Returns the text with one `a` per run of letters and one `9` per run of digits.
fn shape(text: &str) -> String {
    let mut kinds: Vec<char> = text.chars().map(kind).collect();
    kinds.dedup();
    kinds.into_iter().collect()
}

fn kind(character: char) -> char {
    match character {
        character if character.is_alphabetic() => 'a',
        character if character.is_numeric() => '9',
        other => other,
    }
}

/// Checks that the columns of a header are separated by commas.
pub(super) fn check_columns(header: &Record) -> Result<(), Foreign> {
    match text_of(header).filter(|_| !header.quoted).and_then(separator) {
        Some(separator) => Err(Foreign::Separator(separator)),
        None => Ok(()),
    }
}

fn separator(text: &str) -> Option<char> {
    text.chars().find(|character| SEPARATORS.contains(character))
}

/// Returns the error for a line that is longer than any record.
pub(super) fn too_long(line: &[u8]) -> Unreadable {
    let ends_none = |pair: &[u8]| pair[0] == b'\r' && pair[1] != b'\n';
    match line.windows(2).any(ends_none) {
        true => Unreadable::Malformed(Fault::Return),
        false => Unreadable::LongLine,
    }
}

/// Returns the first column as text. Rejects an ambiguous value without quotes.
pub(super) fn text(record: &Record) -> Result<&str, Reason> {
    let first = record.first.as_ref().map_err(|unreadable| Reason::from(*unreadable))?;
    let text = str::from_utf8(first).map_err(|_| Reason::NotUtf8)?;
    match text {
        "" if record.alone => Err(Reason::Empty),
        "" => Err(Reason::EmptyColumn),
        text if text.contains('\0') => Err(Reason::Nul),
        text if record.quoted => Ok(text),
        text => unquoted(text),
    }
}

/// Returns whether a field without quotes is read back unchanged.
pub(crate) fn is_meant(field: &[u8]) -> bool {
    // Quotes make no difference to bytes that are not UTF-8.
    str::from_utf8(field).map_or(true, |text| unquoted(text).is_ok())
}

fn unquoted(text: &str) -> Result<&str, Reason> {
    if text.contains('\u{feff}') {
        return Err(Reason::Mark);
    }
    if text.contains('\r') {
        return Err(Reason::Return);
    }
    if let Some(separator) = separator(text) {
        return Err(Reason::Separator(separator));
    }
    // Other programs read only the text within `="..."`, so that one person would have two ids.
    if text.starts_with("=\"") {
        return Err(Reason::Formula);
    }
    plain("the field", text).map(|()| text).map_err(|error| Reason::Odd(error.message().to_owned()))
}

#[cfg(test)]
mod tests;
