//! Cut connections.

use super::calls::{ON_LEASES, ON_RECORDS};
use crate::failure::Verdict;
use crate::repeatable::cut_everywhere;
use crate::world::World;

pub(super) async fn a_cut_connection_is_harmless_to_a_record(world: &World) -> Verdict {
    cut_everywhere(world, &ON_RECORDS).await
}

pub(super) async fn a_cut_connection_is_harmless_to_a_lease(world: &World) -> Verdict {
    cut_everywhere(world, &ON_LEASES).await
}
