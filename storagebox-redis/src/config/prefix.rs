//! The prefix of all keys of a store.

use std::fmt;

use storagebox_core::Result;

use crate::error::bad;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefix(String);

impl Default for Prefix {
    fn default() -> Self {
        Self("storagebox".to_owned())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Prefix {
    /// Refuses every character except ASCII letters, digits and `_-.:`. Redis would read braces as a hash tag, and `*`
    /// as a pattern.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
        if (1..=64).contains(&prefix.len()) && prefix.bytes().all(is_plain) {
            return Ok(Self(prefix.to_owned()));
        }
        Err(bad("prefix", "must be 1 to 64 of a-z, A-Z, 0-9, _, -, . and :"))
    }

    /// Returns the key of the data that belongs to no namespace.
    pub(crate) fn store(&self) -> String {
        format!("{self}:{{store}}")
    }

    /// Returns the key of the namespace with this [`tag`].
    pub(crate) fn of(&self, tag: &str) -> String {
        // The braces put all keys of the namespace into one slot of a cluster.
        format!("{self}:{{{tag}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_with_special_characters_is_refused() {
        for good in ["storagebox", "shop:live", "A.b-c_9"] {
            assert_eq!(Prefix::new(good).unwrap().of("b.a.0"), format!("{good}:{{b.a.0}}"));
        }
        for bad in ["", "{a}", "a{", "a}", "a*", "a?", "[a]", "a^", "a\\", "a|", "a b", "a\n", "é", &"a".repeat(65)] {
            assert!(Prefix::new(bad).is_err(), "{bad}");
        }
    }
}
