//! S-8: what was acknowledged survives the end of a client or a server.

use super::everything::Everything;
use crate::failure::Verdict;
use crate::harness::Restart;
use crate::world::World;

pub(super) async fn closing_loses_nothing(world: &World) -> Verdict {
    let client = world.client().await?;
    let everything = Everything::put(&*client).await?;
    client.close().await?;
    client.close().await?;
    everything.ensure_there(&*world.client().await?).await
}

pub(super) async fn every_namespace_survives_a_restart(world: &World) -> Verdict {
    let everything = Everything::put(&**world.store()).await?;
    for how in [Restart::Clean, Restart::Kill] {
        world.restart(how).await?;
        let client = world.client().await?;
        everything.ensure_there(&*client).await.map_err(|failure| failure.during(format_args!("after {how:?}")))?;
    }
    Ok(())
}
