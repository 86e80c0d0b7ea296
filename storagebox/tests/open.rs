//! S-6: what cannot be opened is said before any I/O, and nothing of the URL is shown but its scheme.

use storagebox::{ErrorKind, open};

async fn refused(url: &str) -> storagebox::Error {
    open(url).await.expect_err("it must be refused")
}

#[tokio::test]
async fn an_unknown_scheme_names_those_that_are_known() {
    for url in
        ["mongodb://user:hunter2@host/db", "hunter2", "", ":hunter2", "MEMORY:hunter2", "Postgres://hunter2"]
    {
        let error = refused(url).await;
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{url}");
        assert!(error.to_string().contains("memory:, postgres:, postgresql:"), "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}

#[cfg(feature = "memory")]
#[tokio::test]
async fn memory_takes_no_path_and_no_query() {
    for url in ["memory:hunter2", "memory://host", "memory:?retention=1d"] {
        let error = refused(url).await;
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{url}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
    assert_eq!(open("memory:").await.expect("it opens").backend(), "memory");
}

#[cfg(feature = "postgres")]
mod postgres {
    use std::io::ErrorKind::WouldBlock;
    use std::net::TcpListener;

    use super::*;

    /// A server that would notice any client.
    struct Server(TcpListener);

    impl Server {
        fn listen() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            listener.set_nonblocking(true).expect("it need not wait");
            Self(listener)
        }

        fn url(&self, scheme: &str, query: &str) -> String {
            let address = self.0.local_addr().expect("it has an address");
            format!("{scheme}://ada:hunter2@{address}/shop?{query}")
        }

        #[track_caller]
        fn met_nobody(&self) {
            assert_eq!(self.0.accept().expect_err("nobody came").kind(), WouldBlock);
        }
    }

    #[tokio::test]
    async fn a_query_key_or_value_that_is_not_known_is_refused_before_any_io() {
        let server = Server::listen();
        for (query, because) in [
            ("hunter2=on", "query key"),
            ("Schema=shop&hunter2", "query key"),
            ("sslmode=require&hunter2=1", "query key"),
            ("schema=hunter2%22", "schema"),
            ("statements=hunter2", "statements"),
            ("combining=hunter2", "combining"),
            ("max_connections=hunter2", "max_connections"),
            ("max_connections=0", "max_connections"),
            ("call_timeout=0", "call timeout"),
            ("memory=hunter2", "memory"),
            ("sslmode=hunter2", "url cannot be read"),
        ] {
            let error = refused(&server.url("postgres", query)).await;
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{query}");
            assert!(error.to_string().contains(because), "{query}: {error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
        server.met_nobody();
    }

    #[tokio::test]
    async fn a_url_that_cannot_be_read_shows_nothing_of_itself() {
        for url in [
            "postgres:",
            "postgres:hunter2",
            "postgresql:/hunter2",
            "postgres://ada:hunter2@host:hunter2/shop",
        ] {
            let error = refused(url).await;
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{url}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[tokio::test]
    async fn both_schemes_open_and_neither_connects() {
        let server = Server::listen();
        let keys =
            "schema=shop&statements=simple&combining=off&max_connections=2&call_timeout=500&memory=forever";
        for url in [server.url("postgres", ""), server.url("postgresql", &format!("sslmode=disable&{keys}"))]
        {
            let store = open(&url).await.expect("it opens");
            assert_eq!(store.backend(), "postgres");
            assert!(!format!("{store:?}").contains("hunter2"), "{store:?}");
        }
        server.met_nobody();
    }
}

/// The gate runs these without any feature.
#[cfg(not(feature = "memory"))]
#[tokio::test]
async fn memory_that_is_off_is_named() {
    names_the_feature("memory:hunter2", "feature `memory`").await;
}

#[cfg(not(feature = "postgres"))]
#[tokio::test]
async fn postgres_that_is_off_is_named() {
    for url in ["postgres://ada:hunter2@host/db?hunter2=1", "postgresql:hunter2"] {
        names_the_feature(url, "feature `postgres`").await;
    }
}

#[cfg(not(all(feature = "memory", feature = "postgres")))]
async fn names_the_feature(url: &str, feature: &str) {
    let error = refused(url).await;
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{url}");
    assert!(error.to_string().contains(feature), "{error}");
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
}
