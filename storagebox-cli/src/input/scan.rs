//! Finds the end of a CSV record, and its first field.
//!
//! The reader of the csv crate is not used: it skips blank lines, counts lines from the previous record, and reads the
//! rest of the file into a quote that is never closed. Here a blank line and an open quote each reject one line.

use std::borrow::Cow;

/// The result of a scan: what the bytes begin with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scan<'a> {
    /// A record. `len` includes the line end. `alone` means that no comma follows the first field.
    Record { first: Field<'a>, alone: bool, len: usize },
    /// More bytes are needed.
    More,
    /// The bytes are not CSV.
    Malformed(Fault),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    OpenQuote,
    TextAfterQuote,
    /// A carriage return that ends no line follows a closing quote.
    Return,
}

/// The bytes of a field, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    bytes: &'a [u8],
    quoted: bool,
}

impl<'a> Field<'a> {
    pub(super) fn is_quoted(self) -> bool {
        self.quoted
    }

    pub(super) fn content(self) -> Cow<'a, [u8]> {
        if !self.quoted || !self.bytes.contains(&b'"') {
            return Cow::Borrowed(self.bytes);
        }
        let mut previous = 0;
        let content = self.bytes.iter().copied().filter(|byte| {
            let second = *byte == b'"' && previous == b'"';
            previous = if second { 0 } else { *byte };
            !second
        });
        Cow::Owned(content.collect())
    }
}

enum End {
    /// The field ends at a comma, a line feed, or the end of the file.
    At(usize),
    More,
    /// The bytes are not CSV.
    Malformed(Fault),
}

/// Scans the record at the start of `bytes`, which must not be empty. `whole` means that no bytes follow.
pub(super) fn scan(bytes: &[u8], whole: bool) -> Scan<'_> {
    let mut first = None;
    let mut start = 0;
    loop {
        let end = match field_end(bytes, start, whole) {
            End::At(end) => end,
            End::More => return Scan::More,
            End::Malformed(fault) => return Scan::Malformed(fault),
        };
        let first = *first.get_or_insert_with(|| field(bytes, start, end));
        if bytes.get(end) != Some(&b',') {
            let len = (end + 1).min(bytes.len());
            return Scan::Record { first, alone: start == 0, len };
        }
        start = end + 1;
    }
}

fn field(bytes: &[u8], start: usize, end: usize) -> Field<'_> {
    let mut text = &bytes[start..end];
    if bytes.get(end) != Some(&b',') {
        text = text.strip_suffix(b"\r").unwrap_or(text);
    }
    let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    Field { bytes: inner.unwrap_or(text), quoted: inner.is_some() }
}

fn field_end(bytes: &[u8], start: usize, whole: bool) -> End {
    match bytes.get(start) {
        Some(b'"') => quoted_end(bytes, start + 1, whole),
        _ => plain_end(bytes, start, whole),
    }
}

fn plain_end(bytes: &[u8], start: usize, whole: bool) -> End {
    let rest = &bytes[start..];
    match rest.iter().position(|byte| matches!(byte, b',' | b'\n')) {
        Some(length) => End::At(start + length),
        None if whole => End::At(bytes.len()),
        None => End::More,
    }
}

fn quoted_end(bytes: &[u8], mut from: usize, whole: bool) -> End {
    loop {
        let Some(length) = bytes[from..].iter().position(|byte| *byte == b'"') else {
            return if whole { End::Malformed(Fault::OpenQuote) } else { End::More };
        };
        let after = from + length + 1;
        if bytes.get(after) != Some(&b'"') {
            return after_quote(bytes, after, whole);
        }
        from = after + 1;
    }
}

fn after_quote(bytes: &[u8], after: usize, whole: bool) -> End {
    match &bytes[after..] {
        [b',' | b'\n', ..] => End::At(after),
        [b'\r', b'\n', ..] => End::At(after + 1),
        [] | [b'\r'] if whole => End::At(bytes.len()),
        [] | [b'\r'] => End::More,
        [b'\r', ..] => End::Malformed(Fault::Return),
        _ => End::Malformed(Fault::TextAfterQuote),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_first(cases: &[(&str, &str)]) {
        for (line, expected) in cases {
            let Scan::Record { first, .. } = scan(line.as_bytes(), true) else { panic!("{line:?} is no record") };
            assert_eq!(&*first.content(), expected.as_bytes(), "{line:?}");
        }
    }

    #[test]
    fn plain_text_is_returned_unchanged() {
        assert_first(&[
            ("5\" pipe\n", "5\" pipe"),
            ("it's\n", "it's"),
            (" padded \r\n", " padded "),
            ("a,b,c\n", "a"),
            ("\n", ""),
            ("no line end", "no line end"),
            ("say \"hi\", you\n", "say \"hi\""),
            ("cr\rinside\n", "cr\rinside"),
        ]);
    }

    #[test]
    fn quoted_text_is_unquoted() {
        assert_first(&[
            ("\"a,b\"\n", "a,b"),
            ("\"say \"\"hi\"\"\"\r\n", "say \"hi\""),
            ("\"two\nlines\",x\n", "two\nlines"),
            ("\"\"\n", ""),
            ("\"\"\"\"", "\""),
            ("\"\"\"\"\"\"", "\"\""),
            ("a,\"never mind\nthis\"\n", "a"),
            ("\" kept \"\n", " kept "),
        ]);
    }

    #[test]
    fn malformed_csv_is_reported_with_its_fault() {
        let open_quotes = ["\"open\nmore\n", "a,\"open\n"].map(|line| (line, Fault::OpenQuote));
        let texts_after = ["\"a\"b\n", "\"a\" \n"].map(|line| (line, Fault::TextAfterQuote));
        let returns = [("\"a\"\rb\n", Fault::Return), ("\"a\"\r\"b\"\r", Fault::Return)];
        for (line, fault) in open_quotes.into_iter().chain(texts_after).chain(returns) {
            assert_eq!(scan(line.as_bytes(), true), Scan::Malformed(fault), "{line:?}");
        }
    }

    #[test]
    fn scan_of_an_incomplete_record_asks_for_more_bytes() {
        let text = "\"a\"\"b,\n\",x,\"y\"\r\n";
        let whole = scan(text.as_bytes(), true);
        for cut in 1..text.len() {
            assert_eq!(scan(&text.as_bytes()[..cut], false), Scan::More, "cut at {cut}");
        }
        assert_eq!(scan(text.as_bytes(), false), whole);
    }
}
