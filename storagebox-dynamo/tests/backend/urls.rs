//! URLs and settings: invalid ones are refused before any request.

use std::time::Duration;

use storagebox_core::{Error, Retention};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::urls;

/// A URL at which no server listens.
const NOWHERE: &str = "dynamodb://eu-west-1/namespace?endpoint=http://127.0.0.1:1";

fn refused(url: &str) -> Error {
    urls::refused(DynamoStore::connect, url)
}

#[test]
fn table_names_are_checked_by_the_rules_of_dynamodb() {
    for name in ["", "ab", "a b", "a/b", "é-é", "a#b", "a:b", "hunter2!", "hunter2%"] {
        refused(&format!("dynamodb://eu-west-1/{name}"));
    }
    refused(&format!("dynamodb://eu-west-1/{}", "a".repeat(256)));
    for name in ["abc", "A-b_c.9"].map(str::to_owned).into_iter().chain(["a".repeat(255)]) {
        assert!(DynamoStore::connect(&format!("dynamodb://eu-west-1/{name}")).is_ok(), "{name}");
    }
}

#[test]
fn a_url_with_credentials_is_refused() {
    for url in [
        "dynamodb://AKIA:hunter2@eu-west-1/namespace",
        "dynamodb://hunter2@eu-west-1/namespace",
        "dynamodb://eu-west-1/namespace?endpoint=http://AKIA:hunter2@localhost:8000",
        "dynamodb://eu-west-1/namespace?endpoint=http%3A%2F%2FAKIA%3Ahunter2%40localhost",
        "dynamodb://eu-west-1/namespace?secret_access_key=hunter2",
        "dynamodb://eu-west-1/namespace?access_key_id=hunter2",
    ] {
        refused(url);
    }
}

#[test]
fn the_error_for_an_invalid_url_does_not_show_the_url() {
    for url in [
        "",
        "hunter2",
        "dynamodb:",
        "dynamodb:hunter2",
        "dynamodb://hunter2",
        "dynamodb:///hunter2",
        "dynamo://hunter2/namespace",
        "Dynamodb://hunter2/namespace",
        "https://dynamodb.eu-west-1.amazonaws.com/hunter2",
    ] {
        refused(url);
    }
}

#[test]
fn unknown_query_keys_are_refused() {
    for key in ["prefx=a", "Prefix=a", "table=a", "region=a", "foo", "=", "retries=3", "profile=hunter2"] {
        refused(&format!("{NOWHERE}&{key}"));
    }
}

#[test]
fn invalid_values_of_query_keys_are_refused() {
    for (pair, because) in [
        ("endpoint=localhost:8000", "endpoint"),
        ("endpoint=ftp://localhost", "endpoint"),
        ("endpoint=", "endpoint"),
        ("endpoint=http://", "endpoint"),
        ("endpoint=http://:8000", "endpoint"),
        ("endpoint=http://localhost:", "endpoint"),
        ("endpoint=http://localhost:port", "endpoint"),
        ("endpoint=http://localhost:65536", "endpoint"),
        ("endpoint=http://local host", "endpoint"),
        ("endpoint=https://[::1", "endpoint"),
        ("prefix=a%00b", "prefix"),
        ("prefix=%", "%"),
        ("prefix=%zz", "%"),
        ("prefix=%ff", "UTF-8"),
        ("remember=0", "retention"),
        ("remember=week", "remember"),
        ("remember=99999999999999999999s", "remember"),
        ("max_skew=-1", "max_skew"),
        ("max_skew=3600001ms", "max skew"),
        ("call_timeout=0", "call timeout"),
        ("call_timeout=540001ms", "call timeout"),
        ("call_timeout=10", "call_timeout"),
        ("shards=0", "shards"),
        ("shards=257", "shards"),
        ("shards=70000", "shards"),
        ("fetch_limit=0", "fetch limit"),
        ("fetch_limit=1001", "fetch limit"),
        ("read_first=yes", "read_first"),
        ("read_first=", "read_first"),
        ("retry_atomic=yes", "retry_atomic"),
        ("regions=all", "regions"),
    ] {
        urls::refused_because(DynamoStore::connect, &format!("{NOWHERE}&{pair}"), because);
    }
    refused(&format!("{NOWHERE}&prefix={}", "a".repeat(65)));
}

#[test]
fn every_query_key_is_accepted_and_decoded() {
    for pairs in [
        "prefix=a%2Fb%20%C3%A9&remember=forever&max_skew=0&call_timeout=9m&shards=256&fetch_limit=1000",
        "remember=1d&read_first=auto&retry_atomic=off&shards=1&fetch_limit=1",
        "read_first=never&retry_atomic=on&&",
        "read_first=always&regions=several",
        "regions=one",
        "regions=moved",
        "",
    ] {
        let url = format!("{NOWHERE}&{pairs}");
        let store = DynamoStore::connect(&url).unwrap_or_else(|error| panic!("{pairs}: {error}"));
        assert!(!pairs.contains("prefix") || format!("{store:?}").contains("a/b é"), "{store:?}");
    }
    assert!(DynamoStore::connect(&NOWHERE.replace("http://", "https%3a%2f%2f")).is_ok());
}

/// Settings that a program sets on the builder have the same rules as those in a URL.
#[test]
fn a_builder_with_an_invalid_setting_does_not_connect() {
    let builder = DynamoStore::builder;
    for (name, builder) in [
        ("shards", builder().shards(0)),
        ("fetch limit", builder().fetch_limit(0)),
        ("prefix", builder().prefix("a\0")),
        ("max skew", builder().max_skew(Duration::from_secs(3_601))),
        ("call timeout", builder().call_timeout(Duration::ZERO)),
        ("retention", builder().remember(Retention::For(Duration::ZERO))),
    ] {
        let error = builder.connect(NOWHERE).expect_err(name);
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
}

#[test]
fn fuzz_url_is_read_or_refused() {
    let known = [
        "dynamodb://eu-west-1/storagebox?endpoint=http://127.0.0.1:1&prefix=a&remember=7d",
        "dynamodb://eu-west-1/table?call_timeout=10s&max_skew=500ms&shards=7&remember=forever",
    ];
    urls::fuzz(DynamoStore::connect, &known);
}
