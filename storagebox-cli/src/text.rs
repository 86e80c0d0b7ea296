//! Escapes what a terminal would obey or not show.

/// Escapes all characters that cannot be seen, because an id may come from a stranger. Escaped text stays unchanged.
pub(crate) fn printable(text: &str) -> String {
    spelt_out(text, |_| false, rust)
}

/// Escapes the text except its line ends and tabs.
pub(super) fn printable_lines(text: &str) -> String {
    spelt_out(text, is_layout, rust)
}

/// Escapes JSON without a change of its meaning.
pub(super) fn printable_json(text: &str) -> String {
    spelt_out(text, is_layout, json)
}

pub(crate) fn is_printable(text: &str) -> bool {
    !text.contains(is_unseen)
}

fn spelt_out(text: &str, is_kept: fn(char) -> bool, spell: fn(char, &mut String)) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match is_unseen(character) && !is_kept(character) {
            true => spell(character, &mut printable),
            false => printable.push(character),
        }
    }
    printable
}

fn rust(character: char, to: &mut String) {
    to.extend(character.escape_default());
}

fn json(character: char, to: &mut String) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        to.push_str(&format!("\\u{unit:04x}"));
    }
}

fn is_layout(character: char) -> bool {
    matches!(character, '\n' | '\t')
}

/// Returns whether the character controls a terminal, reorders text, or is invisible. Two texts that differ only in
/// such characters look the same.
fn is_unseen(character: char) -> bool {
    // Control and bidirectional characters, zero-width characters, joiners, variation selectors, line separators, tags,
    // unusual spaces, blank signs and private use. An emoji that joins several characters is shown in parts.
    character.is_control()
        || matches!(character,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
            | '\u{115f}'..='\u{1160}' | '\u{1680}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}'
            | '\u{3000}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{13440}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_obeys_or_hides_are_escaped() {
        for (range, is_seen) in [
            ('\0'..='\u{1f}', false),
            (' '..='~', true),
            ('\u{7f}'..='\u{9f}', false),
            ('\u{a0}'..='\u{a0}', false),
            ('\u{a1}'..='\u{ac}', true),
            ('\u{300}'..='\u{34e}', true),
            ('\u{61c}'..='\u{61c}', false),
            ('\u{1680}'..='\u{1680}', false),
            ('\u{2000}'..='\u{200f}', false),
            ('\u{2010}'..='\u{2027}', true),
            ('\u{2028}'..='\u{202f}', false),
            ('\u{2030}'..='\u{205e}', true),
            ('\u{205f}'..='\u{206f}', false),
            ('\u{2800}'..='\u{2800}', false),
            ('\u{2801}'..='\u{28ff}', true),
            ('\u{3000}'..='\u{3000}', false),
            ('\u{e000}'..='\u{f8ff}', false),
            ('\u{feff}'..='\u{feff}', false),
            ('\u{1f300}'..='\u{1f5ff}', true),
            ('\u{13430}'..='\u{13440}', false),
            ('\u{e0001}'..='\u{e007f}', false),
            ('\u{f0000}'..='\u{10ffff}', false),
        ] {
            for character in range {
                assert_eq!(is_printable(&character.to_string()), is_seen, "{character:?}");
                assert!(is_printable(&printable(&character.to_string())), "{character:?}");
            }
        }
    }

    #[test]
    fn letters_of_every_script_are_unchanged() {
        for text in ["Ada", "e\u{301}", "नमस्ते", "עברית", "🎁", "a\\b \"c\"", "a b"] {
            assert_eq!(printable(text), text);
        }
        assert_eq!(printable("👩\u{200d}🚀"), "👩\\u{200d}🚀");
        assert_eq!(printable(&printable("\u{1b}[2J\u{202e}")), "\\u{1b}[2J\\u{202e}");
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let text = "a\n\t\u{1b}\u{9b}\u{7f}\u{202e}\u{e0041}é";
        let line = serde_json::to_string(text).unwrap();
        let shown = printable_json(&line);
        assert!(is_printable(&shown), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
