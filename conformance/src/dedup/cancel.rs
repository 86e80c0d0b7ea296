//! Futures that are dropped: before the request lands, in flight, and between landing and reply.

use super::calls::{ON_LEASES, ON_RECORDS};
use crate::failure::Verdict;
use crate::repeatable::drop_everywhere;
use crate::world::World;

pub(super) async fn dropping_any_call_on_a_record_is_harmless(world: &World) -> Verdict {
    drop_everywhere(world, &ON_RECORDS).await
}

pub(super) async fn dropping_any_call_on_a_lease_is_harmless(world: &World) -> Verdict {
    drop_everywhere(world, &ON_LEASES).await
}
