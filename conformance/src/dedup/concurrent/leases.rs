//! Many concurrent runners of one id.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox_core::{Aborted, Begun, Completed, Fence, Fingerprint, Lease, LeaseRepo, Retention};

use super::race_on;
use crate::dedup::{LONG, Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::race::{SIZES, answered, race};
use crate::world::World;

async fn race_begins(world: &World, name: &str, count: usize) -> Result<Vec<Begun>, Failure> {
    let job = id(name)?;
    race_on(world, count, move |number, repos| {
        let job = job.clone();
        async move {
            let who = op(&format!("caller-{number}"))?;
            answered(|| repos.leases.begin(&job, &who, LONG, None)).await
        }
    })
    .await
}

/// Returns the one lease that was started, and checks that all other callers got `InFlight`.
fn the_one(answers: Vec<Begun>) -> Result<Lease, Failure> {
    let count = answers.len();
    let mut leases = Vec::new();
    for (number, answer) in answers.into_iter().enumerate() {
        match answer {
            Begun::Started(lease) => {
                ensure_eq!(lease.op, op(&format!("caller-{number}"))?, "whose lease caller {number} was given");
                leases.push(lease);
            }
            other => {
                ensure_matches!(other, Begun::InFlight { .. }, "the answer to caller {number} of {count}")
            }
        }
    }
    ensure_eq!(leases.len(), 1, "leases that {count} callers started at once");
    Ok(leases.remove(0))
}

pub(in crate::dedup) async fn racing_begins_have_one_lease(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for round in 0..world.profile().rounds * 2 {
        for size in SIZES {
            let name = format!("job-{round}-{size}");
            let lease = the_one(race_begins(world, &name, size).await?)?;
            let completed = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
            ensure_matches!(completed, Completed::Completed(_), "the one lease of {name} completes");
        }
    }
    Ok(())
}

/// Returns `count` lapsed leases on separate ids, all begun with the same operation id.
async fn lapsed(world: &World, repos: &Repos, by: &str, count: usize) -> Result<Vec<Lease>, Failure> {
    let (short, by, mut lapsed) = (world.short(), op(by)?, vec![]);
    for number in 0..count {
        lapsed.push(repos.begin_new(&id(&format!("job-{number}"))?, &by, short).await?);
    }
    world.pass(short).await;
    Ok(lapsed)
}

pub(in crate::dedup) async fn a_lapsed_lease_has_one_successor(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for old in lapsed(world, &repos, "old", world.profile().rounds * 4).await? {
        let lease = the_one(race_begins(world, old.id.as_str(), 16).await?)?;
        ensure!(lease.fence > old.fence, "the fence {:?} after {:?}", lease.fence, old.fence);
        let late = repos.leases.complete(&old, &text("late")?, Retention::Forever).await?;
        ensure_eq!(late, Completed::Fenced, "the lapsed lease completes");
    }
    Ok(())
}

pub(in crate::dedup) async fn racing_begins_of_one_op_share_one_lease(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let (job, ada) = (id(&format!("job-{round}-{size}"))?, op("ada")?);
            let answers = race_on(world, size, |_, repos| {
                let (job, ada) = (job.clone(), ada.clone());
                async move { answered(|| repos.leases.begin(&job, &ada, LONG, None)).await }
            })
            .await?;
            ensure_matches!(&answers[0], Begun::Started(_), "a begin of the one op");
            for answer in &answers {
                ensure_eq!(answer, &answers[0], "the leases of one op in {size} calls");
            }
        }
    }
    Ok(())
}

/// Concurrent callers begin and abort leases of one id. At most one caller has the lease at a time, and each new lease
/// has a greater fence.
pub(in crate::dedup) async fn racing_leases_exclude_each_other(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        let (name, held, last) = (format!("job-{round}"), Arc::default(), Arc::default());
        let started: usize = race_on(world, 12, |number, repos| {
            let inside = Inside { held: Arc::clone(&held), last: Arc::clone(&last) };
            let name = name.clone();
            async move { take_turns(&repos, &name, number, &inside).await }
        })
        .await?
        .into_iter()
        .sum();
        ensure!(started > 0, "no caller ever started a lease");
    }
    Ok(())
}

