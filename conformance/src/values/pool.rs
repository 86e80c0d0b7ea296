//! Texts that stores have been known to mistake for each other, for syntax, or for something shorter.

use storagebox_core::{MAX_ID_BYTES, MAX_ITEM_BYTES};

/// Texts for any id, key or name: all different by their bytes, none longer than an id may be.
pub(crate) fn nasty_texts() -> Vec<String> {
    let short = [SPACES, CASES, FORMS, SYNTAX, NUMBERS, SEPARATORS].concat();
    let mut texts: Vec<_> = short.into_iter().map(str::to_owned).collect();
    texts.extend(lengths(MAX_ID_BYTES));
    texts
}

/// Texts for items: those for ids, and some of an item's own greatest length.
pub(crate) fn nasty_items() -> Vec<String> {
    let mut texts = nasty_texts();
    texts.extend(lengths(MAX_ITEM_BYTES));
    texts
}

/// Each text with the one after it, which is alike where texts are.
pub(super) fn pairs<T>(values: &[T]) -> impl Iterator<Item = (usize, &T, &T)> {
    values.iter().enumerate().map(|(number, value)| (number, value, &values[(number + 1) % values.len()]))
}

/// The longest text of a limit, starting with something of one's own.
pub(crate) fn longest(start: &str, limit: usize) -> String {
    format!("{start}{}", "x".repeat(limit - start.len()))
}

/// Around the limit and the lengths at which stores cut, alike but for their ends.
fn lengths(limit: usize) -> Vec<String> {
    let mut texts = vec!["é".repeat(limit / 2), "\u{1f600}".repeat(limit / 4), "'".repeat(limit)];
    for length in [63, 64, 127, 128, 200, 201, 254, 255, 256, 257, limit - 1, limit] {
        texts.push("y".repeat(length));
        texts.push(format!("{}z", "y".repeat(length - 1)));
    }
    texts.sort();
    texts.dedup();
    // An id's lengths are met again among an item's, except for those at its limit.
    texts.retain(|text| limit == MAX_ID_BYTES || text.len() > MAX_ID_BYTES);
    texts
}

/// What is trimmed, or looks as if there were nothing.
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

/// What is folded.
const CASES: &[&str] =
    &["A", "Straße", "strasse", "STRASSE", "i", "I", "ı", "İ", "É", "σ", "ς", "Σ", "K", "\u{212a}", "k", "ǆ", "ǅ", "Ǆ"];

/// What is normalised, reordered, joined, or has no place in two bytes.
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

/// What some language would run, expand or match.
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

/// What is taken for a number, and for the same one.
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

/// What keys are put together with.
const SEPARATORS: &[&str] = &[
    ":", "::", "a:", ":a", "a:b", "a::b", "a/b", "a//b", "/", "..", "../a", ".", "a.b", "{", "}", "{}", "{a}", "{a}b",
    "}{", "a#b", "a|b", "a-b", "a\u{1f}b", "a\u{1e}b",
];
