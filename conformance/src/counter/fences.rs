//! Cancelled operations: either the operation was applied and the cancel says so, or it is never applied.

use std::time::Duration;

use storagebox_core::{Bounds, Cancelled, Counted, ErrorKind, Remember, async_trait};

use super::ambiguous::ensure_lost;
use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::lasting::{Lasting, ensure_lasts};
use crate::link::{Fate, Link};
use crate::race::{SIZES, race};
use crate::world::World;

pub(super) async fn cancel_fences_an_operation(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::within(world, kind, kind.bounds(Bounds::between(-10, 10)?))?;
    for op in ["one", "two", "three"] {
        for _ in 0..2 {
            ensure_eq!(counter.cancel(op).await?, Cancelled::Cancelled, "cancelling {op}, and again");
        }
        for delta in [5, 0, -5, 100, i64::MAX] {
            ensure_eq!(counter.apply(op, delta).await?, Counted::Fenced, "{op} with {delta} after its cancel");
        }
        ensure_eq!(counter.cancel(op).await?, Cancelled::Cancelled, "cancelling {op} after its attempts");
    }
    ensure_eq!(counter.value().await?, 0, "the value after cancelled operations");
    ensure_eq!(counter.apply("four", 5).await?, counter.applied(5), "another operation");
    let other = counter.at("other")?;
    ensure_eq!(other.apply("one", 5).await?, other.applied(5), "a cancelled operation on another key");
    Ok(())
}

pub(super) async fn cancel_of_an_applied_operation_says_so(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::within(world, kind, kind.bounds(Bounds::between(-10, 10)?))?;
    let _ = counter.apply("op", 5).await?;
    let _ = counter.apply("other", 3).await?;
    for _ in 0..2 {
        ensure_eq!(counter.cancel("op").await?, counter.cancelled_too_late(5), "a cancel that is too late");
        ensure_eq!(counter.apply("op", 5).await?, counter.already(5), "a retry after it");
        ensure_eq!(counter.apply("op", 4).await?, Counted::Mismatch, "another delta after it");
        ensure_eq!(counter.value().await?, 8, "the value after it");
    }
    if kind == Kind::Ledger {
        return Ok(());
    }
    ensure_eq!(counter.apply("rejected", 100).await?, Counted::OutOfBounds, "an operation out of bounds");
    ensure_eq!(counter.cancel("rejected").await?, Cancelled::Cancelled, "a cancel of what was rejected");
    ensure_eq!(counter.apply("rejected", 1).await?, Counted::Fenced, "the rejected operation after it");
    Ok(())
}

/// A store remembers a cancelled operation for as long as it remembers an applied operation.
pub(super) async fn remembers_fences(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let _ = counter.cancel("fenced").await?;
    let almost = HOUR - Duration::from_secs(60);
    world.pass(if world.can_travel() { almost } else { world.short() }).await;
    world.upkeep().await?;
    for number in 0..40 {
        let _ = counter.apply(&format!("op-{number}"), 1).await?;
        ensure_eq!(counter.apply("fenced", 1).await?, Counted::Fenced, "a fence after {number} operations");
    }
    ensure_eq!(counter.cancel("fenced").await?, Cancelled::Cancelled, "cancelling once more");
    ensure_eq!(counter.value().await?, 40, "the value in the end");
    Ok(())
}

/// A counter whose remembered operations are tested. Each name stands for an applied and a cancelled operation.
struct Operations(Subject);

#[async_trait]
impl Lasting for Operations {
    async fn end(&self, name: &str) -> Verdict {
        let _ = self.0.apply(name, 1).await?;
        let _ = self.0.cancel(&format!("{name} cancelled")).await?;
        Ok(())
    }

    async fn is_known(&self, name: &str) -> Result<bool, Failure> {
        let (applied, cancelled) = (self.0.apply(name, 1).await?, self.0.apply(&format!("{name} cancelled"), 1).await?);
        Ok(matches!(applied, Counted::AlreadyApplied { .. }) && cancelled == Counted::Fenced)
    }
}

pub(super) async fn remembers_to_the_end_of_its_time(world: &World, kind: Kind) -> Verdict {
    let odd = HOUR + Duration::from_millis(900);
    let counter = Subject::open(world.store(), kind.strategy(Bounds::NONE, odd), Bounds::NONE)?;
    ensure_lasts(world, &Operations(counter), odd).await
}

