//! Checks the environment variables that the driver reads for parts that the URL lacks. They may supply a login, but
//! never the server or the database: otherwise two programs with the same URL could use different stores.

use std::env;

use storagebox_core::Result;

use crate::error::bad;

/// Whether the URL names the host, the port, the user and the database. The driver takes the missing parts from
/// environment variables.
#[derive(Debug, Default, PartialEq, Eq)]
struct Named {
    host: bool,
    port: bool,
    user: bool,
    database: bool,
}

/// Refuses a URL that leaves the server or the database to an environment variable of this process.
pub(super) fn check(address: &str, pairs: &[(&str, &str)]) -> Result<()> {
    check_with(&Named::by(address, pairs), |variable| env::var_os(variable).is_some())
}

impl Named {
    /// Finds the parts that the URL names before its `?` or in the driver's keys.
    fn by(address: &str, pairs: &[(&str, &str)]) -> Self {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, server) = authority.rsplit_once('@').unwrap_or(("", authority));
        // The colons of an IPv6 address are inside its brackets.
        let after = server.rfind(']').map_or(0, |end| end + 1);
        let port = server[after..].rfind(':').map(|colon| after + colon);
        let has = |keys: &[&str]| pairs.iter().any(|(key, _)| keys.contains(key));
        Self {
            host: !server[..port.unwrap_or(server.len())].is_empty() || has(&["host", "hostaddr"]),
            port: port.is_some_and(|colon| colon + 1 < server.len()) || has(&["port"]),
            user: !login.split(':').next().unwrap_or_default().is_empty() || has(&["user"]),
            database: !path.trim_start_matches('/').is_empty() || has(&["dbname"]),
        }
    }
}

fn check_with(named: &Named, is_set: impl Fn(&str) -> bool) -> Result<()> {
    let first = |variables: &[&'static str]| variables.iter().copied().find(|variable| is_set(variable));
    // A database that is not named has the name of the user.
    let database = if named.user { &["PGDATABASE"][..] } else { &["PGDATABASE", "PGUSER"] };
    let left = [
        ("host", named.host, &["PGHOSTADDR", "PGHOST"][..]),
        ("port", named.port, &["PGPORT"]),
        ("database", named.database, database),
    ];
    for (what, is_named, variables) in left {
        if let Some(variable) = first(variables).filter(|_| !is_named) {
            let told = format_args!("names no {what}, and {variable} would choose one: write it in the URL");
            return Err(bad("url", told));
        }
    }
    match is_set("PGOPTIONS") {
        true => {
            Err(bad("PGOPTIONS", "would change the session of every store; unset it, and write `options` in the URL"))
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(what: &str) -> Named {
        let has = |part| what.contains(part);
        Named { host: has('h'), port: has('p'), user: has('u'), database: has('d') }
    }

    #[test]
    fn host_port_user_and_database_are_found_in_a_url() {
        for (address, what) in [
            ("postgres://", ""),
            ("postgres://db", "h"),
            ("postgres:///shop", "d"),
            ("postgres://ada@db:5432/shop", "hpud"),
            ("postgres://ada:pass%40word@db/shop", "hud"),
            ("postgres://:password@db:/", "h"),
            ("postgres://ada@[::1]/shop", "hud"),
            ("postgres://ada@[::1]:1/", "hpu"),
            ("postgresql://%2Frun%2Fpostgresql/shop", "hd"),
        ] {
            assert_eq!(Named::by(address, &[]), named(what), "{address}");
        }
        let keys = ["host", "port", "user", "dbname"].map(|key| (key, "x"));
        assert_eq!(Named::by("postgres://", &keys), named("hpud"));
        assert_eq!(Named::by("postgres://", &[("hostaddr", "x"), ("password", "x")]), named("h"));
    }

    #[test]
    fn environment_variable_does_not_choose_the_store() {
        let refused =
            |what, variable| check_with(&named(what), |name| name == variable).map_err(|error| error.to_string());
        for (what, variable, part) in [
            ("pud", "PGHOST", "names no host"),
            ("pud", "PGHOSTADDR", "names no host"),
            ("hud", "PGPORT", "names no port"),
            ("hpu", "PGDATABASE", "names no database"),
            ("hp", "PGUSER", "names no database"),
            ("hpud", "PGOPTIONS", "options"),
        ] {
            let told = refused(what, variable).unwrap_err();
            assert!(told.contains(part) && told.contains(variable), "{told}");
        }
        for variable in ["PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD", "PGAPPNAME"] {
            assert_eq!(refused("hpud", variable), Ok(()), "{variable}");
        }
        assert_eq!(refused("hpd", "PGUSER"), Ok(()), "who logs in chooses no store");
        assert_eq!(refused("", "PGPASSFILE"), Ok(()));
    }

    #[test]
    fn any_address_is_parsed_without_a_panic() {
        storagebox_fuzz::texts(&["postgres://ada:b@[::1]:5/d", "postgres://a@b/c"], |text| {
            let _ = Named::by(text, &[]);
        });
    }
}
