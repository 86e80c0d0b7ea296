//! URLs: the characters that a URL may hold, and the query keys that have the same meaning in every backend that
//! supports them. No error shows a value.

mod plain;

use std::borrow::Cow;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::values::error::{Error, Result};
use crate::values::time::Retention;

pub use plain::{plain, plain_url};

/// Returns the keys with their values, in order.
pub fn keys(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Returns whether a URL has this key in its query.
pub fn has_key(url: &str, key: &str) -> bool {
    url.split_once('?').is_some_and(|(_, query)| keys(query).any(|(named, _)| named == key))
}

/// Returns whether a host is this machine: `localhost` or a loopback address, with or without the brackets of IPv6.
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(|_| host.eq_ignore_ascii_case("localhost"), |address| address.to_canonical().is_loopback())
}

/// Returns the error for a key that the backend does not have. The error names the key if it is surely a key, and the
/// known keys.
pub fn unknown(key: &str, value: &str, known: &[&str]) -> Error {
    let own = match is_surely_a_key(key, value) {
        true => format!("the unknown query key `{key}`"),
        false => "an unknown query key".to_owned(),
    };
    Error::misconfigured("url", format_args!("has {own}; expected {}", listed(known, "or")))
}

/// Returns whether `key` is surely a query key, and not a piece of a password that contains a `?`. After such a
/// password, the value contains the `@` before the host.
fn is_surely_a_key(key: &str, value: &str) -> bool {
    let is_word = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_key = (3..=24).contains(&key.len()) && key.split('_').all(is_word);
    is_key && !value.is_empty() && !value.contains('@')
}

/// Parses a whole number.
///
/// # Errors
///
/// `Misconfigured` for any other text, and for a number out of the range of its type.
pub fn number<T: FromStr>(key: &'static str, value: &str) -> Result<T> {
    value.parse().map_err(|_| Error::misconfigured(key, "must be a whole number"))
}

/// Parses a duration with its unit, such as `500ms`, `10s` or `7d`; `0` needs no unit.
///
/// # Errors
///
/// `Misconfigured` for any other text, and for a duration out of range.
pub fn duration(key: &'static str, value: &str) -> Result<Duration> {
    let parsed = humantime::parse_duration(value);
    parsed.map_err(|_| Error::misconfigured(key, "must be a duration with its unit, as in `500ms`, `10s` or `7d`"))
}

/// Parses a retention: `forever`, or a duration.
///
/// # Errors
///
/// `Misconfigured` for any other text.
pub fn retention(key: &'static str, value: &str) -> Result<Retention> {
    match value {
        "forever" => Ok(Retention::Forever),
        _ => duration(key, value).map(Retention::For),
    }
}

/// Parses `on` or `off`.
///
/// # Errors
///
/// `Misconfigured` for any other text.
pub fn switch(key: &'static str, value: &str) -> Result<bool> {
    one_of(key, value, &[("on", true), ("off", false)])
}

/// Parses one of the given words and returns its meaning.
///
/// # Errors
///
/// `Misconfigured` for any other word; the error lists the words.
pub fn one_of<T: Copy>(key: &'static str, value: &str, words: &[(&str, T)]) -> Result<T> {
    if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == value) {
        return Ok(*meaning);
    }
    let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    Err(Error::misconfigured(key, format_args!("must be {}", listed(&words, "or"))))
}

/// Returns the words as a list, each in backticks, such as `a`, `b` or `c`.
fn listed(words: &[&str], before_the_last: &str) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} {before_the_last} {last}", others.join(", ")),
    }
}

