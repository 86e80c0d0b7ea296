//! The name of the schema.

use std::fmt;

use storagebox_core::Result;

use crate::error::bad;

/// The name of the schema that contains all objects of a store. Defaults to `storagebox`. It needs no quotes in SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema(String);

impl Default for Schema {
    fn default() -> Self {
        Self("storagebox".to_owned())
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Schema {
    /// Checks the name, so that it cannot add a statement. Postgres would silently cut a longer name.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` unless the name has 1 to 40 of the characters `a` to `z`, `0` to `9` and `_`, and begins
    /// with a letter or `_`. Also returns `Misconfigured` for `public`, where other roles may create objects.
    pub fn new(name: &str) -> Result<Self> {
        let is_first = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        let is_rest = |byte: u8| is_first(byte) || byte.is_ascii_digit();
        let fits = (1..=40).contains(&name.len())
            && name.bytes().take(1).all(is_first)
            && name.bytes().all(is_rest)
            && !name.starts_with("pg_")
            && name != "public";
        if fits {
            return Ok(Self(name.to_owned()));
        }
        Err(bad(
            "schema",
            "must be 1 to 40 of a-z, 0-9 and _, begin with a letter or _, but not with pg_, which is reserved; it \
            must not be public, which all users share",
        ))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Replaces `{schema}` in the SQL text with this name.
    pub(crate) fn fill(&self, sql: &str) -> String {
        sql.replace("{schema}", &self.0)
    }
}