/// A strategy that cannot store a fence returns `Unsupported` for `cancel`.
pub(super) async fn cancel_is_unsupported(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    if kind == Kind::Atomic && counter.promise().remember != Remember::None {
        return Ok(());
    }
    let answer = counter.attempt_cancel("op").await;
    let error = answer.err().ok_or_else(|| Failure::new("a counter without a place for fences fenced an operation"))?;
    ensure_eq!(error.kind(), ErrorKind::Unsupported, "the kind of the refusal");
    let names = ["Marker", "Window", "Sharded"];
    let message = error.to_string();
    ensure!(names.iter().any(|name| message.contains(name)), "the error does not name another strategy: {message}");
    ensure_eq!(counter.apply("op", 1).await?, counter.applied(1), "the operation after that");
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    AppliedNow,
    AppliedBefore,
    Never,
}

async fn apply_or_cancel(counter: &Subject, number: usize) -> Result<Told, Failure> {
    if number.is_multiple_of(2) {
        return match counter.apply("op", 3).await? {
            Counted::Fenced => Ok(Told::Never),
            counted if counted == counter.applied(3) => Ok(Told::AppliedNow),
            counted if counted == counter.already(3) => Ok(Told::AppliedBefore),
            other => Err(Failure::new(format!("an operation that other callers cancel is answered {other:?}"))),
        };
    }
    match counter.cancel("op").await? {
        Cancelled::Cancelled => Ok(Told::Never),
        cancelled if cancelled == counter.cancelled_too_late(3) => Ok(Told::AppliedBefore),
        other => Err(Failure::new(format!("a cancel of an operation that other callers apply is answered {other:?}"))),
    }
}

pub(super) async fn races_of_apply_and_cancel_have_one_end(world: &World, kind: Kind) -> Verdict {
    let any = Subject::new(world, kind)?;
    for round in 0..world.profile().rounds * 4 {
        for size in SIZES {
            let counter = any.at(format!("{round}-{size}"))?;
            let told = race(size, |number| {
                let counter = counter.clone();
                // The order of a race is random, so the cancels lead in half of the rounds.
                async move { apply_or_cancel(&counter, number + round % 2).await }
            })
            .await?;
            let times = |wanted| told.iter().filter(|told| **told == wanted).count();
            let (now, never) = (times(Told::AppliedNow), times(Told::Never));
            let one_end = (now == 1 && never == 0) || (now == 0 && never == size);
            ensure!(one_end, "one operation that {size} callers apply or cancel: {told:?}");
            let expected = if now == 1 { 3 } else { 0 };
            ensure_eq!(counter.value().await?, expected, "the value after {told:?}");
        }
    }
    Ok(())
}

/// An attempt that arrives after its operation was cancelled changes nothing, even if a retry was rejected before the
/// cancel.
pub(super) async fn late_attempts_of_a_cancelled_operation_change_nothing(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::within(world, kind, kind.bounds(Bounds::between(0, 10)?))?;
    let link = Link::script([Fate::Late, Fate::Late]);
    let far = counter.behind(&link);
    ensure_lost(far.attempt("fill", 4).await)?;
    ensure_lost(far.attempt("sell", -1).await)?;
    if kind != Kind::Ledger {
        ensure_eq!(far.apply("sell", -1).await?, Counted::OutOfBounds, "selling 1 of 0");
    }
    for op in ["fill", "sell"] {
        ensure_eq!(far.cancel(op).await?, Cancelled::Cancelled, "cancelling {op}, which is under way");
    }
    let _ = counter.apply("delivery", 5).await?;
    link.land().await;
    ensure_eq!(counter.value().await?, 5, "the value after both attempts landed");
    for (op, delta) in [("fill", 4), ("sell", -1)] {
        ensure_eq!(counter.apply(op, delta).await?, Counted::Fenced, "{op} after that");
        ensure_eq!(counter.cancel(op).await?, Cancelled::Cancelled, "cancelling {op} again");
    }
    ensure_eq!(counter.value().await?, 5, "the value in the end");
    Ok(())
}

pub(super) async fn lost_cancels_are_repeated(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    for fate in [Fate::RequestLost, Fate::ReplyLost, Fate::Late] {
        let link = Link::script([fate]);
        let (far, op) = (counter.behind(&link), format!("{fate:?}"));
        ensure_lost(far.attempt_cancel(&op).await)?;
        ensure_eq!(far.cancel(&op).await?, Cancelled::Cancelled, "a cancel after {fate:?}, once more");
        link.land().await;
        ensure_eq!(counter.apply(&op, 1).await?, Counted::Fenced, "the operation after {fate:?}");
    }
    let link = Link::script([Fate::Late]);
    let far = counter.behind(&link);
    ensure_lost(far.attempt_cancel("applied").await)?;
    ensure_eq!(counter.apply("applied", 2).await?, counter.applied(2), "an apply before a late cancel");
    link.land().await;
    ensure_eq!(counter.apply("applied", 2).await?, counter.already(2), "its retry after the late cancel");
    ensure_eq!(counter.value().await?, 2, "the value after a late cancel");
    Ok(())
}
