//! Futures that are dropped: before they land, and after they landed and before their reply.

use std::sync::Arc;

use storagebox_core::{Consumed, Result, TokenId, TokenStore};

use super::{NEW, batch, create, op, token, tokens_of};
use crate::case::Verdict;
use crate::failure::{Failure, ensure, ensure_eq};
use crate::link::{Link, Linked, drop_after, polls};
use crate::world::World;

/// A call on six tokens, of which the first three live.
#[derive(Clone, Copy, Debug)]
enum Call {
    Create,
    CreateMixed,
    Consume,
    ConsumeUnknown,
    Discard,
    DiscardMixed,
}

const CALLS: [Call; 6] =
    [Call::Create, Call::CreateMixed, Call::Consume, Call::ConsumeUnknown, Call::Discard, Call::DiscardMixed];

impl Call {
    async fn make(self, tokens: &dyn TokenStore, all: &[TokenId]) -> Result<()> {
        match self {
            Self::Create => tokens.create_tokens(&all[3..]).await.map(|_| ()),
            Self::CreateMixed => tokens.create_tokens(all).await.map(|_| ()),
            Self::Consume => tokens.consume(&all[0], &op("ada")?).await.map(|_| ()),
            Self::ConsumeUnknown => tokens.consume(&all[5], &op("ada")?).await.map(|_| ()),
            Self::Discard => tokens.discard(&all[..2]).await.map(|_| ()),
            Self::DiscardMixed => tokens.discard(all).await.map(|_| ()),
        }
    }
}

/// Every call, dropped at every point: each token has done the step or not, the call made again ends in the state
/// that one undisturbed call leaves, and a stranger's call through the old client works.
pub(super) async fn dropping_any_call_leaves_the_tokens_whole(world: &World) -> Verdict {
    let mut points = 0;
    for call in CALLS {
        let (pends, expected) = undisturbed(world, call).await?;
        for point in 0..pends {
            let found = dropped_at(world, call, point)
                .await
                .map_err(|failure| failure.during(format!("{call:?}, dropped at point {point}")))?;
            ensure_eq!(found, expected, "the tokens after {call:?}, dropped at point {point} and made again");
        }
        points += pends;
    }
    ensure!(points >= 12, "only {points} points to drop a call at");
    Ok(())
}

async fn prepared(world: &World) -> Result<(World, Arc<dyn TokenStore>, Vec<TokenId>)> {
    let world = world.another().await?;
    let (tokens, all) = (world.tokens()?, batch("token", 6)?);
    tokens.create_tokens(&all[..3]).await?;
    Ok((world, tokens, all))
}

async fn undisturbed(world: &World, call: Call) -> Result<(usize, Vec<String>), Failure> {
    let (_world, tokens, all) = prepared(world).await?;
    let gated = Linked::new(Arc::clone(&tokens), Link::gated());
    let (pends, answer) = polls(call.make(&*gated, &all)).await;
    answer?;
    Ok((pends, states(&*tokens, &all).await?))
}

async fn dropped_at(world: &World, call: Call, point: usize) -> Result<Vec<String>, Failure> {
    let (world, old, all) = prepared(world).await?;
    let gated = Linked::new(Arc::clone(&old), Link::gated());
    // Over a network a call may pend less often than the last time, and end before this point.
    let _ = drop_after(call.make(&*gated, &all), point).await;

    let fresh = tokens_of(&world.client().await?)?;
    if let Call::Create | Call::CreateMixed | Call::ConsumeUnknown = call {
        ensure!(fresh.exists(&all[0]).await?, "a live token is gone");
    }
    for _ in 0..2 {
        call.make(&*fresh, &all).await?;
    }
    if let Call::Consume = call {
        let retried = fresh.consume(&all[0], &op("ada")?).await?;
        ensure_eq!(retried, Consumed::Again, "the consumer whose call was dropped");
    }
    let stranger = token("stranger")?;
    ensure_eq!(create(&*old, &stranger).await?, NEW, "a stranger's create through the old client");
    ensure_eq!(old.consume(&stranger, &op("eve")?).await?, Consumed::Now, "a stranger's consume");
    Ok(states(&*fresh, &all).await?)
}

/// Each token as others see it, which ends it.
async fn states(tokens: &dyn TokenStore, all: &[TokenId]) -> Result<Vec<String>> {
    let mut states = Vec::new();
    for token in all {
        let (exists, rival) = (tokens.exists(token).await?, tokens.consume(token, &op("rival")?).await?);
        let created = create(tokens, token).await?;
        states.push(format!("{token}: exists {exists}, another consumer {rival:?}, then {created:?}"));
    }
    Ok(states)
}
