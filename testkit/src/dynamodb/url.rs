//! The address of DynamoDB, read from a URL.

use std::fmt;

use crate::failure::Failure;
use crate::url::decoded;

const FORM: &str = "dynamodb://REGION/TABLE?endpoint=http://HOST:PORT, without the endpoint for Amazon's own";

/// The parts of a URL that say where the tables are. A URL never contains keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    region: String,
    table: String,
    /// The server, or `None` for Amazon's own service in the region.
    pub(super) server: Option<Server>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Url {
    /// Returns the URL of a local server, which accepts any region.
    pub(super) fn local(host: &str, port: u16) -> Self {
        let server = Some(Server { host: host.to_owned(), port });
        Self { region: "us-east-1".to_owned(), table: "storagebox".to_owned(), server }
    }

    /// Parses a URL. Ignores all parameters except the endpoint.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let rest = text.strip_prefix("dynamodb://").ok_or(wrong("it has another scheme"))?;
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (region, table) = place.split_once('/').ok_or(wrong("it names no table"))?;
        if region.is_empty() || table.is_empty() {
            return Err(wrong("it names no region or no table"));
        }
        let endpoint = options.split('&').find_map(|option| option.strip_prefix("endpoint="));
        let server = endpoint.map(Server::parse).transpose()?;
        Ok(Self { region: region.to_owned(), table: table.to_owned(), server })
    }
}

impl Server {
    fn parse(endpoint: &str) -> Result<Self, Failure> {
        let endpoint = decoded(endpoint).ok_or(wrong("it contains an invalid % escape"))?;
        let rest = endpoint.strip_prefix("http://").ok_or(wrong("its endpoint does not begin with http://"))?;
        let (host, port) = rest.trim_end_matches('/').rsplit_once(':').ok_or(wrong("its port is missing"))?;
        let port = port.parse().map_err(|_| wrong("its port is not a number"))?;
        if host.is_empty() || host.contains(['/', '@']) {
            return Err(wrong("its endpoint must be a host and a port only"));
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

fn wrong(why: &'static str) -> Failure {
    Failure::Url { form: FORM, why }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dynamodb://{}/{}", self.region, self.table)?;
        match &self.server {
            Some(Server { host, port }) => write!(f, "?endpoint=http://{host}:{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_url_is_parsed_to_the_same_parts() {
        let url = Url::local("127.0.0.1", 99);
        assert_eq!(url.to_string(), "dynamodb://us-east-1/storagebox?endpoint=http://127.0.0.1:99");
        assert_eq!(Url::parse(&url.to_string()).unwrap(), url);
    }

    #[test]
    fn an_endpoint_may_be_escaped_and_may_be_absent() {
        let parsed = |text| Url::parse(text).unwrap();
        let local = parsed("dynamodb://us-east-1/storagebox?x=1&endpoint=http%3A%2F%2Fh%3A8000/");
        assert_eq!(local, Url::local("h", 8000));
        let amazon = parsed("dynamodb://eu-west-1/mine");
        assert_eq!((amazon.region.as_str(), amazon.table.as_str(), amazon.server), ("eu-west-1", "mine", None));
    }

    #[test]
    fn an_invalid_url_is_refused() {
        for text in [
            "",
            "postgres://a@b/c",
            "dynamodb://us-east-1",
            "dynamodb:///table",
            "dynamodb://us-east-1/?endpoint=http://h:1",
            "dynamodb://us-east-1/t?endpoint=https://h:1",
            "dynamodb://us-east-1/t?endpoint=http://h",
            "dynamodb://us-east-1/t?endpoint=http://h:x",
            "dynamodb://us-east-1/t?endpoint=http://key:secret@h:1",
        ] {
            assert!(matches!(Url::parse(text), Err(Failure::Url { .. })), "{text}");
        }
    }
}
