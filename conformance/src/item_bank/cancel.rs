//! Futures that are dropped: before the request lands, in flight, and between landing and reply.

use super::calls::CALLS;
use crate::failure::Verdict;
use crate::repeatable::drop_everywhere;
use crate::world::World;

pub(super) async fn dropping_any_call_leaves_the_bank_whole(world: &World) -> Verdict {
    drop_everywhere(world, &CALLS).await
}
