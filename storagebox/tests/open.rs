//! S-6: a store that cannot be opened is refused before any I/O, and the error shows only the scheme of the URL.

use storagebox::{ErrorKind, parts::open};

async fn refused(url: &str) -> storagebox::Error {
    let error = open(url).await.expect_err("it must be refused");
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    error
}

async fn misconfigured(url: &str) -> storagebox::Error {
    let error = refused(url).await;
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{url}");
    error
}

/// Queries that every backend except `memory:` refuses, each with a part of the error text.
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
const REFUSED: [(&str, &str); 3] =
    [("hunter2=on", "query key"), ("call_timeout=0", "call timeout"), ("remember=hunter2", "remember")];

/// Opens a URL with each query. Checks that the error has the text beside the query.
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
async fn misconfigured_by(url: impl Fn(&str) -> String, queries: &[(&str, &str)]) {
    for (query, because) in queries.iter().chain(&REFUSED) {
        let error = misconfigured(&url(query)).await;
        assert!(error.to_string().contains(because), "{query}: {error}");
    }
}

#[cfg(any(feature = "dynamo", feature = "memory", feature = "postgres", feature = "redis", feature = "sqlite"))]
async fn opens(url: &str, backend: &str) {
    let store = open(url).await.expect("it opens");
    assert_eq!(store.backend(), backend);
    assert!(!format!("{store:?}").contains("hunter2"), "{store:?}");
}

#[tokio::test]
async fn the_error_for_an_unknown_scheme_names_the_known_schemes() {
    for url in ["mongodb://user:hunter2@host/db", "hunter2", "", ":hunter2", "MEMORY:hunter2", "Postgres://hunter2"] {
        let error = misconfigured(url).await;
        assert!(
            error.to_string().contains(
                "dynamodb:, dynamodb+articles:, memory:, postgres:, postgresql:, redis:, redis+cluster:, redis+sentinel:, rediss:, rediss+cluster:, rediss+sentinel:, sqlite:"
            ),
            "{error}"
        );
    }
}

#[cfg(feature = "memory")]
#[tokio::test]
async fn memory_url_with_a_path_or_a_query_is_misconfigured() {
    for url in ["memory:hunter2", "memory://host", "memory:?retention=1d"] {
        misconfigured(url).await;
    }
    opens("memory:", "memory").await;
}

#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
mod server {
    use std::io::ErrorKind::WouldBlock;
    use std::net::{SocketAddr, TcpListener};

    /// A server to which no client may connect.
    pub(super) struct Server(TcpListener);

    impl Server {
        pub(super) fn listen() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            listener.set_nonblocking(true).expect("it need not wait");
            Self(listener)
        }

        pub(super) fn address(&self) -> SocketAddr {
            self.0.local_addr().expect("it has an address")
        }

        #[track_caller]
        pub(super) fn met_nobody(&self) {
            assert_eq!(self.0.accept().expect_err("nobody came").kind(), WouldBlock);
        }
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::server::Server;
    use super::*;

    fn url(server: &Server, scheme: &str, query: &str) -> String {
        format!("{scheme}://ada:hunter2@{}/shop?{query}", server.address())
    }

    #[tokio::test]
    async fn an_unknown_query_key_or_value_is_refused_before_any_io() {
        let server = Server::listen();
        let queries = [
            ("Schema=shop&hunter2", "query key"),
            ("sslmode=require&hunter2=1", "query key"),
            ("schema=hunter2%22", "schema"),
            ("statements=hunter2", "statements"),
            ("combining=hunter2", "combining"),
            ("max_connections=hunter2", "max_connections"),
            ("max_connections=0", "max_connections"),
            ("sslmode=hunter2", "sslmode"),
        ];
        misconfigured_by(|query| url(&server, "postgres", query), &queries).await;
        server.met_nobody();
    }

    #[tokio::test]
    async fn the_error_for_an_unreadable_url_does_not_show_the_url() {
        for url in ["postgres:", "postgres:hunter2", "postgresql:/hunter2", "postgres://ada:hunter2@host:hunter2/shop"]
        {
            misconfigured(url).await;
        }
    }

    #[tokio::test]
    async fn both_url_schemes_open_a_store_without_connecting() {
        let server = Server::listen();
        let keys = "schema=shop&statements=simple&combining=off&max_connections=2&call_timeout=500ms&remember=forever";
        let url = |scheme, query: &str| url(&server, scheme, query);
        for url in [url("postgres", ""), url("postgresql", &format!("sslmode=disable&{keys}"))] {
            opens(&url, "postgres").await;
        }
        server.met_nobody();
    }
}

#[cfg(feature = "dynamo")]
mod dynamo {
    use super::server::Server;
    use super::*;

