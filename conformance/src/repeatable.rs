//! A call that something happens to and that is made again: the same for every trait and every kind of trouble.

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

/// What a call was told of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// This attempt did it.
    Now,
    /// An earlier attempt did it.
    Before,
    /// It is done; the answer does not tell by which attempt.
    Done,
    /// Something else, which must not be.
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

/// A call that carries an id or names a state, so that it can be made again.
#[async_trait]
pub(crate) trait Repeatable: Copy + fmt::Debug + Send + Sync + 'static {
    /// What it works on.
    type Scene: Send + Sync;

    /// Sets the scene in good order. The place is a name that no other scene of the case has.
    async fn set(self, world: &World, place: &str) -> Result<Self::Scene, Failure>;

    /// A text that its requests hold on their way, and that names of namespaces do not.
    fn needle(scene: &Self::Scene) -> &str;

    /// Whether the store knows it again, whoever came between.
    fn is_known_again(self) -> bool {
        true
    }

    /// Whether its caller must make sure that no earlier call is under way. Where answers are lost, nobody can.
    fn needs_calm(self) -> bool {
        false
    }

    /// Makes it.
    async fn make(self, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Result<Told>;

    /// Whether it is done, where a read tells.
    async fn is_done(self, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure>;

    /// Looks that it was done once, and nothing else was; it may change the scene, which is not used again.
    async fn ensure_done(self, world: &World, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Verdict;

    /// Another call on another scene by the client that had the trouble, and whether a fresh one sees what it did.
    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict;
}

/// The calls that a caller may make here.
fn allowed<C: Repeatable>(world: &World, calls: &[C]) -> impl Iterator<Item = (usize, C)> {
    let calm = !world.loses_answers();
    calls.iter().copied().enumerate().filter(move |(_, call)| calm || !call.needs_calm())
}

/// A call in trouble.
struct Attempt<'a, C: Repeatable> {
    call: C,
    world: &'a World,
    place: String,
    scene: C::Scene,
    /// What it was told, unless the trouble came between.
    told: Option<Told>,
}

impl<'a, C: Repeatable> Attempt<'a, C> {
    async fn on(call: C, world: &'a World, place: String) -> Result<Self, Failure> {
        let scene = call.set(world, &place).await?;
        Ok(Self { call, world, place, scene, told: None })
    }

    /// A fresh client makes the call again, and the one that had the trouble goes on: it happened once.
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
        // As many as a pool needs to come round to the connection that had the trouble.
        for number in 0..3 {
            self.call.unrelated(old, fresh, &format!("unrelated-{}-{number}", self.place)).await?;
        }
        Ok(())
    }
}
