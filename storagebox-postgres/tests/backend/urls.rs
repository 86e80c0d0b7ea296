//! Settings for opening a store: an invalid setting is refused before any connection is opened.

use storagebox_core::{Error, ErrorKind};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::checks::urls;

const NOWHERE: &str = "postgres://ann:hunter2@127.0.0.1:1/namespace";

fn refused(url: &str) -> Error {
    urls::refused(PostgresStore::connect, url)
}

#[test]
fn schema_name_that_is_no_plain_word_is_refused() {
    let names = ["x\"; drop", "X", "pg_x", "", "1a", "a-b", "a.b", "a b", "é", "a\0", "x'--", "public"];
    for name in names.map(str::to_owned).into_iter().chain(["a".repeat(41)]) {
        let error = PostgresStore::builder().schema(&name).expect_err("a name that is no plain word");
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{name:?}");
        refused(&format!("{NOWHERE}?schema={name}"));
    }
    for name in ["a", "_", "_1", "storage_box_2"].map(str::to_owned).into_iter().chain(["a".repeat(40)]) {
        assert!(PostgresStore::builder().schema(&name).is_ok(), "{name}");
    }
}

#[test]
fn unknown_query_keys_are_refused() {
    for key in ["shema=a", "Schema=a", "sslmod=require", "foo", "=", "combine=on"] {
        refused(&format!("{NOWHERE}?{key}"));
    }
}

#[test]
fn invalid_query_values_are_refused() {
    for pair in [
        "schema=",
        "statements=both",
        "statements=",
        "combining=yes",
        "max_connections=0",
        "max_connections=-1",
        "max_connections=many",
        "call_timeout=0",
        "call_timeout=10",
        "remember=0",
        "remember=week",
        "remember=99999999999999999999s",
        "sslmode=always",
        "statement-cache-capacity=x",
    ] {
        refused(&format!("{NOWHERE}?{pair}"));
    }
}

#[test]
fn invalid_url_is_refused_and_not_shown() {
    for url in ["", "hunter2", "mysql://a:hunter2@b/c", "postgres://a:hunter2@b:port/c", "postgres://a:hunter2@["] {
        refused(url);
    }
}

/// The driver would ignore everything after a `#`, even an `sslmode`.
#[test]
fn number_sign_is_refused_anywhere_in_the_url() {
    for rest in [
        "far:5432/namespace?application_name=a#b&sslmode=verify-full",
        "far/namespace#?sslmode=verify-full",
        "far/namespace?password=SECRET#hunter2&sslmode=require",
        "far/namespace?sslmode=verify-full#",
        "hunter2#SECRET@far/namespace?sslmode=verify-full",
    ] {
        let error = refused(&format!("postgres://ann:hunter2@{rest}"));
        let said = format!("{error} {error:?}");
        assert!(said.contains("%23"), "{said}");
        assert!(!["SECRET", "hunter2", "far"].iter().any(|part| said.contains(part)), "{said}");
    }
    for pairs in ["application_name=a%23b&sslmode=verify-full", "password=SECRET%23hunter2"] {
        assert!(PostgresStore::connect(&format!("{NOWHERE}?{pairs}")).is_ok(), "{pairs}");
    }
}

#[test]
fn each_key_of_the_library_and_the_driver_is_accepted() {
    for pairs in [
        "schema=a&statements=simple&combining=off&max_connections=3&call_timeout=500ms&remember=forever",
        "remember=1d&statements=prepared&combining=on",
        "sslmode=disable&application_name=shop&options=-c%20geqo%3Doff",
        "",
    ] {
        assert!(PostgresStore::connect(&format!("{NOWHERE}?{pairs}")).is_ok(), "{pairs}");
    }
}

/// The URLs are from the dashboards of providers and the manuals of other clients.
#[test]
fn keys_of_other_clients_are_accepted_if_they_change_nothing() {
    for pairs in [
        "target_session_attrs=read-write&application_name=shop",
        "target_session_attrs=primary&connect_timeout=10",
        "target_session_attrs=any&gssencmode=disable&channel_binding=prefer",
        "sslmode=require&channel_binding=disable&gssencmode=prefer",
        "sslmode=verify-full&sslrootcert=system",
        "sslrootcert=system",
        "pgbouncer=true&sslmode=require",
        "pgbouncer=true&connect_timeout=0&load_balance_hosts=disable",
        "sslmode=verify-full&sslcert=client.crt&sslkey=client.key&sslrootcert=ca.pem",
        "options=endpoint%3Dep-cool-1&client_encoding=UTF8&sslnegotiation=postgres",
    ] {
        for scheme in ["postgres", "postgresql"] {
            let opened = PostgresStore::connect(&format!("{scheme}://ann:hunter2@127.0.0.1:1/namespace?{pairs}"));
            assert!(opened.is_ok(), "{pairs}: {:?}", opened.err());
        }
    }
}

#[test]
fn keys_that_the_driver_cannot_honour_are_refused_by_name() {
    for (key, pairs) in [
        ("channel_binding", "sslmode=require&channel_binding=require"),
        ("target_session_attrs", "target_session_attrs=standby"),
        ("target_session_attrs", "target_session_attrs=prefer-standby"),
        ("gssencmode", "gssencmode=require"),
        ("sslnegotiation", "sslnegotiation=direct"),
        ("sslmode", "sslmode=no-verify"),
        ("sslmode", "sslrootcert=system&sslmode=require"),
        ("sslmode", "sslrootcert=system&sslmode=disable"),
        ("connect_timeout", "connect_timeout=soon"),
        ("connect_timeout", "connect_timeout=-1"),
        ("connection_limit", "pgbouncer=true&connection_limit=1"),
        ("pgbouncer", "pgbouncer=yes"),
        ("ssl", "ssl=true"),
        ("sslpassword", "sslpassword=hunter2"),
        ("require_auth", "require_auth=hunter2"),
        ("several hosts", "host=one,two"),
        ("port", "port=many"),
        ("hostaddr", "hostaddr=hunter2"),
    ] {
        let error = refused(&format!("{NOWHERE}?{pairs}"));
        assert!(error.to_string().contains(key), "{pairs}: {error}");
    }
    for hosts in ["one,two", "one:5432,two:5433", "[::1]:5432,[::2]:5432"] {
        let error = refused(&format!("postgres://ann:hunter2@{hosts}/namespace"));
        assert!(error.to_string().contains("several hosts"), "{hosts}: {error}");
    }
    assert!(PostgresStore::connect("postgres://ann:hunter,2@one/namespace").is_ok());
}

#[test]
fn any_url_is_read_or_refused_without_a_panic() {
    let known = [
        "postgres://ann:hunter2@db.example.com:5432/shop?sslmode=verify-full&schema=a&statements=simple",
        "postgresql:///shop?host=/run&max_connections=3&call_timeout=500ms&remember=1d&combining=on",
        "postgres://[::1]/a%20b?options=-c%20geqo%3Doff&application_name=shop",
    ];
    urls::fuzz(PostgresStore::connect, &known);
}
