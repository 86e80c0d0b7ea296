//! Cut connections.

use super::calls::CALLS;
use crate::failure::Verdict;
use crate::repeatable::cut_everywhere;
use crate::world::World;

pub(super) async fn a_cut_connection_ends_each_token_once(world: &World) -> Verdict {
    cut_everywhere(world, &CALLS).await
}
