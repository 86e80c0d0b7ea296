//! Classifies requests without a reply: the reason why a request was not sent, or that it may have been applied.

use std::error::Error as StdError;
use std::io;
use std::iter::successors;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::error::ConnectorError;
use hyper_util::client::legacy;
use storagebox_core::ErrorKind;
use storagebox_core::backend::is_nameless;

use crate::client::NoAuthorities;

type Classification = (ErrorKind, &'static str);

pub(super) const LOST: Classification = (ErrorKind::OutcomeUnknown, "the connection or the answer was lost");
pub(super) const UNSIGNED: Classification = (ErrorKind::Denied, "there are no credentials to sign the request with");

const UNTRUSTED: Classification = (
    ErrorKind::Misconfigured,
    "this machine has no CA certificates, so no `https://` endpoint can be trusted; install them, or name \
     their file in SSL_CERT_FILE",
);
const CERTIFICATE: Classification = (
    ErrorKind::Misconfigured,
    "the server's certificate is not trusted; the cause says why. To trust another authority, name the \
     file of its certificate in SSL_CERT_FILE",
);
const HANDSHAKE: Classification =
    (ErrorKind::Misconfigured, "the TLS handshake failed, or the endpoint has no TLS; the cause says why");
const NAMELESS: Classification = (ErrorKind::Misconfigured, "the endpoint's name does not resolve to an address");
const UNREACHABLE: Classification = (ErrorKind::Unavailable, "the endpoint could not be reached");
const UNFETCHED: Classification = (ErrorKind::Unavailable, "the credentials could not be fetched; the cause says why");
const UNUSABLE: Classification = (
    ErrorKind::Misconfigured,
    "the credentials cannot be loaded as they are configured; the cause says why. In a profile, SSO and \
     `login_session` are not built in; use `credential_process`, which can run `aws configure export-credentials`",
);

/// Classifies the error. Without credentials or without a connection, nothing was sent.
pub(super) fn judge(error: &ConnectorError) -> Classification {
    let credentials = causes::<CredentialsError>(error).next();
    let is_unconnected = causes::<legacy::Error>(error).any(legacy::Error::is_connect);
    if let Some(judged) = untrusted(error, is_unconnected || credentials.is_some()) {
        return judged;
    }
    match credentials {
        Some(CredentialsError::CredentialsNotLoaded(_)) => UNSIGNED,
        Some(CredentialsError::InvalidConfiguration(_) | CredentialsError::Unhandled(_)) => UNUSABLE,
        Some(_) => UNFETCHED,
        None if is_unconnected && causes::<io::Error>(error).any(is_nameless) => NAMELESS,
        None if is_unconnected => UNREACHABLE,
        None => LOST,
    }
}

/// Classifies a TLS error that occurred before anything was sent; `None` for any other error.
fn untrusted(error: &ConnectorError, is_unsent: bool) -> Option<Classification> {
    if causes::<NoAuthorities>(error).next().is_some() {
        return Some(UNTRUSTED);
    }
    match causes::<rustls::Error>(error).next().filter(|_| is_unsent)? {
        rustls::Error::InvalidCertificate(_) => Some(CERTIFICATE),
        _ => Some(HANDSHAKE),
    }
}

/// Returns whether the error is about the credentials. The call is then not retried, because the sources of credentials
/// make their own retries.
pub(crate) fn lacks_credentials(error: &(dyn StdError + 'static)) -> bool {
    causes::<CredentialsError>(error).next().is_some()
}

/// Returns the errors of this type in the chain of causes, the outermost first.
fn causes<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a E> {
    successors(Some(error), |&error| cause(error)).filter_map(|error| error.downcast_ref())
}

/// Returns the cause of an error, or the error that an `io::Error` wraps.
fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    // The `source()` of an `io::Error` skips the error that it wraps.
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(held) => Some(held),
        None => error.source(),
    }
}
