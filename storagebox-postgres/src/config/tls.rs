//! How a server proves who it is. By default, the driver would send a password to any server that answers.

use std::env::{self, VarError};
use std::mem::discriminant;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use storagebox_core::Result;
use storagebox_core::backend::url::is_loopback;

use super::url::SYSTEM;
use crate::error::bad;

/// The sources of the TLS mode and of the CA; `None` for a setting that neither the URL nor the environment sets.
pub(super) struct Said {
    mode: Option<By>,
    authority: Option<By>,
}

/// The source of a setting. The URL takes precedence over the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Url,
    Environment,
}

impl Said {
    /// Reads the settings from the environment and the URL. Returns an error if the driver has another mode than the
    /// URL.
    pub(super) fn by(pairs: &[(&str, &str)], options: &PgConnectOptions) -> Result<Self> {
        let value = |key| pairs.iter().rev().find(|pair| pair.0 == key).map(|pair| pair.1);
        let (mode, authority) = (variable("PGSSLMODE")?, variable("PGSSLROOTCERT")?);
        readable(mode.as_deref())?;
        understood(value("sslmode"), options.get_ssl_mode())?;
        Ok(Self { mode: by(value("sslmode"), mode), authority: by(value("sslrootcert"), authority) })
    }
}

/// Refuses `sslrootcert=system` with any mode except `verify-full`.
pub(super) fn check_system(pairs: &[(&str, &str)]) -> Result<()> {
    let value = |key| pairs.iter().rev().find(|pair| pair.0 == key).map(|pair| pair.1);
    // Public authorities sign certificates for every host, so the host name in the certificate must be checked.
    let is_weak = value("sslmode").is_some_and(|mode| !mode.eq_ignore_ascii_case("verify-full"));
    match value("sslrootcert") == Some(SYSTEM) && is_weak {
        true => Err(bad("sslmode", "must be `verify-full` with sslrootcert=system")),
        false => Ok(()),
    }
}

fn by(url: Option<&str>, variable: Option<String>) -> Option<By> {
    url.map(|_| By::Url).or(variable.map(|_| By::Environment))
}

/// Returns the value of an environment variable. Refuses a value that is not UTF-8, because the driver would ignore it.
fn variable(name: &'static str) -> Result<Option<String>> {
    match env::var(name) {
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(bad(name, "is not UTF-8; correct or unset it")),
    }
}

/// Refuses a mode in `PGSSLMODE` that the driver cannot read, because the driver would ignore it.
fn readable(variable: Option<&str>) -> Result<()> {
    match variable.map(str::parse::<PgSslMode>) {
        Some(Err(_)) => Err(bad("PGSSLMODE", "is not one of the driver's modes, such as `verify-full`")),
        _ => Ok(()),
    }
}

/// Refuses a mode in the URL that the driver ignored.
fn understood(said: Option<&str>, found: PgSslMode) -> Result<()> {
    let is_found = |said: &str| said.parse().is_ok_and(|said: PgSslMode| discriminant(&said) == discriminant(&found));
    match said.is_none_or(is_found) {
        true => Ok(()),
        false => Err(bad("sslmode", "is not a mode that the driver can read; write it out, such as `verify-full`")),
    }
}

/// Returns the options with a TLS mode that is at least as strict as the settings and the defaults require.
pub(super) fn secured(options: PgConnectOptions, said: &Said) -> PgConnectOptions {
    if options.get_socket().is_some() || options.get_host().starts_with('/') {
        return options;
    }
    let mode = mode(options.get_ssl_mode(), said, is_loopback(options.get_host()));
    options.ssl_mode(mode)
}

/// Returns the required TLS mode. A CA in the URL overrides a mode in the environment.
fn mode(found: PgSslMode, said: &Said, is_loopback: bool) -> PgSslMode {
    match found {
        _ if said.authority == Some(By::Url) && said.mode != Some(By::Url) => PgSslMode::VerifyFull,
        PgSslMode::VerifyCa => found,
        PgSslMode::Disable if said.mode.is_some() => found,
        _ if said.authority.is_some() => PgSslMode::VerifyFull,
        _ if said.mode.is_some() || is_loopback => found,
        _ => PgSslMode::Require,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(said: Option<&str>, authority: bool, host: &str) -> String {
        let found = said.map_or(PgSslMode::Prefer, |mode| mode.parse().unwrap());
        let said = Said { mode: said.map(|_| By::Url), authority: authority.then_some(By::Url) };
        format!("{:?}", mode(found, &said, is_loopback(host)))
    }

    #[test]
    fn password_to_another_machine_is_encrypted_by_default() {
        for near in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1"] {
            assert_eq!(of(None, false, near), "Prefer", "{near}");
        }
        for far in ["db.example.com", "10.0.0.1", "0.0.0.0", "::", "localhost.example.com", "127.0.0.1.example.com"] {
            assert_eq!(of(None, false, far), "Require", "{far}");
            assert_eq!(of(Some("prefer"), false, far), "Prefer", "{far}");
            assert_eq!(of(Some("disable"), false, far), "Disable", "{far}");
            assert_eq!(of(Some("verify-full"), false, far), "VerifyFull", "{far}");
        }
    }

    #[test]
    fn named_ca_verifies_the_server_unless_sslmode_is_disable() {
        for host in ["localhost", "db.example.com"] {
            for said in [None, Some("allow"), Some("prefer"), Some("require"), Some("verify-full")] {
                assert_eq!(of(said, true, host), "VerifyFull", "{said:?}");
            }
            assert_eq!(of(Some("verify-ca"), true, host), "VerifyCa");
            assert_eq!(of(Some("disable"), true, host), "Disable");
        }
    }

    #[test]
    fn unreadable_pgsslmode_is_refused() {
        assert!(readable(None).is_ok() && readable(Some("verify-full")).is_ok());
        assert!(readable(Some("verify_full")).is_err());
    }

    #[test]
    fn sslmode_that_the_driver_did_not_read_is_refused() {
        assert!(understood(None, PgSslMode::Prefer).is_ok());
        assert!(understood(Some("Verify-Full"), PgSslMode::VerifyFull).is_ok());
        for said in ["verify-full", "disable", "verify%2Dfull", ""] {
            assert!(understood(Some(said), PgSslMode::Prefer).is_err(), "{said}");
        }
    }

    #[test]
    fn ca_in_the_url_overrides_the_mode_in_the_environment() {
        let of = |found, authority| {
            let said = Said { mode: Some(By::Environment), authority: Some(authority) };
            format!("{:?}", mode(found, &said, false))
        };
        for found in [PgSslMode::Disable, PgSslMode::Prefer, PgSslMode::VerifyCa] {
            assert_eq!(of(found, By::Url), "VerifyFull");
        }
        assert_eq!(of(PgSslMode::Disable, By::Environment), "Disable");
        assert_eq!(of(PgSslMode::VerifyCa, By::Environment), "VerifyCa");
    }
}
