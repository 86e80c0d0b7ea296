//! URLs and settings: invalid ones are refused before any file is opened.

use std::path::Path;

use storagebox_core::Error;
use storagebox_sqlite::SqliteStore;
use storagebox_testkit::checks::urls;

fn refused(url: &str) -> Error {
    urls::refused(SqliteStore::connect, url)
}

#[test]
fn unknown_url_keys_are_refused() {
    for key in ["synchronus=full", "Synchronous=full", "mode=memory", "cache=shared", "foo", "=", "vfs=unix"] {
        let error = refused(&format!("sqlite:nowhere/store.db?{key}"));
        assert!(error.to_string().contains("query key"), "{error}");
    }
}

#[test]
fn invalid_values_of_url_keys_are_refused() {
    for (pair, because) in [
        ("synchronous=off", "synchronous"),
        ("synchronous=", "synchronous"),
        ("combining=yes", "combining"),
        ("call_timeout=0", "call timeout"),
        ("call_timeout=10", "call_timeout"),
        ("remember=0", "retention"),
        ("remember=week", "remember"),
        ("remember=99999999999999999999s", "remember"),
        ("wal_autocheckpoint=-1", "wal_autocheckpoint"),
        ("wal_autocheckpoint=4294967295", "wal autocheckpoint"),
    ] {
        urls::refused_because(SqliteStore::connect, &format!("sqlite:hunter2/store.db?{pair}"), because);
    }
}

#[test]
fn invalid_urls_are_refused_and_not_shown() {
    for url in [
        "",
        "hunter2",
        "sqlite",
        "sqlite3:hunter2",
        "SQLITE:hunter2",
        "sqlite:",
        "sqlite://",
        "sqlite:hunter2%",
        "sqlite:hunter2%0",
        "sqlite:hunter2%zz",
        "sqlite:hunter2%ff",
        "sqlite:hunter2%00",
        "sqlite:hunter2/",
        "sqlite:hunter2%2f?synchronous=full",
        "sqlite:hunter2/.",
        "sqlite:hunter2/..",
        "sqlite:.",
        "sqlite:///",
    ] {
        refused(url);
    }
}

#[test]
fn a_url_of_a_database_in_memory_is_refused() {
    for url in ["sqlite::memory:", "sqlite://:memory:", "sqlite::memory:?synchronous=full"] {
        let error = refused(url);
        assert!(error.to_string().contains("use the backend `memory:`"), "{error}");
    }
}

#[test]
fn every_url_key_is_accepted_without_opening_the_file() {
    for pairs in [
        "",
        "synchronous=normal&combining=off&call_timeout=500ms&remember=forever&wal_autocheckpoint=0",
        "synchronous=extra&combining=on&remember=24h",
        "synchronous=full",
    ] {
        for path in ["nowhere/store.db", "//nowhere/store.db", "///nowhere/store.db", "/nowhere/store.db"] {
            let store = SqliteStore::connect(&format!("sqlite:{path}?{pairs}"));
            assert!(store.is_ok(), "{path} {pairs}: {store:?}");
        }
    }
    assert!(!Path::new("nowhere").exists() && !Path::new("/nowhere").exists());
}

#[test]
fn fuzz_url_is_read_or_refused() {
    let known = [
        "sqlite:nowhere/store.db",
        "sqlite:///nowhere/a%20b.db?synchronous=normal&combining=off&call_timeout=500ms&remember=forever",
        "sqlite:nowhere/store.db?wal_autocheckpoint=0&remember=24h",
    ];
    urls::fuzz(SqliteStore::connect, &known);
}
