//! ER-5: a refused change is not applied later, whatever arrives.

use storagebox_core::{Attempt, Bounds, Cancelled, Certainty, Counted, ErrorKind};

use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Verdict, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::race::race;
use crate::world::World;

const LOST: [&[Fate]; 4] =
    [&[Fate::Late], &[Fate::RequestLost], &[Fate::ReplyLost], &[Fate::Late, Fate::ReplyLost, Fate::Late]];

/// Creates a counter whose value is 0 and cannot fall below 0.
fn stock(world: &World, kind: Kind) -> storagebox_core::Result<Subject> {
    Subject::within(world, kind, Bounds::at_least(0))
}

pub(super) async fn a_sold_out_stock_stays_sold_out_for_a_lost_sale(world: &World, kind: Kind) -> Verdict {
    for (number, fates) in LOST.into_iter().enumerate() {
        let stock = stock(world, kind)?.at(format!("key-{number}"))?;
        let link = Link::script(fates.iter().copied());
        let sold = stock.behind(&link).retried("sale", -1).await?;
        ensure_eq!(sold, Counted::OutOfBounds, "a sale after attempts whose fate was {fates:?}");
        let _ = stock.apply("delivery", 2).await?;
        link.land().await;
        ensure_eq!(stock.value().await?, 2, "the stock after the lost sale has arrived");
        ensure_matches!(stock.apply("sale", -1).await?, Counted::Applied { .. }, "another call of the sale");
        ensure_eq!(stock.value().await?, 1, "the stock after another call of the sale");
    }
    Ok(())
}

/// A lost attempt of a sale changes nothing if it arrives after another call with the same operation id was applied.
pub(super) async fn a_lost_sale_is_void_after_its_operation_was_applied(world: &World, kind: Kind) -> Verdict {
    let (stock, link) = (stock(world, kind)?, Link::script([Fate::Late]));
    ensure_eq!(stock.behind(&link).retried("sale", -1).await?, Counted::OutOfBounds, "a sale");
    let _ = stock.apply("delivery", 5).await?;
    ensure_matches!(stock.apply("sale", -1).await?, Counted::Applied { .. }, "another call of the sale");
    link.land().await;
    ensure_eq!(stock.value().await?, 4, "the stock after the lost sale has arrived");
    ensure_eq!(stock.apply("sale", -1).await?, stock.already(4), "the sale, once more");
    Ok(())
}

pub(super) async fn a_lost_overflow_is_not_applied_later(world: &World, kind: Kind) -> Verdict {
    let (counter, link) = (Subject::new(world, kind)?, Link::script([Fate::Late]));
    let _ = counter.apply("fill", i64::MAX).await?;
    ensure_eq!(counter.behind(&link).retried("more", 1).await?, Counted::Overflow, "a change beyond i64");
    let _ = counter.apply("empty", -10).await?;
    link.land().await;
    ensure_eq!(counter.value().await?, i64::MAX - 10, "the value after the lost change has arrived");
    Ok(())
}

/// A full window answers the second attempt of a change with `Full`. A lost first attempt that arrives later changes
/// nothing.
pub(super) async fn a_full_window_is_an_answer_after_a_lost_change(world: &World) -> Verdict {
    let window = storagebox_core::Strategy::Window { lifetime: HOUR, capacity: 1 };
    let (counter, link) = (Subject::open(world.store(), window, Bounds::NONE)?, Link::script([Fate::Late]));
    let _ = counter.apply("first", 1).await?;
    if world.can_travel() {
        world.pass(HOUR / 2).await;
    }
    ensure_eq!(counter.behind(&link).retried("second", 1).await?, Counted::Full, "a change in a full window");
    if world.can_travel() {
        // The first change is forgotten, and the void call is not.
        world.pass(HOUR * 3 / 5).await;
        link.land().await;
        ensure_eq!(counter.value().await?, 1, "the value after the lost change has arrived");
        let again = counter.apply("second", 1).await?;
        ensure_matches!(again, Counted::Applied { .. }, "another call of the change, in a window with room");
    }
    Ok(())
}

pub(super) async fn a_cancel_ends_an_operation_that_has_void_calls(world: &World, kind: Kind) -> Verdict {
    let (stock, link) = (stock(world, kind)?, Link::script([Fate::Late]));
    ensure_eq!(stock.behind(&link).retried("sale", -1).await?, Counted::OutOfBounds, "a sale");
    ensure_eq!(stock.cancel("sale").await?, Cancelled::Cancelled, "a cancel");
    let _ = stock.apply("delivery", 5).await?;
    link.land().await;
    ensure_eq!(stock.apply("sale", -1).await?, Counted::Fenced, "the sale");
    ensure_eq!(stock.value().await?, 5, "the stock");
    Ok(())
}

