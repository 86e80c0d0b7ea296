//! ER-2 and ER-3: what an error shows and what it contains.

use std::error::Error as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    ClaimId, Cursor, DedupRepo, Deduplicator, Error, ErrorKind, Hold, Item, ItemBank, OrderedOptions, OrderedStore,
    Payload, Result, Retention, Retry, Stamp, Taken,
};

use super::certainty::KINDS;
use super::retry::Counting;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::pages::Listing;
use crate::world::World;

const SECRET: &str = "SECRET-10-OFF";

pub(super) async fn an_error_says_what_failed_and_what_to_do_next(_: &World) -> Verdict {
    let mut advices = std::collections::BTreeSet::new();
    for (kind, _) in KINDS {
        let error = Error::new(kind, "the disk is full").during("take").on("postgres").with("bank", "vouchers");
        let shown = error.to_string();
        for part in ["take", "postgres", "the disk is full"] {
            ensure!(shown.contains(part), "{shown:?} does not say {part:?}");
        }
        ensure_eq!((error.operation(), error.backend()), (Some("take"), Some("postgres")), "where it failed");
        ensure_eq!(error.context().collect::<Vec<_>>(), [("bank", "vouchers")], "its facts");
        ensure!(format!("{error:?}").contains("vouchers"), "the Debug of the error does not name the bank: {error:?}");
        ensure_eq!(error.advice(), kind.advice(), "the advice of {kind:?}");
        ensure!(!error.advice().is_empty(), "no advice for {kind:?}");
        ensure!(!shown.contains(error.advice()), "{shown:?} repeats the advice");
        advices.insert(error.advice());
    }
    ensure_eq!(advices.len(), KINDS.len(), "different next steps");
    Ok(())
}

pub(super) async fn an_unresolved_error_asks_for_the_same_call(_: &World) -> Verdict {
    let same_call = ErrorKind::OutcomeUnknown.advice();
    for (kind, retryable) in KINDS {
        let error = Error::new(kind, "the call failed").after_unresolved();
        let expected = if retryable { same_call } else { kind.advice() };
        ensure_eq!(error.advice(), expected, "the advice of {kind:?} after an unresolved step");
        let shown = error.to_string();
        ensure!(shown.contains("may have been applied"), "{shown} does not say that it may have been applied");
    }
    Ok(())
}

fn ensure_hidden<T>(what: &str, answer: Result<T>) -> Verdict {
    let Err(error) = answer else {
        return Err(Failure::new(format!("{what} is not refused")));
    };
    let shown = format!("{error} {} {error:?} {error:#?}", error.advice());
    ensure!(!shown.contains("SECRET"), "{what}: the error shows it: {shown}");
    Ok(())
}

pub(super) async fn no_refusal_shows_an_item_or_a_payload(world: &World) -> Verdict {
    let (bank, nothing) = (world.bank()?, Duration::ZERO);
    bank.add(&[Item::new(SECRET)?]).await?;
    ensure_matches!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::New(_), "a take");
    ensure_hidden("a hold of nothing", bank.take(&"ada".parse()?, Hold::For(nothing)).await)?;
    let extended = bank.extend(&ClaimId::new("ada")?, Hold::For(nothing)).await;
    ensure_hidden("an extended hold of nothing", extended)?;
    ensure_hidden("a page of nothing", bank.list(None, 0).await)?;
    let stranger = Cursor::new("\u{1f}not a cursor");
    ensure_hidden("a stranger's cursor", bank.list(Some(&stranger), 1).await)?;

    let records = world.dedup()?;
    let _ = records.record(&"id".parse()?, &SECRET.try_into()?, &"op".parse()?, Retention::Forever).await?;
    let again = records.record(&"id".parse()?, &SECRET.try_into()?, &"other".parse()?, Retention::For(nothing)).await;
    ensure_hidden("a retention of nothing", again)?;
    ensure_hidden("a page of no records", records.list(None, 0).await)?;
    ensure_hidden("a payload that is too large", Payload::new(SECRET.repeat(30_000)))?;
    ensure_hidden("an item that is too long", Item::new(SECRET.repeat(100)))
}

