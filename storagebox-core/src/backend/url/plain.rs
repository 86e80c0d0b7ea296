//! Invisible characters that turn a name into another name.

use std::fmt;

use super::keys;
use crate::values::error::{Error, Result};

/// Refuses a text that looks like another text: it contains a control character, a line separator or a character
/// without width, or it begins or ends with a blank. A file or a variable often adds such a character to a name, and
/// the name is then that of another store.
///
/// The error names the character and its place, and shows nothing else of the text, which may hold a password. A text
/// that needs such a character must encode it, such as `%0A` in a URL.
///
/// # Errors
///
/// `Misconfigured` for such a text; `what` is its name.
///
/// # Example
///
/// ```
/// use storagebox_core::backend::url::plain;
///
/// let error = plain("url", "sqlite:store.db\n").unwrap_err();
/// assert!(error.message().starts_with("url ends with a line feed (U+000A)"));
/// ```
pub fn plain(what: &'static str, text: &str) -> Result<()> {
    match odd(text) {
        Some((place, character)) => Err(Error::misconfigured(what, Odd { text, place, character })),
        None => Ok(()),
    }
}

/// Refuses a URL that would name another store than it seems to: the URL or one of its parts is not [`plain`], as with
/// the blanks that a variable adds where parts were put together; or the URL contains a `#`, after which some readers
/// take everything for a comment.
///
/// # Errors
///
/// `Misconfigured` for such a URL.
///
/// # Example
///
/// ```
/// use storagebox_core::backend::url::plain_url;
///
/// for url in ["sqlite:store.db # ours", "sqlite:store.db ?remember=7d", "redis://host/0?prefix=shop &wait=1"] {
///     plain_url(url).unwrap_err();
/// }
/// plain_url("sqlite:My shop.db?remember=7d").unwrap();
/// ```
pub fn plain_url(url: &str) -> Result<()> {
    plain("url", url)?;
    if url.contains('#') {
        return Err(Error::misconfigured("url", "must not contain a #; write it as %23"));
    }
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let mut parts = keys(query).flat_map(|(key, value)| [key, value]);
    plain("the address of the url", address)?;
    parts.try_for_each(|part| plain("a key or a value of the url", part))
}

/// Returns a character that [`plain`] refuses, with its position in bytes.
fn odd(text: &str) -> Option<(usize, char)> {
    let last = text.char_indices().next_back().filter(|(_, character)| is_unseen(*character));
    let first = text.char_indices().next().filter(|(_, character)| is_unseen(*character));
    // The end comes first, because a file adds characters there.
    last.or(first).or_else(|| text.char_indices().find(|(_, character)| is_hidden(*character)))
}

fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Returns whether the character is a control character, or has no width and is no joiner.
fn is_hidden(character: char) -> bool {
    let has_no_width = matches!(character, '\u{ad}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}');
    // Joiners are no hidden characters, because they change how the letters next to them look.
    is_control(character) || has_no_width
}

fn is_unseen(character: char) -> bool {
    is_hidden(character) || character.is_whitespace() || matches!(character, '\u{200c}' | '\u{200d}')
}

struct Odd<'a> {
    text: &'a str,
    place: usize,
    character: char,
}

impl fmt::Display for Odd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, place, character } = self;
        let (name, code) = (name(*character), u32::from(*character));
        let before = text.get(..*place).unwrap_or_default().chars().count();
        match place {
            0 => write!(f, "begins with {name} (U+{code:04X}); remove it"),
            _ if place + character.len_utf8() == text.len() => {
                write!(f, "ends with {name} (U+{code:04X}); remove it")
            }
            _ => write!(f, "has {name} (U+{code:04X}) as character {}; remove it", before + 1),
        }
    }
}