pub(super) async fn more_void_calls_than_an_operation_keeps_are_a_doubt(world: &World, kind: Kind) -> Verdict {
    let (stock, mut refused) = (stock(world, kind)?, Vec::new());
    for call in 0..Attempt::MAX_VOID as i64 + 4 {
        let attempt = Attempt::of_call(call);
        match stock.attempt_as(attempt.again(), "sale", -1).await {
            Ok(sold) => {
                ensure_eq!(sold, Counted::OutOfBounds, "a repeated sale");
                refused.push(attempt);
            }
            Err(error) => {
                ensure_eq!(error.kind(), ErrorKind::OutcomeUnknown, "the kind of {error}");
                ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}");
            }
        }
    }
    ensure_eq!(refused.len(), Attempt::MAX_VOID, "calls of an operation that are void");
    let _ = stock.apply("delivery", 5).await?;
    for attempt in refused {
        let sold = stock.attempt_as(attempt, "sale", -1).await?;
        ensure_eq!(sold, Counted::OutOfBounds, "a lost attempt of a void call");
    }
    ensure_eq!(stock.value().await?, 5, "the stock after all lost attempts have arrived");
    ensure_matches!(stock.apply("sale", -1).await?, Counted::Applied { .. }, "another call");
    Ok(())
}

/// A store remembers void calls for as long as applied operations. Upkeep deletes void calls after this time.
pub(super) async fn void_calls_are_forgotten_in_time(world: &World, kind: Kind) -> Verdict {
    let stock = stock(world, kind)?;
    for call in 0..Attempt::MAX_VOID as i64 {
        let sold = stock.attempt_as(Attempt::of_call(call).again(), "sale", -1).await?;
        ensure_eq!(sold, Counted::OutOfBounds, "a repeated sale");
    }
    if world.can_travel() && !world.loses_answers() {
        world.pass(HOUR + world.short()).await;
        let sold = stock.attempt_as(Attempt::of_call(-1).again(), "sale", -1).await?;
        ensure_eq!(sold, Counted::OutOfBounds, "a repeated sale once the void calls are forgotten");
        world.pass(HOUR + world.short()).await;
        world.upkeep().await?;
    }
    let _ = stock.apply("delivery", 1).await?;
    ensure_matches!(stock.apply("sale", -1).await?, Counted::Applied { .. }, "another call");
    Ok(())
}

/// The first attempt of a sale races with a second attempt and with a delivery. If the store refuses the second
/// attempt, the first attempt never takes effect.
pub(super) async fn an_attempt_in_progress_counts_before_the_refusal_or_never(world: &World, kind: Kind) -> Verdict {
    let any = stock(world, kind)?;
    for round in 0..world.profile().rounds * 4 {
        let (stock, attempt) = (any.at(format!("key-{round}"))?, Attempt::of_call(round as i64));
        let answers = race(3, |number| {
            let stock = stock.clone();
            async move {
                let counted = match number {
                    0 => stock.attempt_as(attempt, "sale", -1).await,
                    1 => stock.attempt_as(attempt.again(), "sale", -1).await,
                    _ => stock.attempt("delivery", 1).await,
                };
                match counted {
                    Ok(counted) => Ok(Some(counted)),
                    Err(error) if error.is_retryable() => Ok(None),
                    Err(error) => Err(error.into()),
                }
            }
        })
        .await?;
        let _ = stock.apply_until_answered("delivery", 1).await?;
        if answers[1] == Some(Counted::OutOfBounds) {
            ensure_eq!(stock.value().await?, 1, "the stock after a refused sale, round {round}");
            let sold = stock.attempt_as(attempt, "sale", -1).await?;
            ensure_eq!(sold, Counted::OutOfBounds, "an attempt that arrives after the race, round {round}");
        }
        let sold = stock.apply("sale", -1).await?;
        ensure_matches!(sold, Counted::Applied { .. } | Counted::AlreadyApplied { .. }, "another call");
        ensure_eq!(stock.value().await?, 0, "the stock after another call");
    }
    Ok(())
}

/// A strategy that cannot void a lost attempt refuses a first attempt with `OutOfBounds`, and answers a repetition with
/// `OutcomeUnknown`.
pub(super) async fn a_refusal_that_voids_nothing_is_a_doubt(world: &World, kind: Kind) -> Verdict {
    let stock = stock(world, kind)?;
    ensure_eq!(stock.apply("sale", -1).await?, Counted::OutOfBounds, "a sale that lost no attempt");
    let answer = stock.attempt_as(Attempt::first().again(), "sale", -1).await;
    let error = ensure_matches!(answer, Err(error) => error, "a repeated sale");
    ensure_eq!(error.kind(), ErrorKind::OutcomeUnknown, "the kind of {error}");
    Ok(())
}
