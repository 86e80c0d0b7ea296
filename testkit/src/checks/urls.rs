//! URLs that make no sense: each is refused before anything is opened, and is not shown.

use std::fmt::Debug;
use std::panic::RefUnwindSafe;

use storagebox_core::{Error, ErrorKind, Result};

use super::secrets::assert_hidden;

/// Returns the error for an invalid URL. Checks that it is `Misconfigured` and does not contain the secret.
#[track_caller]
pub fn refused<S: Debug>(connect: impl FnOnce(&str) -> Result<S>, url: &str) -> Error {
    let error = connect(url).expect_err("a URL that makes no sense");
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{url}");
    assert_hidden(&error);
    error
}

/// Checks that an invalid URL is `Misconfigured`, and that the error contains the text `because` and not the secret.
#[track_caller]
pub fn refused_because<S: Debug>(connect: impl FnOnce(&str) -> Result<S>, url: &str, because: &str) {
    let error = refused(connect, url);
    assert!(error.to_string().contains(because), "{url}: {error}");
}

/// Edits these valid URLs at random. Checks that each edited URL is accepted, or is `Misconfigured` without the secret
/// in the error.
pub fn fuzz<S: Debug>(connect: impl Fn(&str) -> Result<S> + RefUnwindSafe, known: &[&str]) {
    for url in known {
        assert!(connect(url).is_ok(), "{url}");
    }
    storagebox_fuzz::texts(known, |url| {
        if let Err(error) = connect(url) {
            assert_hidden(&error);
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{url:?}: {error}");
        }
    });
}
