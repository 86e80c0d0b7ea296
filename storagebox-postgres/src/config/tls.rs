//! How far a server is believed. Where nothing was said, the driver would send a password to whoever answers.

use std::env;
use std::net::IpAddr;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use storagebox_core::Result;

use super::bad;

/// What was said about encryption, by the URL or else by the environment.
pub(super) struct Said {
    mode: bool,
    authority: bool,
}

impl Said {
    /// By these keys of the URL.
    pub(super) fn by(keys: &[&str]) -> Result<Self> {
        let said = |key, variable| keys.contains(&key) || env::var_os(variable).is_some();
        check(env::var("PGSSLMODE").ok().as_deref())?;
        Ok(Self { mode: said("sslmode", "PGSSLMODE"), authority: said("sslrootcert", "PGSSLROOTCERT") })
    }
}

/// The driver would take a mode that it cannot read for none.
fn check(variable: Option<&str>) -> Result<()> {
    match variable.map(str::parse::<PgSslMode>) {
        Some(Err(_)) => Err(bad("PGSSLMODE", "is none of the driver's modes, such as `verify-full`")),
        _ => Ok(()),
    }
}

/// The options, with what refuses where the driver's defaults would not.
pub(super) fn secured(options: PgConnectOptions, said: &Said) -> PgConnectOptions {
    if options.get_socket().is_some() || options.get_host().starts_with('/') {
        return options;
    }
    let mode = mode(options.get_ssl_mode(), said, is_loopback(options.get_host()));
    options.ssl_mode(mode)
}

/// An authority is named to be asked; a password goes to another machine encrypted, unless it was said otherwise.
fn mode(found: PgSslMode, said: &Said, is_loopback: bool) -> PgSslMode {
    match found {
        PgSslMode::VerifyCa => found,
        PgSslMode::Disable if said.mode => found,
        _ if said.authority => PgSslMode::VerifyFull,
        _ if said.mode || is_loopback => found,
        _ => PgSslMode::Require,
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(
        |_| host.eq_ignore_ascii_case("localhost"),
        |address| address.to_canonical().is_loopback(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mode for a host, from what a URL says of it.
    fn of(said: Option<&str>, authority: bool, host: &str) -> String {
        let found = said.map_or(PgSslMode::Prefer, |mode| mode.parse().unwrap());
        format!("{:?}", mode(found, &Said { mode: said.is_some(), authority }, is_loopback(host)))
    }

    #[test]
    fn a_password_goes_to_another_machine_encrypted_unless_it_was_said_otherwise() {
        for near in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1"] {
            assert_eq!(of(None, false, near), "Prefer", "{near}");
        }
        for far in
            ["db.example.com", "10.0.0.1", "0.0.0.0", "::", "localhost.example.com", "127.0.0.1.example.com"]
        {
            assert_eq!(of(None, false, far), "Require", "{far}");
            assert_eq!(of(Some("prefer"), false, far), "Prefer", "{far}");
            assert_eq!(of(Some("disable"), false, far), "Disable", "{far}");
            assert_eq!(of(Some("verify-full"), false, far), "VerifyFull", "{far}");
        }
    }

    #[test]
    fn an_authority_that_is_named_is_asked() {
        for host in ["localhost", "db.example.com"] {
            for said in [None, Some("allow"), Some("prefer"), Some("require"), Some("verify-full")] {
                assert_eq!(of(said, true, host), "VerifyFull", "{said:?}");
            }
            assert_eq!(of(Some("verify-ca"), true, host), "VerifyCa");
            assert_eq!(of(Some("disable"), true, host), "Disable");
        }
    }

    #[test]
    fn a_mode_in_the_environment_that_cannot_be_read_is_refused() {
        assert!(check(None).is_ok() && check(Some("verify-full")).is_ok());
        assert!(check(Some("verify_full")).is_err());
    }
}