    fn url(server: &Server, query: &str) -> String {
        format!("dynamodb://eu-west-1/shop?endpoint=http://{}&{query}", server.address())
    }

    #[tokio::test]
    async fn an_unknown_query_key_or_value_is_refused_before_any_io() {
        let server = Server::listen();
        let queries = [
            ("Prefix=shop&hunter2", "query key"),
            ("endpoint=hunter2", "endpoint"),
            ("endpoint=http://ada:hunter2@host", "endpoint"),
            ("prefix=%hunter2", "%"),
            ("max_skew=hunter2", "max_skew"),
            ("shards=0", "shards"),
            ("fetch_limit=1001", "fetch limit"),
            ("read_first=hunter2", "read_first"),
            ("retry_atomic=hunter2", "retry_atomic"),
        ];
        misconfigured_by(|query| url(&server, query), &queries).await;
        server.met_nobody();
    }

    #[tokio::test]
    async fn credentials_in_a_url_are_refused_and_not_shown() {
        for url in [
            "dynamodb:",
            "dynamodb:hunter2",
            "dynamodb://hunter2",
            "dynamodb:///shop",
            "dynamodb://AKIA:hunter2@eu-west-1/shop",
            "dynamodb://hunter2:8000/shop",
            "dynamodb://eu-west-1/hunter2:x",
        ] {
            misconfigured(url).await;
        }
    }

    #[tokio::test]
    async fn tables_of_article_1_open_with_the_scheme_dynamodb_articles() {
        let server = Server::listen();
        let url = |tables: &str, query: &str| {
            format!("dynamodb+articles://eu-west-1/{tables}?endpoint=http://{}&{query}", server.address())
        };
        for (tables, query) in [
            ("vouchers", ""),
            ("vouchers/", ""),
            ("vouchers/given/hunter2", ""),
            ("hunter2!/given", ""),
            ("vouchers/given", "prefix=hunter2"),
            ("vouchers/given", "hunter2"),
            ("vouchers/given", "fetch_limit=0"),
        ] {
            misconfigured(&url(tables, query)).await;
        }
        let store = open(&url("vouchers/given", "fetch_limit=9&call_timeout=500ms")).await.expect("it opens");
        assert_eq!(store.backend(), "dynamo");
        assert!(store.item_bank(&"vouchers".parse().expect("a name")).is_ok());
        let other = store.item_bank(&"given".parse().expect("a name")).map(drop).expect_err("another bank");
        assert_eq!(other.kind(), ErrorKind::Misconfigured);
        let tokens = store.token_store(&"vouchers".parse().expect("a name")).map(drop).expect_err("another namespace");
        assert_eq!(tokens.kind(), ErrorKind::Unsupported);
        server.met_nobody();
    }

    #[tokio::test]
    async fn opening_a_store_does_not_connect() {
        let server = Server::listen();
        let keys = "prefix=shop%2F&remember=forever&max_skew=500ms&call_timeout=5s&shards=16&fetch_limit=10\
                    &read_first=always&retry_atomic=on";
        for query in ["", keys] {
            opens(&url(&server, query), "dynamo").await;
        }
        server.met_nobody();
    }
}

/// The tests of `redis:` URLs, which also compile with the feature `redis` alone.
#[cfg(feature = "redis")]
mod redis {
    use super::server::Server;
    use super::*;

    fn url(server: &Server, scheme: &str, query: &str) -> String {
        format!("{scheme}://ada:hunter2@{}/0?{query}", server.address())
    }

    #[tokio::test]
    async fn an_unknown_query_key_or_value_is_refused_before_any_io() {
        let server = Server::listen();
        let queries = [
            ("prefix=shop&hunter2", "query key"),
            ("prefix=hunter2%7B", "prefix"),
            ("call_timeout=hunter2", "call_timeout"),
            ("wait=hunter2", "wait"),
            ("wait_timeout=5ms", "wait_timeout must follow"),
            ("wait=1&wait_timeout=0", "wait timeout"),
            ("require_aof=hunter2", "require_aof"),
            ("eviction=hunter2", "eviction"),
        ];
        misconfigured_by(|query| url(&server, "redis", query), &queries).await;
        server.met_nobody();
    }

    #[tokio::test]
    async fn the_error_for_an_unreadable_url_does_not_show_the_url() {
        for url in [
            "redis:",
            "redis:hunter2",
            "redis://ada:hunter2@host:hunter2",
            "redis://ada:hunter2@host/hunter2",
            "rediss://ada:hunter2@host#insecure",
            #[cfg(feature = "redis-cluster")]
            "redis+cluster://ada:hunter2@host,host:hunter2",
            #[cfg(feature = "redis-sentinel")]
            "redis+sentinel://ada:hunter2@host,host:1",
        ] {
            misconfigured(url).await;
        }
    }

