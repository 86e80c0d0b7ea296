//! Futures that are dropped: before they land, on their way, and after they landed and before their reply.

use super::calls::CALLS;
use crate::failure::Verdict;
use crate::repeatable::drop_everywhere;
use crate::world::World;

pub(super) async fn dropping_any_call_leaves_the_entity_whole(world: &World) -> Verdict {
    drop_everywhere(world, CALLS).await
}
