//! Writes CSV fields so that an input reads the same values.

use std::io::Write;

use csv::{QuoteStyle, Writer, WriterBuilder};

use crate::input::is_meant;

/// Returns a writer for fields that [`quoted`] returns.
pub(crate) fn csv_to<W: Write>(to: W) -> Writer<W> {
    WriterBuilder::new().quote_style(QuoteStyle::Never).from_writer(to)
}

/// Puts the field in quotes if it would be read as another value without them.
pub(crate) fn quoted(field: Vec<u8>) -> Vec<u8> {
    let is_syntax = field.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'));
    if !is_syntax && is_meant(&field) {
        return field;
    }
    let inner = field.into_iter().flat_map(|byte| if byte == b'"' { vec![byte; 2] } else { vec![byte] });
    [b'"'].into_iter().chain(inner).chain([b'"']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_needs_quotes_is_quoted() {
        for (field, written) in [
            ("a b", "a b"),
            ("", ""),
            ("=1+1", "=1+1"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("a\nb", "\"a\nb\""),
            (" a", "\" a\""),
            ("auth0|7", "\"auth0|7\""),
            ("a\tb", "\"a\tb\""),
            ("\u{feff}a", "\"\u{feff}a\""),
            ("a\u{1b}b", "\"a\u{1b}b\""),
        ] {
            assert_eq!(quoted(field.into()), written.as_bytes());
        }
        assert_eq!(quoted(vec![0xFF]), [0xFF]);
    }
}