    #[tokio::test]
    async fn both_url_schemes_open_a_store_without_connecting() {
        let server = Server::listen();
        let keys = "prefix=shop:live&call_timeout=500ms&remember=forever&wait=1&wait_timeout=50ms&require_aof=on";
        for url in [url(&server, "redis", ""), url(&server, "rediss", &format!("{keys}&eviction=warn"))] {
            opens(&url, "redis").await;
        }
        server.met_nobody();
    }
}

#[cfg(feature = "redis-cluster")]
#[tokio::test]
async fn a_cluster_opens_with_the_addresses_of_some_nodes() {
    for url in ["redis+cluster://ada:hunter2@one:7000,two:7001", "rediss+cluster://one?prefix=shop"] {
        opens(url, "redis").await;
    }
}

#[cfg(all(feature = "redis", not(any(feature = "redis-cluster", feature = "redis-pool", feature = "redis-sentinel"))))]
#[tokio::test]
async fn the_error_names_a_disabled_feature_of_redis() {
    for (url, feature) in [
        ("redis+cluster://ada:hunter2@host", "feature `cluster`"),
        ("redis+sentinel://ada:hunter2@host/hunter2", "feature `sentinel`"),
        ("redis://ada:hunter2@host?pool=8", "feature `pool`"),
    ] {
        let error = refused(url).await;
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(feature), "{error}");
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::path::Path;

    use super::*;

    #[tokio::test]
    async fn an_unknown_query_key_or_value_is_refused_before_any_io() {
        let queries = [
            ("mode=memory", "query key"),
            ("synchronous=hunter2", "synchronous"),
            ("combining=hunter2", "combining"),
            ("wal_autocheckpoint=hunter2", "wal_autocheckpoint"),
        ];
        misconfigured_by(|query| format!("sqlite:nowhere/store.db?{query}"), &queries).await;
    }

    #[tokio::test]
    async fn the_error_for_a_url_without_a_file_does_not_show_the_url() {
        for url in ["sqlite:", "sqlite://", "sqlite::memory:", "sqlite:hunter2%", "sqlite:hunter2%00"] {
            misconfigured(url).await;
        }
    }

    #[test]
    fn listed_files_are_all_files_of_the_store_and_no_others() {
        let names = ["store.db", "store.db-journal", "store.db-shm", "store.db-wal"];
        let files = storagebox::files("sqlite:nowhere/store.db?synchronous=normal").expect("it can be read");
        for name in names {
            assert!(
                files.iter().any(|file| file.is_absolute() && file.ends_with(format!("nowhere/{name}"))),
                "{files:?}"
            );
        }
        assert!(storagebox::files("sqlite:").is_err());
        assert!(storagebox::files("memory:").expect("it has none").is_empty());
    }

    #[tokio::test]
    async fn opening_a_store_creates_no_file() {
        let keys = "synchronous=normal&combining=off&call_timeout=500ms&remember=forever&wal_autocheckpoint=0";
        for url in ["sqlite:nowhere/store.db".to_owned(), format!("sqlite:///nowhere/store.db?{keys}")] {
            opens(&url, "sqlite").await;
        }
        assert!(!Path::new("nowhere").exists() && !Path::new("/nowhere").exists());
    }
}

#[cfg(not(feature = "memory"))]
#[tokio::test]
async fn the_error_names_the_disabled_feature_memory() {
    names_the_feature("memory:hunter2", "feature `memory`").await;
}

#[cfg(not(feature = "dynamo"))]
#[tokio::test]
async fn the_error_names_the_disabled_feature_dynamo() {
    names_the_feature("dynamodb://hunter2/table?hunter2=1", "feature `dynamo`").await;
}

#[cfg(not(feature = "postgres"))]
#[tokio::test]
async fn the_error_names_the_disabled_feature_postgres() {
    for url in ["postgres://ada:hunter2@host/db?hunter2=1", "postgresql:hunter2"] {
        names_the_feature(url, "feature `postgres`").await;
    }
}

#[cfg(not(feature = "redis"))]
#[tokio::test]
async fn the_error_names_the_disabled_feature_redis() {
    for url in ["redis://ada:hunter2@host?hunter2=1", "rediss:hunter2", "redis+cluster:hunter2"] {
        names_the_feature(url, "feature `redis`").await;
    }
}

#[cfg(not(feature = "sqlite"))]
#[tokio::test]
async fn the_error_names_the_disabled_feature_sqlite() {
    names_the_feature("sqlite:hunter2.db?hunter2=1", "feature `sqlite`").await;
}

#[cfg(not(all(feature = "dynamo", feature = "memory", feature = "postgres", feature = "redis", feature = "sqlite")))]
async fn names_the_feature(url: &str, feature: &str) {
    let error = refused(url).await;
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{url}");
    assert!(error.to_string().contains(feature), "{error}");
}