/// Decodes percent-encoded text: `%2F` as `/`, and so on.
///
/// # Errors
///
/// `Misconfigured` if a `%` has no two digits after it, or the text is not UTF-8.
pub fn decoded(text: &str) -> Result<String> {
    let begins_with_digits = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !text.split('%').skip(1).all(begins_with_digits) {
        return Err(Error::misconfigured("url", "has a % without two hexadecimal digits"));
    }
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| Error::misconfigured("url", "is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T: std::fmt::Debug>(read: Result<T>) -> String {
        let error = read.unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Misconfigured);
        error.message().to_owned()
    }

    #[test]
    fn reading_any_query_does_not_panic() {
        storagebox_fuzz::texts(&["a=1&&b=2=3&c", "lease=10s&memory=7d", "x=%2F%e2%82%ac"], |query| {
            for (key, value) in keys(query) {
                let _ = (number::<u64>("key", value), duration("key", value), retention("key", value));
                let _ = (decoded(value), unknown(key, value, &["other"]).to_string());
            }
        });
    }

    #[test]
    fn query_keys_are_read_in_order_with_or_without_a_value() {
        let found: Vec<_> = keys("a=1&&b=2=3&c").collect();
        assert_eq!(found, [("a", "1"), ("b", "2=3"), ("c", "")]);
        assert_eq!(keys("").count(), 0);
        assert!(has_key("redis://host/0?a=1&key=2", "key") && !has_key("redis://key=1/0?a=key=2", "key"));
    }

    #[test]
    fn error_for_an_unknown_query_key_lists_the_known_keys() {
        let told = |key, value| unknown(key, value, &["call_timeout", "memory", "wait"]).message().to_owned();
        let known = "expected `call_timeout`, `memory` or `wait`";
        assert_eq!(told("call_timout", "9"), format!("url has the unknown query key `call_timout`; {known}"));
        for (key, value) in [
            ("hunter2", "on"),
            ("ter@host/db", ""),
            ("ter", "2@host/db"),
            ("ter", ""),
            ("x", "1"),
            ("", "1"),
            ("\u{1b}abc", "1"),
            ("abcdefghijklmnopqrstuvwxyz", "1"),
        ] {
            assert_eq!(told(key, value), format!("url has an unknown query key; {known}"), "{key}");
        }
        assert!(unknown("key", "1", &["one"]).message().ends_with("; expected `one`"));
    }

    #[test]
    fn error_for_an_unknown_word_lists_the_known_words() {
        assert_eq!(one_of("kind", "b", &[("a", 1), ("b", 2), ("c", 3)]).unwrap(), 2);
        assert_eq!(refused(one_of("kind", "d", &[("a", 1), ("b", 2), ("c", 3)])), "kind must be `a`, `b` or `c`");
        assert_eq!(refused(switch("it", "yes")), "it must be `on` or `off`");
    }

    #[test]
    fn number_refuses_all_texts_but_whole_numbers_in_range() {
        assert_eq!(number::<u8>("n", "255").unwrap(), 255);
        for value in ["", "256", "-1", "1.5", " 1", "hunter2"] {
            assert_eq!(refused(number::<u8>("n", value)), "n must be a whole number");
        }
    }

    #[test]
    fn duration_without_a_unit_is_refused() {
        for (value, millis) in [("1500ms", 1_500), ("10s", 10_000), ("1m30s", 90_000), ("7d", 604_800_000), ("0", 0)] {
            assert_eq!(duration("t", value).unwrap(), Duration::from_millis(millis), "{value}");
        }
        for value in ["", "10", "1.5", "-1s", "s", "10 parsecs", "99999999999999999999s", "hunter2"] {
            let told = "t must be a duration with its unit, as in `500ms`, `10s` or `7d`";
            assert_eq!(refused(duration("t", value)), told, "{value}");
        }
        assert_eq!(retention("memory", "60s").unwrap(), Retention::For(Duration::from_secs(60)));
        assert_eq!(retention("memory", "forever").unwrap(), Retention::Forever);
    }

    #[test]
    fn percent_escapes_are_decoded_or_refused() {
        assert_eq!(decoded("a%20b%2fc%2F%c3%A9").unwrap(), "a b/c/\u{e9}");
        for text in ["%", "%2", "%zz", "a%"] {
            assert_eq!(refused(decoded(text)), "url has a % without two hexadecimal digits");
        }
        assert_eq!(refused(decoded("%ff")), "url is not UTF-8");
    }
}
