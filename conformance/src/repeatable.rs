//! Calls that are disturbed and then repeated: the same checks for every trait and every kind of fault.

mod cutting;
mod dropping;

use std::fmt;
use std::sync::Arc;

use storagebox_core::{Backend, Result, async_trait};

use crate::failure::{Failure, Verdict, ensure};
use crate::race::answered;
use crate::world::World;

pub(crate) use cutting::{Clients, MOST_REQUESTS, cut_everywhere};
pub(crate) use dropping::drop_everywhere;

/// Which attempt of a call took effect, according to the answer to the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// This attempt took effect.
    Now,
    /// An earlier attempt took effect.
    Before,
    /// An earlier attempt did a part of the call, and this attempt did the rest.
    Partly,
    /// An attempt took effect, but the answer does not show which attempt.
    Done,
    /// A wrong answer.
    Wrong(String),
}

impl Told {
    pub(crate) fn wrong(answer: impl fmt::Debug) -> Self {
        Self::Wrong(format!("{answer:?}"))
    }

    fn is_right(&self) -> bool {
        !matches!(self, Self::Wrong(_))
    }
}

/// A call that can be repeated without a second effect.
#[async_trait]
pub(crate) trait Repeatable: Copy + fmt::Debug + Send + Sync + 'static {
    /// The objects that the call works on.
    type Scene: Send + Sync;

    /// Creates the objects that the call works on, under the unique name `place`.
    async fn set(self, world: &World, place: &str) -> Result<Self::Scene, Failure>;

    /// Returns a text that occurs in the call's requests but in no namespace's name.
    fn needle(scene: &Self::Scene) -> &str;

    /// Returns whether the store recognises a repetition of the call even after other calls.
    fn is_known_again(self) -> bool {
        true
    }

    /// Returns whether the call is correct only if no earlier attempt is in flight.
    fn needs_calm(self) -> bool {
        false
    }

    async fn make(self, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Result<Told>;

    /// Returns whether the call is done, or `None` if no read shows that.
    async fn is_done(self, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure>;

    /// Returns whether [`ensure_done`](Self::ensure_done) fails if the call is not done, although no read shows that.
    fn is_checked_by_a_change(self) -> bool {
        false
    }

    /// Checks that the call took effect once and changed nothing else. May change the scene, which is not used again.
    async fn ensure_done(self, world: &World, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Verdict;

    /// Makes a call on another scene with the client `old`, which had the fault, and checks that the client `fresh`
    /// sees the effect.
    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict;
}

/// Returns the calls that the suite may make on this store, each with its index in `calls`.
fn allowed<C: Repeatable>(world: &World, calls: &[C]) -> impl Iterator<Item = (usize, C)> {
    let calm = !world.loses_answers();
    calls.iter().copied().enumerate().filter(move |(_, call)| calm || !call.needs_calm())
}

/// A call that met a fault.
struct Attempt<'a, C: Repeatable> {
    call: C,
    world: &'a World,
    place: String,
    scene: C::Scene,
    /// What the answer said about the call, or `None` if the fault came before the answer.
    told: Option<Told>,
    /// Whether the call failed with an error that says that nothing was done.
    is_refused: bool,
}

impl<'a, C: Repeatable> Attempt<'a, C> {
    async fn on(call: C, world: &'a World, place: String) -> Result<Self, Failure> {
        let scene = call.set(world, &place).await?;
        Ok(Self { call, world, place, scene, told: None, is_refused: false })
    }

    /// Repeats the call with a new client, and checks that the call took effect once and that the old client still
    /// works.
    async fn settle(&self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>) -> Verdict {
        let done = self.call.is_done(&self.scene, fresh).await?;
        if let Some(told) = &self.told {
            ensure!(told.is_right(), "the call was answered {told:?}");
            ensure!(done != Some(false), "the call was answered {told:?}, but it is not done");
        }
        let is_untouched = !self.is_refused || done != Some(true);
        ensure!(is_untouched, "the error says that nothing was done, but the call is done");
        if self.is_refused && self.call.is_checked_by_a_change() {
            let checked = self.call.ensure_done(self.world, &self.scene, fresh).await;
            ensure!(checked.is_err(), "the error says that nothing was done, but the call is done");
        } else {
            self.repeat(fresh, done).await?;
        }
        // A pool needs so many calls to reuse the connection that had the fault.
        for number in 0..3 {
            self.call.unrelated(old, fresh, &format!("unrelated-{}-{number}", self.place)).await?;
        }
        Ok(())
    }

    async fn repeat(&self, fresh: &Arc<dyn Backend>, done: Option<bool>) -> Verdict {
        let retried = answered(|| self.call.make(&self.scene, fresh)).await?;
        ensure!(retried.is_right(), "the same call by a fresh client was answered {retried:?}");
        let repeats = self.told.is_some() || done == Some(true);
        ensure!(!repeats || retried != Told::Now, "the call was done before, and is done again");
        let finds_a_part = matches!(retried, Told::Before | Told::Partly);
        ensure!(!self.is_refused || !finds_a_part, "the error says that nothing was done, and then: {retried:?}");
        let again = answered(|| self.call.make(&self.scene, fresh)).await?;
        ensure!(matches!(again, Told::Before | Told::Done), "the same call a third time was answered {again:?}");
        self.call.ensure_done(self.world, &self.scene, fresh).await
    }
}
