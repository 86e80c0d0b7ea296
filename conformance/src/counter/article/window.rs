//! Article 3: the keys of the last minutes, inside the counter's record.

use std::time::Duration;

use storagebox_core::{Bounds, Counted, Result, Strategy};

use super::lose;
use crate::counter::Subject;
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::link::Fate;
use crate::race::race;
use crate::world::World;

/// How long the window in article 3 remembers a key.
const FIVE_MINUTES: Duration = Duration::from_secs(300);

fn window(world: &World, capacity: u32) -> Result<Subject> {
    let strategy = Strategy::Window { lifetime: FIVE_MINUTES, capacity };
    Subject::open(world.store(), strategy, Bounds::NONE)?.at("2024-11-22")
}

/// A retry is applied if the request of the first attempt was lost, but not if only the reply was lost.
pub(in crate::counter) async fn article_3_a_key_that_is_contained_is_not_applied(world: &World) -> Verdict {
    // Article 3: "When there is a connection drop we have no idea if the + 10 was applied or not."
    let counter = window(world, 100)?;
    lose(&counter, Fate::ReplyLost, "15.dfc31777", 10).await?;
    lose(&counter, Fate::RequestLost, "15.a1b2c3d4", 10).await?;
    ensure_eq!(counter.apply("15.dfc31777", 10).await?, counter.already(10), "a key that is contained");
    ensure_eq!(counter.apply("15.a1b2c3d4", 10).await?, counter.applied(20), "a key that is not contained");
    ensure_eq!(counter.value().await?, 20, "what is billed");
    Ok(())
}

/// Ten concurrent changes of a window are all applied.
pub(in crate::counter) async fn article_3_ten_concurrent_requests_all_add_up(world: &World) -> Verdict {
    // Article 3: "With 10 concurrent requests, 1 will succeed, but the other 9 will fail the first time."
    let counter = window(world, 100)?;
    let answers = race(10, |number| {
        let counter = counter.clone();
        async move { counter.apply(&format!("update-{number}"), 10).await }
    })
    .await?;
    let applied = answers.iter().filter(|answer| matches!(answer, Counted::Applied { .. })).count();
    ensure_eq!((applied, counter.value().await?), (10, 100), "updates that were applied, and their sum");
    Ok(())
}

/// A window that is full of young keys returns `Full` and forgets no key, so every retry is recognised.
pub(in crate::counter) async fn article_3_a_burst_is_full_instead_of_forgetting(world: &World) -> Verdict {
    let counter = window(world, 5)?;
    for number in 1..=5 {
        let _ = counter.apply(&format!("update-{number}"), 10).await?;
    }
    for burst in 0..3 {
        ensure_eq!(counter.apply(&format!("burst-{burst}"), 10).await?, Counted::Full, "a key beyond the rate");
    }
    for number in 1..=5 {
        let retried = counter.apply(&format!("update-{number}"), 10).await?;
        ensure_eq!(retried, counter.already(10 * number), "the retry of update {number}");
    }
    ensure_eq!(counter.value().await?, 50, "what was applied");
    Ok(())
}

/// A window remembers each key for at least five minutes, and then makes room for another key.
pub(in crate::counter) async fn article_3_keys_live_for_five_minutes(world: &World) -> Verdict {
    // Article 3: "From that moment on the list will always have every key from the last 5 minutes."
    let counter = window(world, 3)?;
    let _ = counter.apply("old", 10).await?;
    world.pass(if world.can_travel() { FIVE_MINUTES - Duration::from_secs(20) } else { world.short() }).await;
    ensure_eq!(counter.apply("old", 10).await?, counter.already(10), "the key just before five minutes");
    let _ = counter.apply("second", 10).await?;
    let _ = counter.apply("third", 10).await?;
    ensure_eq!(counter.apply("fourth", 10).await?, Counted::Full, "a fourth key within five minutes");
    if world.can_travel() {
        world.pass(Duration::from_secs(60)).await;
        let fourth = counter.apply("fourth", 10).await?;
        ensure_eq!(fourth, counter.applied(40), "a fourth key when the first is older than that");
        ensure_eq!(counter.apply("second", 10).await?, counter.already(20), "a key that is younger");
    }
    Ok(())
}

/// The first change on a new key works without preparation, and its retry is recognised.
pub(in crate::counter) async fn article_3_the_first_key_needs_nothing_before_it(world: &World) -> Verdict {
    // Article 3: "It is important to remember that if there are zero elements in the list."
    for day in 1..=5 {
        let counter = window(world, 3)?.at(format!("2024-11-{day:02}"))?;
        ensure_eq!(counter.apply("first", 10).await?, counter.applied(10), "the first key of day {day}");
        ensure_eq!(counter.apply("first", 10).await?, counter.already(10), "its retry");
    }
    Ok(())
}

/// Concurrent withdrawals never overdraw an account, whether they are retried or not.
pub(in crate::counter) async fn article_3_an_account_is_never_overdrawn(world: &World) -> Verdict {
    // Article 3: "A bank needs to prevent an account from withdrawing funds that it does not have."
    let account = window(world, 100)?.bounded(Bounds::at_least(0));
    let _ = account.apply("deposit", 25).await?;
    race(8, |number| {
        let account = account.clone();
        async move {
            let first = account.apply(&format!("withdrawal-{number}"), -10).await?;
            let again = account.apply(&format!("withdrawal-{number}"), -10).await?;
            let same = matches!(
                (first, again),
                (Counted::Applied { value: one }, Counted::AlreadyApplied { value: other }) if one == other
            );
            ensure!(same || first == again, "a withdrawal is answered {first:?}, and then {again:?}");
            Ok(())
        }
    })
    .await?;
    ensure_eq!(account.value().await?, 5, "what is left of 25 after withdrawals of 10");
    Ok(())
}
