//! Reads the URL of a broker by the rules for the URL of a store. An unknown or malformed part is an error before any
//! call. No error contains a value of the URL.

use std::net::Ipv6Addr;

use storagebox_core::backend::url::{decoded, is_loopback, keys, one_of, plain_url, unknown};
use storagebox_core::{Error, Result};

/// The form of the addresses of a transport.
pub(crate) struct Form {
    pub(crate) transport: &'static str,
    /// Each scheme, and whether the scheme is encrypted.
    pub(crate) schemes: &'static [(&'static str, bool)],
    /// The error text for an address whose scheme is not in `schemes`.
    pub(crate) beginning: &'static str,
    /// The known query keys, including `tls`.
    pub(crate) keys: &'static [&'static str],
    /// The error text for an address that would send a password in clear text.
    pub(crate) instead: &'static str,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) is_encrypted: bool,
    pub(crate) login: Option<Login>,
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    /// The decoded text after the first slash behind the host, or `None` if there is no slash.
    pub(crate) path: Option<String>,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Option<String>,
}

pub(crate) type Pair<'a> = (&'a str, &'a str);

impl Form {
    pub(crate) fn bad(&self, why: &'static str) -> Error {
        Error::misconfigured("url", why).on(self.transport)
    }

    /// Reads a URL. Returns the addresses between the commas, and the query keys other than `tls`.
    pub(crate) fn read<'a>(&self, text: &'a str) -> Result<(Vec<Address>, Vec<Pair<'a>>)> {
        plain_url(text).map_err(|error| error.on(self.transport))?;
        // `plain_url` refuses a `#`, because a driver would read the text after it as a fragment.
        let (addresses, query) = text.split_once('?').unwrap_or((text, ""));
        let addresses = addresses.split(',').map(|one| self.address(one)).collect::<Result<Vec<_>>>()?;
        let (mut pairs, mut may_be_clear) = (vec![], false);
        for (key, value) in keys(query) {
            match key {
                "tls" => may_be_clear = !one_of("tls", value, &[("off", false)]).map_err(|e| e.on(self.transport))?,
                _ if self.keys.contains(&key) => pairs.push((key, value)),
                _ => return Err(unknown(key, value, self.keys).on(self.transport)),
            }
        }
        match addresses.iter().any(Address::is_in_clear) && !may_be_clear {
            true => Err(self.bad(self.instead)),
            false => Ok((addresses, pairs)),
        }
    }

    fn address(&self, text: &str) -> Result<Address> {
        let known = |(scheme, is_encrypted): &(&str, bool)| Some((text.strip_prefix(scheme)?, *is_encrypted));
        let (rest, is_encrypted) = self.schemes.iter().find_map(known).ok_or_else(|| self.bad(self.beginning))?;
        let (authority, path) = rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
        let (login, place) = authority.rsplit_once('@').map_or((None, authority), |(login, at)| (Some(login), at));
        let (host, port) = self.host(place)?;
        let path = path.map(|path| self.decoded(path)).transpose()?;
        Ok(Address { is_encrypted, login: login.map(|login| self.login(login)).transpose()?, host, port, path })
    }

    /// Returns the host, without the brackets of an IPv6 address, and the port.
    fn host(&self, place: &str) -> Result<(String, Option<u16>)> {
        let bracketed = place.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let bracketed = bracketed.filter(|(host, _)| host.parse::<Ipv6Addr>().is_ok());
        let (host, port) = bracketed.unwrap_or_else(|| place.split_at(place.find(':').unwrap_or(place.len())));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_host = bracketed.is_some() || !host.is_empty() && host.bytes().all(is_name);
        let port = match port.strip_prefix(':') {
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok().filter(|port| *port > 0),
            None if port.is_empty() => return self.named(is_host, host, None),
            _ => None,
        };
        self.named(is_host && port.is_some(), host, port)
    }

    fn named(&self, is_right: bool, host: &str, port: Option<u16>) -> Result<(String, Option<u16>)> {
        match is_right {
            true => Ok((host.to_owned(), port)),
            false => Err(self.bad(
                "has no host and port that can be read; write @, :, / and % of a password as %40, %3A, %2F and %25",
            )),
        }
    }

    fn login(&self, login: &str) -> Result<Login> {
        let (user, password) = login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
        if user.is_empty() {
            return Err(self.bad("has no user before the @"));
        }
        let password = password.map(|password| self.decoded(password)).transpose()?;
        Ok(Login { user: self.decoded(user)?, password })
    }

    fn decoded(&self, text: &str) -> Result<String> {
        decoded(text).map_err(|error| error.on(self.transport))
    }
}

