//! The address of a server, read from a URL of the form `SCHEME://USER:PASSWORD@HOST:PORT`.

use std::{fmt, io};

use crate::failure::Failure;

/// The form of the URLs of one kind of server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// The form, as error messages show it.
    pub(crate) text: &'static str,
    /// The scheme with the two slashes after it.
    pub(crate) scheme: &'static str,
    /// The port of a URL that contains no port.
    pub(crate) port: &'static str,
}

impl Form {
    /// Calls `ask` with the host and the port of a URL.
    pub(crate) fn ask<T>(&'static self, url: &str, ask: impl FnOnce(&str, u16) -> io::Result<T>) -> io::Result<T> {
        let Address { host, port, .. } = Address::parse(self, url).map_err(io::Error::other)?;
        ask(&host, port)
    }
}

/// The host and the port of a URL, without the login.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address {
    form: &'static Form,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    pub(crate) fn new(form: &'static Form, host: &str, port: u16) -> Self {
        Self { form, host: host.to_owned(), port }
    }

    /// Parses a URL. Ignores everything after the port.
    pub(crate) fn parse(form: &'static Form, text: &str) -> Result<Self, Failure> {
        let wrong = |why| Failure::Url { form: form.text, why };
        let rest = text.strip_prefix(form.scheme).ok_or(wrong("it has another scheme"))?;
        let server = rest.split(['/', '?']).next().unwrap_or(rest);
        let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
        let (host, port) = server.rsplit_once(':').unwrap_or((server, form.port));
        let port = port.parse().map_err(|_| wrong("its port is not a number"))?;
        if host.is_empty() {
            return Err(wrong("it names no host"));
        }
        Ok(Self::new(form, host.trim_matches(['[', ']']), port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}:{}", self.form.scheme, self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FORM: Form = Form { text: "queue://HOST:PORT", scheme: "queue://", port: "70" };

    #[test]
    fn a_parsed_url_is_shown_without_its_login() {
        let shown = |text| Address::parse(&FORM, text).unwrap().to_string();
        assert_eq!(shown("queue://ann:secret@broker:7000/%2f?x=1"), "queue://broker:7000");
        assert_eq!(shown("queue://broker"), "queue://broker:70");
        assert_eq!(Address::parse(&FORM, "queue://[::1]:7000").unwrap().host, "::1");
    }

    #[test]
    fn an_invalid_url_is_refused() {
        for text in ["", "postgres://a@b/c", "queue://", "queue://:1", "queue://h:x"] {
            assert!(matches!(Address::parse(&FORM, text), Err(Failure::Url { .. })), "{text}");
        }
    }
}
