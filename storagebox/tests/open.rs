//! S-6: what cannot be opened is said before any I/O, and nothing of the URL is shown but its scheme.

use storagebox::{ErrorKind, open};

async fn refused(url: &str) -> storagebox::Error {
    open(url).await.expect_err("it must be refused")
}

#[tokio::test]
async fn an_unknown_scheme_names_those_that_are_known() {
    for url in ["mongodb://user:hunter2@host/db", "hunter2", "", ":hunter2", "MEMORY:hunter2"] {
        let error = refused(url).await;
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{url}");
        assert!(error.to_string().contains("memory:"), "{error}");
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

#[cfg(not(feature = "memory"))]
#[tokio::test]
async fn a_feature_that_is_off_is_named() {
    let error = refused("memory:").await;
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("feature `memory`"), "{error}");
}
