//! The standard outputs. Programs get every byte unchanged; for a terminal, control characters are escaped.

use std::io::{self, IsTerminal, Write};

use crate::text::{printable, printable_json, printable_lines};

pub(crate) fn stdout(as_json: bool) -> PrintableWriter<io::Stdout> {
    PrintableWriter::over(io::stdout(), as_json)
}

pub(crate) fn stderr(as_json: bool) -> PrintableWriter<io::Stderr> {
    PrintableWriter::over(io::stderr(), as_json)
}

/// Returns a CSV field for standard output, which is escaped if standard output is a terminal.
pub(crate) fn field(bytes: &[u8]) -> Vec<u8> {
    match io::stdout().is_terminal() {
        // Line breaks are escaped too, because a line break would start another row.
        true => readable(bytes, printable).into_bytes(),
        false => bytes.to_vec(),
    }
}

/// A writer that passes bytes on, and escapes what a terminal would obey or not show.
#[derive(Debug)]
pub(crate) struct PrintableWriter<W: Write> {
    to: W,
    spelling: Option<fn(&str) -> String>,
    /// The first bytes of a character that is not complete.
    begun: Vec<u8>,
}

impl<W: Write + IsTerminal> PrintableWriter<W> {
    pub(crate) fn over(to: W, as_json: bool) -> Self {
        let spelling: fn(&str) -> String = if as_json { printable_json } else { printable_lines };
        let spelling = to.is_terminal().then_some(spelling);
        Self { to, spelling, begun: vec![] }
    }
}

impl<W: Write> PrintableWriter<W> {
    /// Writes the bytes of an incomplete character in escaped form.
    fn end(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        self.to.write_all(bytes(&begun).as_bytes())
    }
}

impl<W: Write> Write for PrintableWriter<W> {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        let Some(spelling) = self.spelling else { return self.to.write(chunk) };
        self.begun.extend_from_slice(chunk);
        let whole = self.begun.len() - unfinished(&self.begun);
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        self.to.write_all(readable(&text, spelling).as_bytes())?;
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end()?;
        self.to.flush()
    }
}

/// Returns the length of the incomplete character at the end of the bytes, or 0 if the last character is complete.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let broken = last.map_or(&[][..], |chunk| chunk.invalid());
    let is_begun = str::from_utf8(broken).is_err_and(|error| error.error_len().is_none());
    if is_begun { broken.len() } else { 0 }
}

fn readable(text: &[u8], spelling: fn(&str) -> String) -> String {
    let parts = text.utf8_chunks().map(|chunk| spelling(chunk.valid()) + &bytes(chunk.invalid()));
    parts.collect()
}

fn bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &[u8] = "id\u{1b}]0;x\u{7}\r\u{9b}2J\u{202e}é,\tb\n".as_bytes();

    fn shown(spelling: Option<fn(&str) -> String>, chunks: &[&[u8]]) -> Vec<u8> {
        let mut shown = PrintableWriter { to: Vec::new(), spelling, begun: vec![] };
        for chunk in chunks {
            shown.write_all(chunk).unwrap();
        }
        shown.flush().unwrap();
        shown.to
    }

    #[test]
    fn bytes_for_a_program_are_not_escaped() {
        assert_eq!(shown(None, &[HOSTILE, b"\xFF\0"]), [HOSTILE, b"\xFF\0"].concat());
    }

    #[test]
    fn control_characters_are_escaped_wherever_the_text_is_split() {
        let whole = "id\\u{1b}]0;x\\u{7}\\r\\u{9b}2J\\u{202e}é,\tb\n";
        for cut in 0..HOSTILE.len() {
            let (first, second) = HOSTILE.split_at(cut);
            assert_eq!(shown(Some(printable_lines), &[first, second]), whole.as_bytes(), "{cut}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_escaped() {
        for chunks in [&[&b"a\xFF\xE2\x80b\xE2\x80"[..]][..], &[b"a\xFF\xE2", b"\x80", b"b\xE2\x80"]] {
            assert_eq!(shown(Some(printable_lines), chunks), br"a\xff\xe2\x80b\xe2\x80");
        }
    }
}
