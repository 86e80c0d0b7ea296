//! Texts that stores have confused with each other, with syntax, or with something shorter.

use storagebox_core::{MAX_ID_BYTES, MAX_ITEM_BYTES};

/// Returns different texts that are valid as any id, key or name.
pub(crate) fn nasty_texts() -> Vec<String> {
    let short = [SPACES, CASES, FORMS, SYNTAX, NUMBERS, SEPARATORS].concat();
    let mut texts: Vec<_> = short.into_iter().map(str::to_owned).collect();
    texts.extend(lengths(MAX_ID_BYTES));
    texts
}

/// Returns texts for items: the texts for ids, and texts of the greatest length of an item.
pub(crate) fn nasty_items() -> Vec<String> {
    let mut texts = nasty_texts();
    texts.extend(lengths(MAX_ITEM_BYTES));
    texts
}

/// Returns each value with its successor in the list; the first value follows the last. Similar texts are neighbours in
/// the lists of texts.
pub(super) fn pairs<T>(values: &[T]) -> impl Iterator<Item = (usize, &T, &T)> {
    values.iter().enumerate().map(|(number, value)| (number, value, &values[(number + 1) % values.len()]))
}

/// Returns a text of the greatest length that begins with `start`.
pub(crate) fn longest(start: &str, limit: usize) -> String {
    format!("{start}{}", "x".repeat(limit - start.len()))
}

/// Returns texts whose lengths are near the limit or near the lengths at which stores truncate. Two texts of each
/// length differ only in the last byte.
fn lengths(limit: usize) -> Vec<String> {
    let mut texts = vec!["é".repeat(limit / 2), "\u{1f600}".repeat(limit / 4), "'".repeat(limit)];
    for length in [63, 64, 127, 128, 200, 201, 254, 255, 256, 257, limit - 1, limit] {
        texts.push("y".repeat(length));
        texts.push(format!("{}z", "y".repeat(length - 1)));
    }
    texts.sort();
    texts.dedup();
    // The lengths of ids are not repeated for items, except at the limit of an item.
    texts.retain(|text| limit == MAX_ID_BYTES || text.len() > MAX_ID_BYTES);
    texts
}

/// Texts that stores trim, or that look empty.
const SPACES: &[&str] = &[
    "a",
    " a",
    "a ",
    "a  ",
    "\ta",
    "a\t",
    "a\n",
    "a\r\n",
    "\na",
    " ",
    "  ",
    "\t",
    "\n",
    "\u{a0}",
    "a\u{a0}",
    "a\u{200b}",
    "\u{200b}",
    "\u{feff}a",
    "\u{1}",
    "a\u{1}",
    "\u{7f}",
    "a\u{85}",
];

/// Texts that are equal in stores that ignore case.
const CASES: &[&str] =
    &["A", "Straße", "strasse", "STRASSE", "i", "I", "ı", "İ", "É", "σ", "ς", "Σ", "K", "\u{212a}", "k", "ǆ", "ǅ", "Ǆ"];

/// Texts that stores normalise, reorder or join, or that do not fit into two bytes per character.
const FORMS: &[&str] = &[
    "é",
    "e\u{301}",
    "e",
    "Å",
    "\u{212b}",
    "A\u{30a}",
    "ﬁ",
    "fi",
    "①",
    "1",
    "½",
    "한",
    "\u{1112}\u{1161}\u{11ab}",
    "שלום",
    "\u{202e}abc",
    "abc",
    "مرحبا",
    "👩‍👩‍👧",
    "👩👩👧",
    "👍🏽",
    "👍",
    "🇩🇪",
    "\u{ffff}",
    "\u{10000}",
    "\u{10ffff}",
    "\u{fffd}",
    "\u{d7ff}",
    "\u{e000}",
];

/// Texts that some language would execute, expand or match.
const SYNTAX: &[&str] = &[
    "'",
    "''",
    "\"",
    "\"\"",
    "`",
    "\\",
    "\\\\",
    "\\'",
    "'; DROP TABLE items; --",
    "' OR '1'='1",
    "a' --",
    "$1",
    "?",
    "?1",
    "@p",
    ":id",
    "%",
    "_",
    "%%",
    "a%",
    "a_",
    "*",
    "a*",
    "[a]",
    "^a$",
    ".*",
    "(?i)a",
    "a,b",
    "a;b",
    "redis.call('FLUSHALL')",
    "]]",
    "[[",
    "\\0",
    "\\x00",
    "\\u0061",
    "&amp;",
    "&#97;",
    "%61",
    "<a>",
    "${a}",
    "{{a}}",
    "#",
    "#a",
    "--",
    "/*",
    "!",
    "|",
    "~",
    "=",
    "+",
    "NULL",
    "null",
    "nil",
    "None",
    "undefined",
    "true",
    "false",
];

/// Texts that stores may mistake for numbers, some of them for equal numbers.
const NUMBERS: &[&str] = &[
    "0",
    "00",
    "-0",
    "0.0",
    "1e0",
    "01",
    "1.0",
    "+1",
    "0x1",
    "9007199254740992",
    "9007199254740993",
    "NaN",
    "Infinity",
    "-1",
    "99999999999999999999",
];

/// Separators with which stores compose keys.
const SEPARATORS: &[&str] = &[
    ":", "::", "a:", ":a", "a:b", "a::b", "a/b", "a//b", "/", "..", "../a", ".", "a.b", "{", "}", "{}", "{a}", "{a}b",
    "}{", "a#b", "a|b", "a-b", "a\u{1f}b", "a\u{1e}b",
];
