//! What all keys of a store begin with.

use std::fmt;

use storagebox_core::Result;

use crate::error::bad;

/// What all keys of a store begin with.
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
    /// Checks the prefix: a brace in it would be taken for a hash tag, and a star for a pattern.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
        if (1..=64).contains(&prefix.len()) && prefix.bytes().all(is_plain) {
            return Ok(Self(prefix.to_owned()));
        }
        Err(bad("prefix", "must be 1 to 64 of a-z, A-Z, 0-9, _, -, . and :"))
    }

    /// The key of what belongs to no namespace.
    pub(crate) fn store(&self) -> String {
        format!("{self}:{{store}}")
    }

    /// The key of a namespace by what [`tag`] made of it. The braces make all keys of a namespace go to one slot of a
    /// cluster.
    pub(crate) fn of(&self, tag: &str) -> String {
        format!("{self}:{{{tag}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_plain() {
        for good in ["storagebox", "shop:live", "A.b-c_9"] {
            assert_eq!(Prefix::new(good).unwrap().of("b.a.0"), format!("{good}:{{b.a.0}}"));
        }
        for bad in ["", "{a}", "a{", "a}", "a*", "a?", "[a]", "a^", "a\\", "a|", "a b", "a\n", "é", &"a".repeat(65)] {
            assert!(Prefix::new(bad).is_err(), "{bad}");
        }
    }
}
