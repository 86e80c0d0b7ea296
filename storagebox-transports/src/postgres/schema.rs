//! The name of the schema.

use storagebox_core::{Error, Result};

/// The name of a schema that needs no quotes in a statement.
#[derive(Clone, Debug)]
pub(super) struct Schema(String);

impl Default for Schema {
    fn default() -> Self {
        Self("storagebox_queues".to_owned())
    }
}

impl Schema {
    /// Checks that the name cannot inject a statement, and that PostgreSQL does not silently truncate the name.
    pub(super) fn new(name: &str) -> Result<Self> {
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
        let why =
            "must be 1 to 40 of a-z, 0-9 and _, begin with a letter or _, and not with pg_; it must not be public";
        Err(Error::misconfigured("schema", why).on("postgres"))
    }

    /// Replaces `{schema}` in the text with the name of the schema.
    pub(super) fn fill(&self, sql: &str) -> String {
        sql.replace("{schema}", &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_schema_name_is_refused() {
        for name in ["", "1a", "A", "a b", "a;b", "a\"b", "é", "pg_x", "public", &"a".repeat(41)] {
            assert!(Schema::new(name).is_err(), "{name}");
        }
        assert_eq!(Schema::new("_a1").unwrap().fill("{schema}.messages"), "_a1.messages");
    }
}