impl Address {
    /// Returns whether the address would send its login over the network unencrypted.
    fn is_in_clear(&self) -> bool {
        self.login.is_some() && !self.is_encrypted && !is_loopback(&self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form {
        transport: "test",
        schemes: &[("plain://", false), ("secret://", true)],
        beginning: "must begin with plain:// or secret://",
        keys: &["beat", "tls"],
        instead: "sends the password in clear",
    };

    fn why(text: &str) -> String {
        let error = FORM.read(text).err().unwrap_or_else(|| panic!("{text:?} is read"));
        assert_eq!(error.kind(), storagebox_core::ErrorKind::Misconfigured);
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        error.message().to_owned()
    }

    fn one(text: &str) -> Address {
        FORM.read(text).unwrap().0.remove(0)
    }

    #[test]
    fn every_component_of_an_address_is_read() {
        let read = one("secret://ann%40x:p%3Ass@[2001:db8::1]:77/a%2fb?beat=9");
        let login = read.login.clone().unwrap();
        assert_eq!((login.user.as_str(), login.password.as_deref()), ("ann@x", Some("p:ss")));
        assert_eq!((read.host.as_str(), read.port, read.path.as_deref()), ("2001:db8::1", Some(77), Some("a/b")));
        let read = one("plain://host");
        assert_eq!((read.host.as_str(), read.port, read.path.as_deref()), ("host", None, None));
        assert_eq!(FORM.read("plain://a,plain://b:2?beat=9&beat=8").unwrap().1, [("beat", "9"), ("beat", "8")]);
    }

    #[test]
    fn error_for_an_invalid_address_does_not_show_the_address() {
        for (text, because) in [
            ("", "must begin with"),
            ("hunter2", "must begin with"),
            ("other://ann:hunter2@host", "must begin with"),
            ("plain://a,hunter2@b", "must begin with"),
            ("plain://ann:hunter2@127.0.0.1#x", "must not contain a #"),
            ("plain://ann:hunter2@127.0.0.1\n", "ends with a line feed"),
            ("plain://ann:hun\tter2@127.0.0.1", "U+0009"),
            (" plain://ann:hunter2@127.0.0.1", "begins with"),
            ("plain://ann:hunter2@127.0.0.1\u{a0}", "ends with"),
            ("plain://", "no host"),
            ("plain://ann:hunter2@", "no host"),
            ("plain://ann:hunter2@:7", "no host"),
            ("plain://::1:7", "no host"),
            ("plain://[hunter2]:7", "no host"),
            ("plain://[::1]7", "no host"),
            ("plain://127.0.0.1:", "no host"),
            ("plain://127.0.0.1:+7", "no host"),
            ("plain://127.0.0.1:0", "no host"),
            ("plain://127.0.0.1:65536", "no host"),
            ("plain://ann:hun/ter2@127.0.0.1", "no host"),
            ("plain://ho st", "no host"),
            ("plain://:hunter2@127.0.0.1", "no user"),
            ("plain://ann:hunter2%@127.0.0.1", "hexadecimal"),
            ("plain://127.0.0.1?bead=hunter2", "the unknown query key `bead`"),
            ("plain://127.0.0.1?tls=hunter2", "tls must be `off`"),
        ] {
            assert!(why(text).contains(because), "{text:?}: {}", why(text));
        }
    }

    #[test]
    fn clear_text_login_to_another_machine_is_refused_by_default() {
        for far in ["db.example.com", "10.0.0.1", "[2001:db8::1]", "127.0.0.1.example.com"] {
            assert!(why(&format!("plain://ann:hunter2@{far}")).contains("in clear"), "{far}");
            assert!(why(&format!("plain://hunter2@{far}:7/x")).contains("in clear"), "{far}");
            for good in [
                format!("secret://ann:hunter2@{far}"),
                format!("plain://ann:hunter2@{far}?tls=off"),
                format!("plain://{far}"),
            ] {
                assert!(FORM.read(&good).is_ok(), "{good}");
            }
        }
        for near in ["localhost", "127.0.0.1", "[::1]"] {
            assert!(FORM.read(&format!("plain://ann:hunter2@{near}:7")).is_ok(), "{near}");
        }
        assert!(why("plain://ann:hunter2@localhost,plain://ann:hunter2@far").contains("in clear"));
    }
}
