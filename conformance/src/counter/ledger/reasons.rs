//! The reasons of changes in the log of a ledger.

use std::time::Duration;

use storagebox_core::{Change, Counted, LedgerEntry, MAX_ID_BYTES, OpId, Reason};

use super::{Book, number_of};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::race::answered;
use crate::values::{longest, nasty_texts};
use crate::world::World;

impl Book {
    async fn apply_because(&self, op: &str, delta: i64, reason: Option<&Reason>) -> Result<Counted, Failure> {
        let mut change = Change::new(OpId::new(op)?, delta);
        change.reason = reason.cloned();
        answered(|| self.ledger.apply(&self.key, &change)).await
    }

    /// Returns the reasons in the log, ordered by operation.
    async fn reasons(&self, limit: usize) -> Result<Vec<(OpId, Option<Reason>)>, Failure> {
        let log = self.log(limit).await?.into_iter();
        let mut reasons: Vec<_> = log
            .filter_map(|entry| match entry {
                LedgerEntry::Change { op, reason, .. } => Some((op, reason)),
                LedgerEntry::Sum { .. } => None,
            })
            .collect();
        reasons.sort();
        Ok(reasons)
    }
}

/// A log shows the reason of each change byte for byte, whatever the page length. A change without a reason has no
/// reason in the log.
pub(in crate::counter) async fn a_log_shows_why_each_change_was_made(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    let mut texts = nasty_texts();
    texts.extend([longest("r", MAX_ID_BYTES), " ".to_owned(), "order 7 was returned".to_owned()]);
    let mut expected = vec![];
    let unsaid = [const { None }; 50];
    for (number, text) in texts.into_iter().map(Some).chain(unsaid).enumerate() {
        let reason = text.map(Reason::new).transpose()?;
        let op = format!("op-{number:03}");
        let applied = book.apply_because(&op, 1, reason.as_ref()).await?;
        ensure_matches!(applied, Counted::Applied { .. }, "a change for a reason");
        expected.push((OpId::new(op)?, reason));
    }
    for limit in [1, 5, 1_000] {
        let reasons = book.reasons(limit).await?;
        ensure_eq!(reasons.len(), expected.len(), "the changes of a log by {limit}");
        for (found, expected) in reasons.iter().zip(&expected) {
            let text = |reason: &Option<Reason>| reason.as_ref().map(|reason| reason.as_str().to_owned());
            ensure_eq!(found.0, expected.0, "an operation of a log by {limit}");
            ensure_eq!(text(&found.1), text(&expected.1), "why {} was made", found.0);
        }
    }
    ensure_eq!(book.value().await?, number_of(expected.len()), "the value");
    Ok(())
}

pub(in crate::counter) async fn a_retry_for_another_reason_is_the_same_operation(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    let [first, other] = [Reason::new("a delivery")?, Reason::new("a return")?];
    for (op, reason) in [("with", Some(&first)), ("without", None)] {
        let _ = book.apply_because(op, 5, reason).await?;
        for retry in [Some(&other), None, reason] {
            let again = book.apply_because(op, 5, retry).await?;
            ensure_matches!(again, Counted::AlreadyApplied { .. }, "a retry of {op}");
        }
        let mismatch = book.apply_because(op, 6, reason).await?;
        ensure_eq!(mismatch, Counted::Mismatch, "another delta of {op}");
    }
    let expected = vec![(OpId::new("with")?, Some(first)), (OpId::new("without")?, None)];
    ensure_eq!(book.reasons(10).await?, expected, "the reasons of the log");
    ensure_eq!(book.value().await?, 10, "the value");
    Ok(())
}

pub(in crate::counter) async fn a_merged_change_leaves_its_amount_and_no_reason(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    for number in 0..5 {
        let _ = book.apply_because(&format!("op-{number}"), 3, Some(&Reason::new("delivered")?)).await?;
    }
    ensure_eq!(book.compact(Duration::ZERO, 3).await?.deleted, 3, "merged changes");
    ensure_eq!(book.reasons(10).await?.len(), 2, "changes that are left");
    ensure_eq!(book.compact(Duration::ZERO, 10).await?.deleted, 2, "merged changes, the last of them");
    let log = book.log(10).await?;
    let is_one_sum = matches!(log[..], [LedgerEntry::Sum { delta: 15, changes: 5, .. }]);
    ensure!(is_one_sum, "the merged log is not one sum: {log:?}");
    ensure_eq!(book.value().await?, 15, "the value");
    Ok(())
}
