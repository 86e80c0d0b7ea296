//! The address of a PostgreSQL server, read from a URL.

use std::fmt;

use crate::failure::Failure;

const FORM: &str = "postgres://USER:PASSWORD@HOST:PORT/DATABASE";

/// The parts of `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. `Display` and `Debug` leave out the password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: String,
}

impl Url {
    /// Returns the URL of a server on this machine whose user, password and database have the same name.
    pub(crate) fn local(name: &str, port: u16) -> Self {
        let [user, password, database] = [(); 3].map(|()| name.to_owned());
        Self { user, password, host: "127.0.0.1".to_owned(), port, database }
    }

    /// Parses a URL. Ignores everything after a question mark.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |why| Failure::Url { form: FORM, why };
        let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
        let rest = rest.ok_or(wrong("it has another scheme"))?;
        let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
        let (server, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, server) = server.rsplit_once('@').ok_or(wrong("it names no user"))?;
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = host_and_port(server).ok_or(wrong("its port is not a number"))?;
        let decoded = |text| decoded(text).ok_or(wrong("it contains an invalid % escape"));
        let (user, password, database) = (decoded(user)?, decoded(password)?, decoded(database)?);
        if user.is_empty() || host.is_empty() {
            return Err(wrong("it names no user or no host"));
        }
        let database = if database.is_empty() { user.clone() } else { database };
        Ok(Self { user, password, host: host.to_owned(), port, database })
    }
}

impl Url {
    /// Returns the URL with its password, which only a driver may get.
    pub(crate) fn with_password(&self) -> String {
        let [user, password, database] = [&self.user, &self.password, &self.database].map(|part| encoded(part));
        format!("postgres://{user}:{password}@{}:{}/{database}", self.host, self.port)
    }
}

fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// Splits `HOST:PORT`. A host in brackets is an IPv6 address.
fn host_and_port(server: &str) -> Option<(&str, u16)> {
    let (host, port) = match server.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => server.find(':').map_or((server, ""), |colon| server.split_at(colon)),
    };
    match port {
        "" => Some((host, 5432)),
        port => Some((host, port.strip_prefix(':')?.parse().ok()?)),
    }
}

/// Decodes the percent escapes of a text. Returns `None` for an invalid escape.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = vec![];
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' { hexadecimal(rest.next()?, rest.next()?)? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}@{}:{}/{}", self.user, self.host, self.port, self.database)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str, port: u16, database: &str) -> Url {
        let (user, password) = ("ann".to_owned(), "a:b/c".to_owned());
        Url { user, password, host: host.to_owned(), port, database: database.to_owned() }
    }

    #[test]
    fn a_url_is_parsed_into_its_parts() {
        let parsed = |text| Url::parse(text).unwrap();
        assert_eq!(
            parsed("postgres://ann:a%3Ab%2fc@db.test:99/namespace?sslmode=require"),
            url("db.test", 99, "namespace")
        );
        assert_eq!(parsed("postgresql://ann:a%3Ab%2fc@[::1]"), url("::1", 5432, "ann"));
    }

    #[test]
    fn a_written_url_is_parsed_to_the_same_parts() {
        let url = url("h", 1, "säule/%");
        assert_eq!(Url::parse(&url.with_password()).unwrap(), url);
    }

    #[test]
    fn an_invalid_url_is_refused() {
        for text in ["", "mysql://a@b", "postgres://host/db", "postgres://a@h:x/d", "postgres://a%z@h", "postgres://@h"]
        {
            assert!(matches!(Url::parse(text), Err(Failure::Url { .. })), "{text}");
        }
    }

    #[test]
    fn the_password_is_not_shown() {
        let shown = format!("{0} {0:?}", url("h", 1, "d"));
        assert_eq!(shown, "postgres://ann@h:1/d postgres://ann@h:1/d");
    }
}
