//! S-7: characters that a file or a variable adds to a URL never lead to another store.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use storagebox::{ErrorKind, parts::open};

async fn misconfigured(url: &str) -> storagebox::Error {
    let error = open(url).await.expect_err("it must be refused");
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    error
}

/// Regression: a URL with a line end or a blank opened a second store, which gave items away a second time.
#[tokio::test]
async fn a_url_with_a_line_end_or_a_blank_is_misconfigured() {
    for url in [
        "memory:",
        "sqlite:hunter2.db",
        "postgres://ada:hunter2@127.0.0.1:1/shop",
        "redis://:hunter2@127.0.0.1:1",
        "dynamodb://eu-west-1/hunter2",
        "dynamodb+articles://eu-west-1/hunter2/given",
    ] {
        for (odd, told) in [("\n", "U+000A"), ("\r\n", "U+000A"), ("\r", "U+000D"), ("\t", "U+0009"), (" ", "U+0020")] {
            let error = misconfigured(&format!("{url}{odd}")).await;
            assert!(error.message().starts_with("url ends with a") && error.message().contains(told), "{error}");
            assert_eq!(storagebox::files(&format!("{url}{odd}")).unwrap_err().kind(), ErrorKind::Misconfigured);
        }
        assert!(misconfigured(&format!(" {url}")).await.message().contains("begins with a space"));
        assert!(misconfigured(&format!("{url}\nx")).await.message().contains("has a line feed"));
    }
}

/// A program can connect to a backend directly, without the facade.
#[test]
fn no_backend_opens_a_url_with_a_line_end() {
    let mut refused: Vec<storagebox::Error> = vec![];
    #[cfg(feature = "memory")]
    refused.extend(storagebox::MemoryStore::connect("memory:\n").err());
    #[cfg(feature = "sqlite")]
    refused.extend(storagebox::SqliteStore::connect("sqlite:a.db\n").err());
    #[cfg(feature = "postgres")]
    refused.extend(storagebox::PostgresStore::connect("postgres://a@b/c\n").err());
    #[cfg(feature = "redis")]
    refused.extend(storagebox::RedisStore::connect("redis://b\n").err());
    #[cfg(feature = "dynamo")]
    refused.extend(storagebox::DynamoStore::connect("dynamodb://b/c\n").err());
    let features = [
        cfg!(feature = "memory"),
        cfg!(feature = "sqlite"),
        cfg!(feature = "postgres"),
        cfg!(feature = "redis"),
        cfg!(feature = "dynamo"),
    ];
    assert_eq!(refused.len(), features.into_iter().filter(|on| *on).count());
    for error in refused {
        assert!(error.message().starts_with("url ends with a line feed (U+000A)"), "{error}");
    }
}
