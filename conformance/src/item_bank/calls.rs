//! Every mutating call: its preconditions, its answer, and the state after it.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Added, Backend, ClaimId, ClaimState, Confirmed, Counts, End, Extended, Hold, HoldState, Item, ItemBank, ItemState,
    Namespace, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};

use super::take_new;
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::race::answered;
use crate::repeatable::{Repeatable, Told};
use crate::world::{World, items};

/// A time that is longer than any case takes, even on a real clock.
const LONG: Duration = Duration::from_secs(3_600);

/// A call on a bank with four items. `Add`, `Withdraw` and `Restore` name a fifth item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Add,
    Take,
    Extend,
    Confirm,
    Release,
    Retire,
    Withdraw,
    Restore,
}

pub(super) const CALLS: [Call; 8] =
    [Call::Add, Call::Take, Call::Extend, Call::Confirm, Call::Release, Call::Retire, Call::Withdraw, Call::Restore];

pub(super) struct Scene {
    name: Namespace,
    claim: ClaimId,
    fifth: [Item; 1],
}

impl Scene {
    fn bank(&self, store: &Arc<dyn Backend>) -> Result<Arc<dyn ItemBank>> {
        store.item_bank(&self.name)
    }
}

#[async_trait]
impl Repeatable for Call {
    type Scene = Scene;

    async fn set(self, world: &World, place: &str) -> Result<Scene, Failure> {
        let needle = format!("claim-{place}");
        let (claim, fifth) = (ClaimId::new(needle.as_str())?, [Item::new(needle)?]);
        let scene = Scene { name: Namespace::new(format!("bank-{place}"))?, claim, fifth };
        let (bank, claim) = (scene.bank(world.store())?, &scene.claim);
        bank.add(&items(4)?).await?;
        match self {
            Self::Add | Self::Take => {}
            Self::Extend => take_new(&bank, claim, Hold::For(LONG)).await.map(drop)?,
            Self::Confirm | Self::Release => take_new(&bank, claim, Hold::Forever).await.map(drop)?,
            Self::Retire => bank.release(claim).await.map(drop)?,
            Self::Withdraw => bank.add(&scene.fifth).await.map(drop)?,
            Self::Restore => {
                bank.add(&scene.fifth).await?;
                bank.withdraw(&scene.fifth).await?;
            }
        }
        Ok(scene)
    }

    fn needle(scene: &Scene) -> &str {
        scene.claim.as_str()
    }

    fn needs_calm(self) -> bool {
        self == Self::Retire
    }

    async fn make(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Told> {
        let (bank, claim, fifth) = (scene.bank(store)?, &scene.claim, &scene.fifth);
        Ok(match self {
            Self::Add => added(bank.add(fifth).await?),
            Self::Take => taken(&bank.take(claim, Hold::Forever).await?),
            Self::Extend => extended(&bank.extend(claim, Hold::Forever).await?),
            Self::Confirm => confirmed(&bank.confirm(claim).await?),
            Self::Release => released(bank.release(claim).await?),
            Self::Retire => retired(bank.retire(claim).await?),
            Self::Withdraw => withdrawn(bank.withdraw(fifth).await?),
            Self::Restore => restored(bank.restore(fifth).await?),
        })
    }

    async fn is_done(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure> {
        let bank = scene.bank(store)?;
        let (claim, fifth) = (bank.get(&scene.claim).await?, bank.holder(&scene.fifth[0]).await?);
        let hold = match &claim {
            ClaimState::Held(held) => Some(held.hold),
            _ => None,
        };
        Ok(Some(match self {
            Self::Add => fifth == ItemState::Free,
            Self::Take | Self::Extend => hold == Some(HoldState::Forever),
            Self::Confirm => hold == Some(HoldState::Confirmed),
            Self::Release => claim == ClaimState::Ended(End::Released),
            Self::Retire => claim == ClaimState::Unknown,
            Self::Withdraw => fifth == ItemState::Withdrawn,
            Self::Restore => fifth == ItemState::Free,
        }))
    }

    async fn ensure_done(self, world: &World, scene: &Scene, store: &Arc<dyn Backend>) -> Verdict {
        let bank = scene.bank(store)?;
        ensure_eq!(self.is_done(scene, store).await?, Some(true), "whether it is done");
        let counts = bank.counts().await?;
        ensure_eq!(counts, self.counts_after(), "the counts");
        let audited = world.sandbox().audit(&scene.name).await?;
        ensure_eq!(audited.len() as u64, counts.total(), "items audited");
        Ok(())
    }

    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict {
        let (old, fresh, item) =
            (old.item_bank(&"others".parse()?)?, fresh.item_bank(&"others".parse()?)?, [Item::new(place)?]);
        answered(|| old.add(&item)).await?;
        ensure_eq!(fresh.holder(&item[0]).await?, ItemState::Free, "what the old client added after that");
        Ok(())
    }
}

impl Call {
    fn counts_after(self) -> Counts {
        let four = Counts { free: 4, ..Counts::default() };
        match self {
            Self::Add | Self::Restore => Counts { free: 5, ..four },
            Self::Take | Self::Extend => Counts { free: 3, held: 1, ..four },
            Self::Confirm => Counts { free: 3, spent: 1, ..four },
            Self::Release | Self::Retire => four,
            Self::Withdraw => Counts { withdrawn: 1, ..four },
        }
    }
}

fn added(report: Added) -> Told {
    match report {
        Added { added: 1, already_present: 0 } => Told::Now,
        Added { added: 0, already_present: 1 } => Told::Before,
        other => Told::wrong(other),
    }
}

fn taken(outcome: &Taken) -> Told {
    match outcome {
        Taken::New(_) => Told::Now,
        Taken::Again(_) => Told::Before,
        other => Told::wrong(other),
    }
}

fn extended(outcome: &Extended) -> Told {
    match outcome {
        Extended::Extended(held) if held.hold == HoldState::Forever => Told::Done,
        other => Told::wrong(other),
    }
}

fn confirmed(outcome: &Confirmed) -> Told {
    match outcome {
        Confirmed::Confirmed(_) => Told::Done,
        other => Told::wrong(other),
    }
}

fn released(outcome: Released) -> Told {
    match outcome {
        Released::Released => Told::Done,
        other => Told::wrong(other),
    }
}

fn retired(outcome: Retired) -> Told {
    match outcome {
        Retired::Retired => Told::Now,
        Retired::Unknown => Told::Before,
        Retired::Holding => Told::wrong(outcome),
    }
}

fn withdrawn(report: Withdrawn) -> Told {
    match report {
        Withdrawn { withdrawn: 1, already_withdrawn: 0, in_use: 0, unknown: 0 } => Told::Now,
        Withdrawn { withdrawn: 0, already_withdrawn: 1, in_use: 0, unknown: 0 } => Told::Before,
        other => Told::wrong(other),
    }
}

fn restored(report: Restored) -> Told {
    match report {
        Restored { restored: 1, not_withdrawn: 0, unknown: 0 } => Told::Now,
        Restored { restored: 0, not_withdrawn: 1, unknown: 0 } => Told::Before,
        other => Told::wrong(other),
    }
}
