//! Mistakes of `take`.

use std::time::{Duration, Instant};

use futures_util::FutureExt;
use storagebox_core::{
    ClaimId, ClaimState, Extended, Held, Hold, HoldState, ItemBank, MAX_DURATION, MIN_DURATION, Result, Taken,
};

use super::{BrokenBank, PAGE};
use crate::steps::{Shown, UnderWay, between_steps, lock};

/// A call of `take` that, if dropped, confirms its item and makes the bank forget its claim.
struct Unfinished<'a> {
    bank: &'a dyn ItemBank,
    claim: &'a ClaimId,
    ended: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.bank.confirm(self.claim).now_or_never();
            let _ = self.bank.retire(self.claim).now_or_never();
        }
    }
}

impl BrokenBank {
    /// Gives the same item to all calls of `take` that read the item before the first call has deleted the item.
    pub(super) async fn read_then_delete(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        if self.is_unknown(claim).await? {
            let read = lock(&self.state.read).clone();
            if let Some(held) = read {
                lock(&self.state.told).insert(claim.clone(), held.clone());
                return Ok(Taken::New(held));
            }
        }
        let taken = self.inner.take(claim, hold).await?;
        if let Taken::New(held) = &taken {
            let _shown = Shown::to_others(&self.state.read, held.clone());
            between_steps().await;
        }
        Ok(taken)
    }

    /// Removes the item in one step, and gives the item to the claim in the next step.
    pub(super) async fn take_in_two_steps(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let taken = self.inner.take(claim, hold).await?;
        if matches!(taken, Taken::New(_)) {
            let mut unfinished = Unfinished { bank: &*self.inner, claim, ended: false };
            between_steps().await;
            unfinished.ended = true;
        }
        Ok(taken)
    }

    /// Answers `Empty` if more than `most` other calls of `take` are in progress.
    #[allow(clippy::disallowed_methods, reason = "nothing here depends on how long it is")]
    pub(super) async fn take_among(&self, most: usize, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let (_under_way, others) = UnderWay::enter(&self.state.takers);
        if others > most && self.is_unknown(claim).await? {
            return Ok(Taken::Empty);
        }
        // Takes overlap even on a slow machine.
        tokio::time::sleep(Duration::from_millis(10)).await;
        self.inner.take(claim, hold).await
    }

    /// Ends holds by the client's clock instead of the store's.
    #[allow(clippy::disallowed_methods, reason = "this is the mistake")]
    pub(super) async fn lapse_by_the_clients_clock(&self) -> Result<()> {
        let now = Instant::now();
        let lapsed: Vec<_> = lock(&self.state.deadlines).extract_if(|_, until| *until <= now).collect();
        for (claim, _) in lapsed {
            let _ = self.inner.release(&claim).await?;
        }
        Ok(())
    }

    #[allow(clippy::disallowed_methods, reason = "this is the mistake")]
    pub(super) async fn take_by_the_clients_clock(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        self.lapse_by_the_clients_clock().await?;
        let Hold::For(duration) = hold.checked()? else {
            return self.inner.take(claim, hold).await;
        };
        let taken = self.inner.take(claim, Hold::Forever).await?;
        Ok(match taken {
            Taken::New(Held { item, .. }) => {
                lock(&self.state.deadlines).insert(claim.clone(), Instant::now() + duration);
                let hold = HoldState::Remaining(duration);
                Taken::New(Held { item, hold })
            }
            other => other,
        })
    }

    pub(super) async fn take_another(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let taken = self.inner.take(claim, hold).await?;
        if !matches!(taken, Taken::Again(_)) {
            return Ok(taken);
        }
        let another = self.inner.take(&ClaimId::new(self.state.own.fresh())?, hold).await?;
        Ok(match another {
            Taken::New(held) => Taken::Again(held),
            _ => taken,
        })
    }

    pub(super) async fn take_and_remember_empty(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let taken = self.inner.take(claim, hold).await?;
        if taken == Taken::Empty {
            let _ = self.inner.release(claim).await?;
        }
        Ok(taken)
    }

    pub(super) async fn take_and_renew(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        match self.inner.take(claim, hold).await? {
            Taken::Again(held) => match self.inner.extend(claim, hold).await? {
                Extended::Extended(held) => Ok(Taken::Again(held)),
                _ => Ok(Taken::Again(held)),
            },
            other => Ok(other),
        }
    }

    pub(super) async fn take_once_more(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        if matches!(self.inner.get(claim).await?, ClaimState::Ended(_)) {
            let _ = self.inner.retire(claim).await?;
        }
        self.inner.take(claim, hold).await
    }

    /// Takes a free item, but answers `Empty` if the items in use fill a page.
    pub(super) async fn take_from_one_page(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let counts = self.inner.counts().await?;
        let in_use = counts.total() - counts.free;
        if in_use > PAGE as u64 && self.is_unknown(claim).await? {
            return Ok(Taken::Empty);
        }
        self.inner.take(claim, hold).await
    }

    pub(super) async fn take_in_any_bank(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let taken = self.inner.take(claim, hold).await?;
        if let Taken::New(held) = &taken {
            lock(&self.state.told).insert(claim.clone(), held.clone());
        }
        Ok(taken)
    }

    pub(super) async fn remember_what_it_had(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let taken = self.inner.take(claim, hold).await?;
        if let Taken::New(held) = &taken {
            lock(&self.state.had).insert(claim.clone(), held.item.clone());
        }
        Ok(taken)
    }
}

pub(super) fn clamped(hold: Hold) -> Hold {
    match hold {
        Hold::Forever => Hold::Forever,
        Hold::For(duration) => Hold::For(duration.clamp(MIN_DURATION, MAX_DURATION)),
    }
}

/// Returns a limited hold with the longest allowed duration, and any other hold unchanged.
pub(super) fn until_a_worker_comes(hold: Hold) -> Hold {
    match hold {
        Hold::Forever => Hold::Forever,
        Hold::For(_) => Hold::For(MAX_DURATION),
    }
}
