//! The kind, the certainty and the text of an error agree, for every constructor.

use std::error::Error as _;
use std::io;

use super::*;

const KINDS: [ErrorKind; 12] = [
    ErrorKind::InvalidInput,
    ErrorKind::Misconfigured,
    ErrorKind::TooLarge,
    ErrorKind::NotSetUp,
    ErrorKind::Unsupported,
    ErrorKind::Contention,
    ErrorKind::Throttled,
    ErrorKind::Unavailable,
    ErrorKind::OutcomeUnknown,
    ErrorKind::Fenced,
    ErrorKind::Denied,
    ErrorKind::Corrupt,
];

/// Returns errors of every kind and from every constructor.
fn made() -> Vec<Error> {
    let mut made: Vec<_> = KINDS.map(|kind| Error::new(kind, "something")).into();
    made.extend([
        Error::invalid("field", "is wrong"),
        Error::misconfigured("setting", "is wrong"),
        Error::unsupported("this", "that"),
        Error::unknown("something"),
        Error::corrupt("the record", "something"),
        Error::length("field", 1, 2, 3),
        Error::too_large("field", 2, 3),
    ]);
    made
}

fn ensure_agrees(error: &Error) {
    let (shown, advice, kind) = (error.to_string(), error.advice(), error.kind());
    let (is_sure, is_retryable) = (error.certainty() == Certainty::NotApplied, error.is_retryable());
    assert_eq!(shown.contains("may have been applied"), !is_sure, "{shown}");
    assert!(!(kind == ErrorKind::OutcomeUnknown && is_sure), "{shown}");
    assert_eq!(advice.contains("call again with the same id"), is_retryable && !is_sure, "{shown}: {advice}");
    assert!(shown.contains(kind.name()) && !shown.contains(advice), "{shown}: {advice}");
    if let Some(source) = error.source() {
        assert!(source.downcast_ref::<Error>().is_none(), "{shown}, caused by {source}");
    }
}

#[test]
fn kind_certainty_and_text_of_an_error_agree() {
    for of in 0..made().len() {
        let make = || made().remove(of);
        ensure_agrees(&make());
        ensure_agrees(&make().during("take").on("postgres").with("bank", "vouchers"));
        ensure_agrees(&make().after_unresolved());
        ensure_agrees(&make().after_unresolved().after_unresolved());
        ensure_agrees(&make().unrepeatable());
        ensure_agrees(&make().unrepeatable().after_unresolved());
        ensure_agrees(&make().after_unresolved().unrepeatable());
        for cause in made() {
            ensure_agrees(&make().caused_by(cause));
        }
        for cause in made() {
            ensure_agrees(&make().caused_by(cause.after_unresolved()).after_unresolved());
        }
    }
}

/// A call that was surely not applied may be repeated, even if the store would not recognise the repetition.
#[test]
fn unrepeatable_call_is_retryable_only_if_not_applied() {
    for error in made().into_iter().map(Error::unrepeatable) {
        let (kind, shown) = (error.kind(), error.to_string());
        let may_be_repeated = error.is_retryable();
        assert_eq!(may_be_repeated, kind.is_retryable() && kind != ErrorKind::OutcomeUnknown, "{shown}");
        let unresolved = error.after_unresolved();
        assert!(!unresolved.is_retryable(), "{unresolved}");
        assert_eq!(unresolved.advice().contains("apply the change twice"), kind.is_retryable(), "{unresolved}");
    }
}

/// The texts of two `Error`s may contradict each other, so an `Error` is never the source of another `Error`.
#[test]
fn storagebox_error_as_a_cause_is_replaced_by_its_own_cause() {
    let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
    let inner = Error::unknown("the connection or the answer was lost").caused_by(refused);
    let error = Error::new(ErrorKind::Unavailable, "the server could not be reached").caused_by(inner);
    let cause = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    assert_eq!(cause.map(io::Error::kind), Some(io::ErrorKind::ConnectionRefused));
}
