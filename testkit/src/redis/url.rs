//! The address of a Redis server, read from a URL.

use std::fmt;

use crate::failure::Failure;

const FORM: &str = "redis://USER:PASSWORD@HOST:PORT";

/// The parts of `redis://USER:PASSWORD@HOST:PORT`. It is shown without the login.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Url {
    /// Parses a URL. What follows the port is for the driver only.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |why| Failure::Url { form: FORM, why };
        let rest = text.strip_prefix("redis://").ok_or(wrong("it begins otherwise"))?;
        let server = rest.split(['/', '?']).next().unwrap_or(rest);
        let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
        let (host, port) = server.rsplit_once(':').unwrap_or((server, "6379"));
        let port = port.parse().map_err(|_| wrong("its port is no number"))?;
        if host.is_empty() {
            return Err(wrong("it names no host"));
        }
        Ok(Self { host: host.trim_matches(['[', ']']).to_owned(), port })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "redis://{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_and_shown_without_its_login() {
        let shown = |text| Url::parse(text).unwrap().to_string();
        assert_eq!(shown("redis://ann:secret@db:7000/0?x=1"), "redis://db:7000");
        assert_eq!(shown("redis://db"), "redis://db:6379");
        assert_eq!(Url::parse("redis://[::1]:7000").unwrap().host, "::1");
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for text in ["", "postgres://a@b/c", "redis://", "redis://:1", "redis://h:x"] {
            assert!(matches!(Url::parse(text), Err(Failure::Url { .. })), "{text}");
        }
    }
}
