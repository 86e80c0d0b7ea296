//! Many concurrent callers on one record.

use std::collections::BTreeSet;

use storagebox_core::{DedupId, DedupRepo, Entry, Forgotten, Recorded, Replaced, Retention, Version};

use super::race_on;
use crate::dedup::{Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::race::{SIZES, answered};
use crate::world::World;

const FOREVER: Retention = Retention::Forever;

/// Returns the id of each race and its number of callers.
fn races(world: &World) -> Result<Vec<(DedupId, usize)>, Failure> {
    let each = (0..world.profile().rounds).flat_map(|round| SIZES.map(|size| (round, size)));
    each.map(|(round, size)| Ok((id(&format!("order-{round}-{size}"))?, size))).collect()
}

async fn race_records(world: &World, name: &str, count: usize) -> Result<Vec<Recorded>, Failure> {
    let order = id(name)?;
    race_on(world, count, move |number, repos| {
        let order = order.clone();
        async move {
            let who = format!("caller-{number}");
            let (value, op) = (text(&who)?, op(&who)?);
            answered(|| repos.records.record(&order, &value, &op, FOREVER)).await
        }
    })
    .await
}

/// Checks that one caller recorded its value, and that all other callers saw that value.
async fn ensure_one_winner(repos: &Repos, name: &str, answers: &[Recorded]) -> Verdict {
    let winners: Vec<_> = (0..answers.len()).filter(|number| matches!(answers[*number], Recorded::New(_))).collect();
    ensure_eq!(winners.len(), 1, "winners of {} callers on {name}", answers.len());
    let value = text(&format!("caller-{}", winners[0]))?;
    for (number, answer) in answers.iter().enumerate() {
        let found = match answer {
            Recorded::New(version) => Entry { value: value.clone(), version: *version },
            Recorded::Existing(entry) => entry.clone(),
            other => return Err(Failure::new(format!("caller {number} on {name} was answered {other:?}"))),
        };
        ensure_eq!(found, repos.entry(&id(name)?).await?, "what caller {number} saw of {name}");
    }
    repos.ensure_value(&id(name)?, Some(&format!("caller-{}", winners[0]))).await
}

pub(in crate::dedup) async fn racing_records_have_one_winner(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for round in 0..world.profile().rounds * 2 {
        for size in SIZES {
            let name = format!("order-{round}-{size}");
            let answers = race_records(world, &name, size).await?;
            ensure_one_winner(&repos, &name, &answers).await?;
        }
    }
    Ok(())
}

pub(in crate::dedup) async fn an_expired_record_has_one_successor(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let short = world.short();
    let names: Vec<_> = (0..world.profile().rounds * 4).map(|round| format!("order-{round}")).collect();
    for name in &names {
        repos.record_new(&id(name)?, "old", &op("old")?, Retention::For(short)).await?;
    }
    world.pass(short).await;
    for name in &names {
        let answers = race_records(world, name, 16).await?;
        ensure_one_winner(&repos, name, &answers).await?;
    }
    Ok(())
}

pub(in crate::dedup) async fn racing_retries_of_one_op_are_again(world: &World) -> Verdict {
    for (order, size) in races(world)? {
        let (ada, value) = (op("ada")?, text("value")?);
        let answers = race_on(world, size, |_, repos| {
            let (order, ada, value) = (order.clone(), ada.clone(), value.clone());
            async move { answered(|| repos.records.record(&order, &value, &ada, FOREVER)).await }
        })
        .await?;
        let news = answers.iter().filter(|answer| matches!(answer, Recorded::New(_))).count();
        ensure_eq!(news, 1, "callers of {size} with one op that were answered New");
        let entry = Repos::of(world.store())?.entry(&order).await?;
        for answer in answers {
            match answer {
                Recorded::New(version) => ensure_eq!(version, entry.version, "the version of New"),
                other => ensure_eq!(other, Recorded::Again(entry.clone()), "a retry"),
            }
        }
    }
    Ok(())
}

pub(in crate::dedup) async fn racing_replaces_have_one_winner(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for (order, size) in races(world)? {
        let first = repos.record_new(&order, "first", &op("ada")?, FOREVER).await?;
        let answers = race_on(world, size, |number, repos| {
            let order = order.clone();
            async move {
                let who = format!("caller-{number}");
                let (value, op) = (text(&who)?, op(&who)?);
                answered(|| repos.records.replace(&order, first, &value, &op)).await
            }
        })
        .await?;
        let now = repos.entry(&order).await?;
        let mut winners = 0;
        for (number, answer) in answers.into_iter().enumerate() {
            if let Replaced::Replaced(version) = answer {
                winners += 1;
                ensure_eq!(Entry { value: text(&format!("caller-{number}"))?, version }, now, "the winner's");
            } else {
                ensure_eq!(answer, Replaced::Stale(Some(now.clone())), "what caller {number} saw");
            }
        }
        ensure_eq!(winners, 1, "winners of {size} replaces of one version");
    }
    Ok(())
}

/// Callers that replace a number by its successor lose no increment, because each call of `replace` is one step.
pub(in crate::dedup) async fn racing_increments_lose_nothing(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for round in 0..world.profile().rounds {
        let order = id(&format!("order-{round}"))?;
        repos.record_new(&order, "0", &op("zero")?, FOREVER).await?;
        race_on(world, 8, |number, repos| {
            let order = order.clone();
            async move {
                for turn in 0..6 {
                    increment(&repos, &order, &format!("{number}/{turn}")).await?;
                }
                Ok(())
            }
        })
        .await?;
        repos.ensure_value(&order, Some("48")).await?;
    }
    Ok(())
}

async fn increment(repos: &Repos, order: &DedupId, who: &str) -> Verdict {
    let op = op(who)?;
    // Of the callers that read a version, one succeeds, so no caller is refused more often than others succeed.
    for _ in 0..=48 {
        let Entry { value, version } = repos.entry(order).await?;
        let number: u32 = String::from_utf8_lossy(value.as_bytes()).parse().unwrap_or(u32::MAX - 1);
        let next = text(&(number + 1).to_string())?;
        let replaced = answered(|| repos.records.replace(order, version, &next, &op)).await?;
        if let Replaced::Replaced(_) = replaced {
            return Ok(());
        }
    }
    Err(Failure::new(format!("{who} was refused more often than others succeeded")))
}

pub(in crate::dedup) async fn racing_forgets_have_one_winner(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for (order, size) in races(world)? {
        let version = repos.record_new(&order, "first", &op("ada")?, FOREVER).await?;
        let answers = race_on(world, size, |_, repos| {
            let order = order.clone();
            async move { answered(|| repos.records.forget(&order, version)).await }
        })
        .await?;
        let winners = answers.iter().filter(|answer| **answer == Forgotten::Forgotten).count();
        let absent = answers.iter().filter(|answer| **answer == Forgotten::Absent).count();
        ensure_eq!((winners, absent), (1, size - 1), "forgets that won, and that found nothing");
        repos.ensure_value(&order, None).await?;
    }
    Ok(())
}

/// Callers concurrently record and forget the value of one id. No two records of the id have the same version, and no
/// call forgets the record of another version.
pub(in crate::dedup) async fn racing_resets_repeat_no_version(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        let name = format!("order-{round}");
        let versions = race_on(world, 16, |number, repos| {
            let name = name.clone();
            async move { record_and_forget(&repos, &name, number).await }
        })
        .await?
        .concat();
        let distinct: BTreeSet<_> = versions.iter().collect();
        ensure_eq!(distinct.len(), versions.len(), "distinct versions of the records of one id");
        ensure!(!versions.is_empty(), "no caller ever recorded a value");
        Repos::of(world.store())?.ensure_value(&id(&name)?, None).await?;
    }
    Ok(())
}

async fn record_and_forget(repos: &Repos, name: &str, number: usize) -> Result<Vec<Version>, Failure> {
    let order = id(name)?;
    let mut versions = Vec::new();
    for turn in 0..8 {
        let who = format!("{number}/{turn}");
        let (value, op) = (text(&who)?, op(&who)?);
        let recorded = answered(|| repos.records.record(&order, &value, &op, FOREVER)).await?;
        let version = match recorded {
            Recorded::New(version) => version,
            Recorded::Existing(_) => continue,
            other => return Err(Failure::new(format!("a record of {who} was answered {other:?}"))),
        };
        repos.ensure_value(&order, Some(&who)).await?;
        versions.push(version);
        let forgotten = answered(|| repos.records.forget(&order, version)).await?;
        ensure_matches!(forgotten, Forgotten::Forgotten, "forgetting the record of {who}");
    }
    Ok(versions)
}
