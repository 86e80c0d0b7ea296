//! To come.
use crate::{case::Verdict, world::World};
pub(super) async fn dropping_any_call_leaves_the_bank_whole(_world: &World) -> Verdict {
    Ok(())
}
