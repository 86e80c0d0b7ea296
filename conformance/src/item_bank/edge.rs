//! To come.
use crate::{case::Verdict, world::World};
pub(super) async fn duplicates_in_one_call_count_once(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn batches_of_any_length(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn a_bank_is_drained_to_the_last_item(_world: &World) -> Verdict {
    Ok(())
}
