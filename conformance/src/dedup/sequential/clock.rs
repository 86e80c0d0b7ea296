//! Calls on a lease that are held while they read the clock, while other calls proceed.

use std::time::Duration;

use storagebox_core::{Begun, Completed, Lease, LeaseExtended, Retention};

use super::super::{Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::pause::{Held, with_call_held};
use crate::race::answered;
use crate::world::World;

const HOUR: Duration = Duration::from_secs(3_600);
/// The maximum number of attempts to delay a call until other calls have overtaken it.
const ATTEMPTS: usize = 3;

/// If a lease is extended while `begin` reads the clock, `begin` returns `InFlight`. So `begin` must not compare a
/// lease with a time that was read after the lease.
pub(in crate::dedup) async fn a_lease_that_is_extended_while_a_begin_reads_the_clock_is_in_flight(
    world: &World,
) -> Verdict {
    let clock = world.clock()?;
    let repos = Repos::of(world.store())?;
    for attempt in 0..ATTEMPTS {
        let job = id(&format!("job-{attempt}"))?;
        let lease = repos.begin_new(&job, &op("ada")?, HOUR).await?;
        let (leases, other, of) = (repos.leases.clone(), op("bob")?, job.clone());
        let begin = async move { answered(|| leases.begin(&of, &other, HOUR, None)).await };
        let extend = async {
            let extended = answered(|| repos.leases.extend(&lease, HOUR * 3)).await?;
            ensure_eq!(extended, LeaseExtended::Extended, "extending it");
            clock.advance(HOUR * 2);
            Ok(())
        };
        let (begun, was_held) = with_call_held(&*clock, Held::BeforeItReads, begin, extend).await?;
        ensure_matches!(begun, Begun::InFlight { .. }, "another begin during the extended lease");
        if was_held {
            break;
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Late {
    Complete,
    Extend,
    Abort,
}

impl Late {
    /// Makes this call, and returns whether the answer says that the caller still had the lease.
    async fn is_done(self, repos: Repos, lease: Lease) -> Result<bool, Failure> {
        Ok(match self {
            Self::Complete => {
                let late = text("late")?;
                let completed = answered(|| repos.leases.complete(&lease, &late, Retention::Forever)).await?;
                matches!(completed, Completed::Completed(_))
            }
            Self::Extend => answered(|| repos.leases.extend(&lease, HOUR * 5)).await? == LeaseExtended::Extended,
            Self::Abort => {
                let _ = answered(|| repos.leases.abort(&lease)).await?;
                false
            }
        })
    }
}

/// A call that is delayed after it has read the clock does not end the next lease of the id. So a call must not compare
/// a lease with a time that was read before the call waited.
pub(in crate::dedup) async fn a_call_that_was_held_after_it_read_the_clock_ends_no_other_lease(
    world: &World,
) -> Verdict {
    let clock = world.clock()?;
    let repos = Repos::of(world.store())?;
    for late in [Late::Complete, Late::Extend, Late::Abort] {
        for attempt in 0..ATTEMPTS {
            let job = id(&format!("{late:?}-{attempt}"))?;
            let lease = repos.begin_new(&job, &op("ada")?, HOUR).await?;
            let (bob, mut begun) = (op("bob")?, None);
            let begin = async {
                clock.advance(HOUR * 2);
                begun = Some(answered(|| repos.leases.begin(&job, &bob, HOUR * 3, None)).await?);
                Ok(())
            };
            let call = late.is_done(repos.clone(), lease);
            let (is_done, was_held) = with_call_held(&*clock, Held::AfterItHasRead, call, begin).await?;
            if let Some(Begun::Started(lease)) = begun {
                ensure!(!is_done, "{late:?} of a lapsed lease was made after another had begun");
                let completed = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
                ensure_matches!(completed, Completed::Completed(_), "completing the lease that lives after {late:?}");
            }
            if was_held {
                break;
            }
        }
    }
    Ok(())
}