/// The number of the caller that has the lease (0 for none), and the greatest fence so far.
struct Inside {
    held: Arc<AtomicU64>,
    last: Arc<AtomicU64>,
}

impl Inside {
    fn enter(&self, who: u64, fence: Fence) -> Verdict {
        let before = self.held.swap(who, Ordering::SeqCst);
        ensure_eq!(before, 0, "who had the lease when another was given it");
        let last = self.last.swap(fence.number(), Ordering::SeqCst);
        ensure!(last < fence.number(), "the fence {} was given after {last}", fence.number());
        Ok(())
    }

    fn leave(&self, who: u64) -> Verdict {
        ensure_eq!(self.held.swap(0, Ordering::SeqCst), who, "who had the lease when its holder gave it back");
        Ok(())
    }
}

async fn take_turns(repos: &Repos, name: &str, number: usize, inside: &Inside) -> Result<usize, Failure> {
    let (job, who) = (id(name)?, number as u64 + 1);
    let mut started = 0;
    for turn in 0..10 {
        let op = op(&format!("{number}/{turn}"))?;
        if let Begun::Started(lease) = answered(|| repos.leases.begin(&job, &op, LONG, None)).await? {
            inside.enter(who, lease.fence)?;
            tokio::task::yield_now().await;
            inside.leave(who)?;
            ensure_eq!(answered(|| repos.leases.abort(&lease)).await?, Aborted::Aborted, "the holder aborts");
            started += 1;
        }
    }
    Ok(started)
}

/// If `complete` of a lapsed lease races with `begin`, either `begin` returns the result, or `complete` returns
/// `Fenced`.
pub(in crate::dedup) async fn a_late_complete_and_a_new_begin_agree(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for old in lapsed(world, &repos, "ada", world.profile().rounds * 8).await? {
        let clients = Repos::pair(world).await?;
        let answers = race(2, |number| {
            let (old, repos) = (old.clone(), clients[number].clone());
            async move { complete_or_begin(&repos, &old, number).await }
        })
        .await?;
        let agreed = [["completed", "done"], ["fenced", "started"]].map(|pair| pair.map(str::to_owned));
        ensure!(
            agreed.iter().any(|pair| *pair == answers[..]),
            "a late complete and a begin have answers that no order explains: {answers:?}"
        );
        let expected = (answers[0] == "completed").then_some("late");
        repos.ensure_value(&old.id, expected).await?;
    }
    Ok(())
}

async fn complete_or_begin(repos: &Repos, old: &Lease, number: usize) -> Result<String, Failure> {
    let (late, bob) = (text("late")?, op("bob")?);
    if number == 0 {
        return Ok(match answered(|| repos.leases.complete(old, &late, Retention::Forever)).await? {
            Completed::Completed(_) => "completed".into(),
            Completed::Fenced => "fenced".into(),
            other @ Completed::Again(_) => format!("{other:?}"),
        });
    }
    Ok(match answered(|| repos.leases.begin(&old.id, &bob, LONG, None)).await? {
        Begun::Started(lease) if lease.fence > old.fence => "started".into(),
        Begun::Done(entry) if entry == repos.entry(&old.id).await? => "done".into(),
        other => format!("{other:?}"),
    })
}

pub(in crate::dedup) async fn racing_fingerprints_are_told_apart(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let job = id(&format!("job-{round}-{size}"))?;
            let answers = race_on(world, size, |number, repos| {
                let job = job.clone();
                async move {
                    let fingerprint = Fingerprint::new(format!("fingerprint-{}", number % 2))?;
                    let who = op(&format!("caller-{number}"))?;
                    answered(|| repos.leases.begin(&job, &who, LONG, Some(&fingerprint))).await
                }
            })
            .await?;
            let started: Vec<_> = (0..size).filter(|number| matches!(answers[*number], Begun::Started(_))).collect();
            ensure_eq!(started.len(), 1, "leases that {size} callers started at once");
            for (number, answer) in answers.iter().enumerate().filter(|(number, _)| *number != started[0]) {
                if number % 2 == started[0] % 2 {
                    ensure_matches!(answer, Begun::InFlight { .. }, "a begin with the winner's fingerprint");
                } else {
                    ensure_eq!(*answer, Begun::Mismatch, "a begin with another fingerprint");
                }
            }
        }
    }
    Ok(())
}
