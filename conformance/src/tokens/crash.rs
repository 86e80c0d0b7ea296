//! A server that is killed and restarted.

use storagebox_core::{Consumed, TokenStore};

use super::{GONE, LIVE, batch, create, op, tokens_of};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::harness::Restart;
use crate::world::World;

pub(super) async fn what_was_acknowledged_survives_a_restart(world: &World) -> Verdict {
    let (tokens, all, winner) = (world.tokens()?, batch("token", 12)?, op("winner")?);
    tokens.create_tokens(&all[..10]).await?;
    let _ = tokens.consume(&all[0], &winner).await?;
    tokens.discard(&all[9..]).await?;
    for how in [Restart::Clean, Restart::Kill] {
        world.restart(how).await?;
        let tokens = tokens_of(&world.client().await?)?;
        for token in &all[1..9] {
            ensure!(tokens.exists(token).await?, "a live token is gone after {how:?}");
            ensure_eq!(create(&*tokens, token).await?, LIVE, "creating a live token after {how:?}");
        }
        for token in [&all[0], &all[9], &all[11]] {
            ensure_eq!(create(&*tokens, token).await?, GONE, "creating a gone token after {how:?}");
        }
        ensure_eq!(tokens.consume(&all[0], &winner).await?, Consumed::Again, "the winner after {how:?}");
        let late = tokens.consume(&all[0], &op("late")?).await?;
        ensure_eq!(late, Consumed::AlreadyGone, "another consumer after {how:?}");
    }
    Ok(())
}
