//! The answer of a command: a table for people, one JSON object per line for programs.

use std::io::{self, Write};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use console::Term;
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::text::printable;

/// The width of wrapped text, in columns, if standard output is not a terminal.
const READABLE: u16 = 100;

/// The fields of an answer in the order of the table, and the exit code of the command.
#[derive(Debug)]
pub(crate) struct Answer {
    exit: Exit,
    fields: Vec<(&'static str, Field)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A fixed word, such as an outcome.
    Word(&'static str),
    Text(String),
    Texts(Vec<String>),
    Figure(u64),
    Signed(i64),
    Flag(bool),
    /// A recorded value, which is not always UTF-8.
    Bytes(Vec<u8>),
    Lasts(Duration),
    /// A text that the table shows and the JSON leaves out.
    TableOnly(&'static str),
    /// A value that the JSON shows and the table leaves out.
    Json(Value),
}

impl Answer {
    pub(crate) fn new(exit: Exit) -> Self {
        Self { exit, fields: Vec::new() }
    }

    pub(crate) fn with(mut self, key: &'static str, field: Field) -> Self {
        self.fields.push((key, field));
        self
    }

    pub(crate) fn word(self, key: &'static str, word: &'static str) -> Self {
        self.with(key, Field::Word(word))
    }

    pub(crate) fn text(self, key: &'static str, text: impl AsRef<str>) -> Self {
        self.with(key, Field::Text(text.as_ref().to_owned()))
    }

    pub(crate) fn figure(self, key: &'static str, figure: u64) -> Self {
        self.with(key, Field::Figure(figure))
    }

    pub(crate) fn signed(self, key: &'static str, figure: i64) -> Self {
        self.with(key, Field::Signed(figure))
    }

    pub(crate) fn bytes(self, key: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(key, Field::Bytes(bytes.into()))
    }

    pub(crate) fn print(self, to: &mut dyn Write, as_json: bool) -> Result<Exit, Failure> {
        match as_json {
            true => line(to, &self.json().to_string())?,
            false => line(to, &self.table())?,
        }
        Ok(self.exit)
    }

    pub(crate) fn json(&self) -> Value {
        self.fields.iter().filter_map(|(key, field)| json(key, field)).collect()
    }

    fn table(&self) -> String {
        let rows = self
            .fields
            .iter()
            .flat_map(|(key, field)| cells(field).into_iter().map(move |cell| (key.replace('_', " "), cell)));
        let figures = self.fields.iter().filter(|(_, field)| matches!(field, Field::Figure(_))).count();
        let is_of_figures = 2 * figures > self.fields.len();
        let mut table = table(rows);
        if let Some(values) = table.column_mut(1).filter(|_| is_of_figures) {
            values.set_cell_alignment(CellAlignment::Right);
        }
        table.trim_fmt()
    }
}

fn json(key: &str, field: &Field) -> Option<(String, Value)> {
    let value = match field {
        Field::Word(word) => (*word).into(),
        Field::Text(text) => text.as_str().into(),
        Field::Texts(texts) => texts.as_slice().into(),
        Field::Figure(figure) => (*figure).into(),
        Field::Signed(figure) => (*figure).into(),
        Field::Flag(flag) => (*flag).into(),
        Field::Bytes(bytes) => return Some(bytes_field(key, bytes)),
        Field::Lasts(duration) => return Some((format!("{key}_ms"), u64::try_from(duration.as_millis()).ok().into())),
        Field::TableOnly(_) => return None,
        Field::Json(value) => value.clone(),
    };
    Some((key.to_owned(), value))
}

fn cells(field: &Field) -> Vec<String> {
    match field {
        Field::Word(word) => vec![word.replace('_', " ")],
        Field::Text(text) => vec![printable(text)],
        Field::Texts(texts) => texts.iter().map(|text| printable(text)).collect(),
        Field::Figure(figure) => vec![figure.to_string()],
        Field::Signed(figure) => vec![figure.to_string()],
        Field::Flag(flag) => vec![if *flag { "yes" } else { "no" }.to_owned()],
        Field::Bytes(bytes) => vec![readable(bytes)],
        Field::Lasts(duration) => vec![whole_millis(*duration)],
        Field::TableOnly(text) => vec![(*text).to_owned()],
        Field::Json(_) => vec![],
    }
}

/// Returns the bytes as a JSON field. Bytes that are not UTF-8 are encoded in base 64, under a key that ends in
/// `_base64`.
pub(crate) fn bytes_field(key: &str, bytes: &[u8]) -> (String, Value) {
    match str::from_utf8(bytes) {
        Ok(text) => (key.to_owned(), text.into()),
        Err(_) => (format!("{key}_base64"), BASE64_STANDARD.encode(bytes).into()),
    }
}

/// Returns the bytes as text, or a text with the number of bytes if they are not UTF-8.
fn readable(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) => printable(text),
        Err(_) => format!("({} bytes that are not UTF-8)", bytes.len()),
    }
}

fn whole_millis(duration: Duration) -> String {
    let whole = Duration::new(duration.as_secs(), duration.subsec_millis() * 1_000_000);
    humantime::format_duration(whole).to_string()
}

fn table(rows: impl Iterator<Item = (String, String)>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (key, value) in rows {
        table.add_row([key, value]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table
}

/// Formats pairs of a key and a text, and wraps each text at the width of the terminal.
pub(crate) fn wrapped(rows: impl Iterator<Item = (String, String)>) -> String {
    let width = Term::stdout().size_checked().map_or(READABLE, |(_, columns)| columns);
    let mut table = table(rows);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    if let Some(keys) = table.column_mut(0) {
        keys.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.trim_fmt()
}

/// Writes a line. A closed pipe is not an error.
pub(crate) fn line(to: &mut dyn Write, text: &str) -> Result<(), Failure> {
    match writeln!(to, "{text}").and_then(|()| to.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(answer: Answer, as_json: bool) -> String {
        let mut to = Vec::new();
        answer.print(&mut to, as_json).unwrap();
        String::from_utf8(to).unwrap()
    }

    fn held() -> Answer {
        let lasts = Field::Lasts(Duration::from_micros(90_500_999));
        Answer::new(Exit::Done).word("outcome", "set_up").text("item", "a\u{1b}[2J").with("remaining", lasts)
    }

    #[test]
    fn people_get_a_table_without_control_characters() {
        assert_eq!(shown(held(), false), "outcome   set up\nitem      a\\u{1b}[2J\nremaining 1m 30s 500ms\n");
    }

    #[test]
    fn programs_get_one_line_with_the_exact_text() {
        let text = shown(held(), true);
        assert_eq!(text.lines().count(), 1);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value, serde_json::json!({ "outcome": "set_up", "item": "a\u{1b}[2J", "remaining_ms": 90_500 }));
    }

    #[test]
    fn figures_are_right_aligned() {
        let answer = Answer::new(Exit::Done).figure("free", 5).figure("held", 1_000);
        assert_eq!(shown(answer, false), "free    5\nheld 1000\n");
    }

    #[test]
    fn bytes_are_exact_for_programs_and_readable_for_people() {
        let answer = |bytes: &[u8]| Answer::new(Exit::Done).bytes("value", bytes);
        assert_eq!(answer(b"a\nb").json(), serde_json::json!({ "value": "a\nb" }));
        assert_eq!(answer(b"\xFF\x00").json(), serde_json::json!({ "value_base64": "/wA=" }));
        assert_eq!(shown(answer(b"a\nb"), false), "value a\\nb\n");
        assert_eq!(shown(answer(b"\xFF\x00"), false), "value (2 bytes that are not UTF-8)\n");
    }

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn printing_to_a_closed_pipe_is_no_failure() {
        assert_eq!(held().print(&mut Closed, true).unwrap(), Exit::Done);
    }
}
