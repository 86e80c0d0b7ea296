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

/// What the answer to a call says about the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// This attempt did it.
    Now,
    /// An earlier attempt did it.
    Before,
    /// The call is done; the answer does not say by which attempt.
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

/// A call that carries an id or names a state, so that it can be repeated.
#[async_trait]
pub(crate) trait Repeatable: Copy + fmt::Debug + Send + Sync + 'static {
    /// The objects that the call works on.
    type Scene: Send + Sync;

    /// Prepares the scene. `place` is a name that no other scene of the case has.
    async fn set(self, world: &World, place: &str) -> Result<Self::Scene, Failure>;

    /// Returns a text that the call's requests contain, and that names of namespaces do not.
    fn needle(scene: &Self::Scene) -> &str;

    /// Returns whether the store recognises a repetition, whichever calls came between.
    fn is_known_again(self) -> bool {
        true
    }

    /// Returns whether the caller must make sure that no earlier call is in flight, which it cannot if answers are
    /// lost.
    fn needs_calm(self) -> bool {
        false
    }

    async fn make(self, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Result<Told>;

    /// Returns whether the call is done, or `None` if no read tells.
    async fn is_done(self, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure>;

    /// Checks that the call was done once and nothing else was done. May change the scene, which is not used again.
    async fn ensure_done(self, world: &World, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Verdict;

    /// Makes another call on another scene with the client that had the fault, and checks that a new client sees it.
    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict;
}

/// Returns the calls that a caller may make here, with their numbers.
fn allowed<C: Repeatable>(world: &World, calls: &[C]) -> impl Iterator<Item = (usize, C)> {
    let calm = !world.loses_answers();
    calls.iter().copied().enumerate().filter(move |(_, call)| calm || !call.needs_calm())
}

/// A call that was disturbed.
struct Attempt<'a, C: Repeatable> {
    call: C,
    world: &'a World,
    place: String,
    scene: C::Scene,
    /// What the answer said, or `None` if the fault came before the answer.
    told: Option<Told>,
}

impl<'a, C: Repeatable> Attempt<'a, C> {
    async fn on(call: C, world: &'a World, place: String) -> Result<Self, Failure> {
        let scene = call.set(world, &place).await?;
        Ok(Self { call, world, place, scene, told: None })
    }

    /// Repeats the call with a new client, and checks that it happened once and that the old client still works.
    async fn settle(&self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>) -> Verdict {
        let done = self.call.is_done(&self.scene, fresh).await?;
        if let Some(told) = &self.told {
            ensure!(told.is_right(), "the call was told {told:?}");
            ensure!(done != Some(false), "the call was told {told:?}, and it is not done");
        }
        let retried = answered(|| self.call.make(&self.scene, fresh)).await?;
        ensure!(retried.is_right(), "the same call by a fresh client was told {retried:?}");
        let repeats = self.told.is_some() || done == Some(true);
        ensure!(!repeats || retried != Told::Now, "what was done is done now once more");
        let again = answered(|| self.call.make(&self.scene, fresh)).await?;
        ensure!(matches!(again, Told::Before | Told::Done), "the same call a third time was told {again:?}");
        self.call.ensure_done(self.world, &self.scene, fresh).await?;
        // As many calls as a pool needs to reuse the connection that had the fault.
        for number in 0..3 {
            self.call.unrelated(old, fresh, &format!("unrelated-{}-{number}", self.place)).await?;
        }
        Ok(())
    }
}