fn name(character: char) -> &'static str {
    match character {
        '\n' => "a line feed",
        '\r' => "a carriage return",
        '\t' => "a tab",
        ' ' => "a space",
        '\u{feff}' => "a byte order mark",
        _ if is_control(character) => "a control character",
        _ if character.is_whitespace() => "a blank",
        _ => "a character without width",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let error = plain("url", text).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Misconfigured);
        error.message().to_owned()
    }

    #[test]
    fn error_for_an_invisible_url_character_names_its_position() {
        for (text, told) in [
            ("sqlite:a\n", "ends with a line feed (U+000A)"),
            ("sqlite:a\r\n", "ends with a line feed (U+000A)"),
            ("sqlite:a\r", "ends with a carriage return (U+000D)"),
            ("sqlite:a\t", "ends with a tab (U+0009)"),
            ("sqlite:a ", "ends with a space (U+0020)"),
            ("sqlite:a\u{a0}", "ends with a blank (U+00A0)"),
            ("sqlite:a\u{3000}", "ends with a blank (U+3000)"),
            ("sqlite:a\u{200b}", "ends with a character without width (U+200B)"),
            ("sqlite:a\0", "ends with a control character (U+0000)"),
            ("\u{feff}sqlite:a", "begins with a byte order mark (U+FEFF)"),
            (" ", "begins with a space (U+0020)"),
            (" sqlite:a", "begins with a space (U+0020)"),
            ("sqlite:\u{e9}\nb", "has a line feed (U+000A) as character 9"),
            ("sqlite:a\u{1b}b", "has a control character (U+001B) as character 9"),
            ("sqlite:a\u{85}b", "has a control character (U+0085) as character 9"),
            ("sqlite:a\u{2028}b", "has a control character (U+2028) as character 9"),
            ("sqlite:a\u{200b}b", "has a character without width (U+200B) as character 9"),
            ("sqlite:a\u{ad}b", "has a character without width (U+00AD) as character 9"),
            ("sqlite:a\u{202e}b", "has a character without width (U+202E) as character 9"),
            ("sqlite:a\u{200d}", "ends with a character without width (U+200D)"),
        ] {
            let message = refused(text);
            assert!(message.starts_with(&format!("url {told}")) && !message.contains("sqlite"), "{text:?}: {message}");
        }
        for text in ["", "memory:", "sqlite:a b", "sqlite:\u{e9}", "sqlite:a%0A", "sqlite:a\u{200d}b"] {
            plain("url", text).unwrap();
        }
    }

    #[test]
    fn url_with_a_comment_or_an_outer_blank_is_refused() {
        for (url, told) in [
            ("sqlite:codes.db # the shop's", "url must not contain a #"),
            ("sqlite:codes.db#old", "url must not contain a #"),
            ("sqlite:codes.db ?remember=7d", "the address of the url ends with a space (U+0020)"),
            ("sqlite:codes.db\u{a0}?remember=7d", "the address of the url ends with a blank (U+00A0)"),
            ("redis://h/0?prefix=shop &wait=1", "a key or a value of the url ends with a space (U+0020)"),
            ("redis://h/0?prefix= shop", "a key or a value of the url begins with a space (U+0020)"),
            ("redis://h/0? prefix=shop", "a key or a value of the url begins with a space (U+0020)"),
            ("sqlite:codes.db ", "url ends with a space (U+0020)"),
        ] {
            let message = plain_url(url).unwrap_err().message().to_owned();
            assert!(message.starts_with(told) && !message.contains("codes"), "{url}: {message}");
        }
        for url in ["memory:", "sqlite:a b.db?remember=7d", "sqlite:a%23b%20", "redis://u:p@h/0?a=b=c&&d", "a?"] {
            plain_url(url).unwrap();
        }
    }

    #[test]
    fn text_with_a_control_character_or_an_outer_blank_is_refused() {
        storagebox_fuzz::texts(&["sqlite:a.db", " a\n", "\u{feff}a\u{200b}"], |text| {
            let told = plain("url", text).map_err(|error| error.to_string());
            let is_plain = text.trim() == text && !text.contains(char::is_control);
            assert!(is_plain || told.is_err(), "{text:?}");
        });
    }
}