/// An error about a refused cursor does not show the name of the item, id or key that the cursor contains.
pub(super) async fn no_refused_cursor_is_shown(world: &World) -> Verdict {
    let (bank, records, ordered) = (world.bank()?, world.dedup()?, world.ordered(OrderedOptions::sequence())?);
    for name in [SECRET, "SECRET-20-OFF"] {
        bank.add(&[Item::new(name)?]).await?;
        let _ = records.record(&name.parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await?;
        let _ = ordered.put(&name.parse()?, &"value".try_into()?, &Stamp::new(1, "w".parse()?)).await?;
    }
    for listing in [Listing::Items(&*bank), Listing::Records(&*records), Listing::Values(&*ordered, None)] {
        let next = ensure_matches!(listing.page(None, 1).await?.next, Some(next) => next, "a first page of two");
        let next = next.as_str();
        for damaged in [format!("x{next}"), format!("{next}\0"), SECRET.to_owned(), format!("{SECRET}{next}")] {
            if let Err(refused) = listing.page(Some(&Cursor::new(damaged)), 1).await {
                ensure_hidden("a damaged cursor", Err::<(), _>(refused))?;
            }
        }
    }
    Ok(())
}

/// An assignment whose record was written by another program returns an error that names the record and hides its
/// value.
pub(super) async fn a_stored_record_that_cannot_be_read_is_named(world: &World) -> Verdict {
    let (bank, records) = (world.filled(3).await?, world.dedup()?);
    let seats = Deduplicator::new(world.dedup()?).bank("bank", Arc::clone(&bank))?;
    for (number, stranger) in ["SECRET", "", "1", "1ISECRET", "2I\0\u{1}b\0\u{1}n", "1N-SECRET"].into_iter().enumerate()
    {
        let id = format!("student-{number}");
        let _ =
            records.record(&id.as_str().parse()?, &stranger.try_into()?, &"op".parse()?, Retention::Forever).await?;
        let error = ensure_matches!(seats.assign(id.as_str(), "bank").await, Err(error) => error, "{stranger:?}");
        ensure_eq!(error.kind(), ErrorKind::Corrupt, "the kind of {error}");
        ensure!(error.to_string().contains(&id), "{error} does not name the record of {id}");
        ensure!(error.source().is_some(), "{error} does not keep why the record cannot be read");
        ensure_hidden("a record that cannot be read", Err::<(), _>(error))?;
    }
    ensure_eq!(bank.counts().await?.free, 3, "free items");
    Ok(())
}

fn driver_error() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "reset by peer")
}

fn ensure_source(error: &Error) -> Verdict {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    ensure_eq!(source.map(io::Error::kind), Some(io::ErrorKind::ConnectionReset), "the source of {error}");
    Ok(())
}

pub(super) async fn the_source_stays_reachable(_: &World) -> Verdict {
    for (kind, _) in KINDS {
        let error = Error::new(kind, "the call failed").caused_by(driver_error());
        ensure_source(&error)?;
        ensure_source(&error.during("take").on("postgres").with("bank", "vouchers"))?;
    }
    ensure!(Error::unknown("the reply was lost").source().is_none(), "an error without a source has one");
    let boxed: Box<dyn std::error::Error + Send + Sync> =
        Error::unknown("the reply was lost").caused_by(driver_error()).into();
    ensure!(boxed.source().is_some(), "the source is lost behind a namespace");
    Ok(())
}

/// A driver's error, whose `Debug` shows the connection's password.
#[derive(Debug)]
struct Driver {
    #[allow(dead_code, reason = "it is there to be shown by Debug alone")]
    password: &'static str,
}

impl std::fmt::Display for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("connection refused")
    }
}

impl std::error::Error for Driver {}

pub(super) async fn no_debug_shows_the_sources_own(_: &World) -> Verdict {
    let error = Error::new(ErrorKind::Unavailable, "no connection").caused_by(Driver { password: SECRET });
    let shown = format!("{error:?}");
    ensure!(shown.contains("connection refused"), "the Debug of the error does not name its cause: {shown}");
    ensure_hidden("a driver's error with a password", Err::<(), _>(error))
}

pub(super) async fn the_source_survives_retries_and_markings(_: &World) -> Verdict {
    ensure_source(&Error::unknown("the reply was lost").caused_by(driver_error()).after_unresolved())?;
    let timer = Counting::default();
    for kind in [ErrorKind::OutcomeUnknown, ErrorKind::Unavailable, ErrorKind::Denied] {
        let fail = |_| async move { Err::<Taken, _>(Error::new(kind, "the call failed").caused_by(driver_error())) };
        let answer = Retry::default().call(&timer, fail).await;
        let error = ensure_matches!(answer, Err(error) => error, "a call that always fails");
        ensure_eq!(error.kind(), kind, "the kind after the retries");
        ensure_source(&error)?;
    }
    Ok(())
}
