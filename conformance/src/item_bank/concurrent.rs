//! To come.
use crate::{case::Verdict, world::World};
pub(super) async fn racing_takers_get_different_items(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn one_item_left_has_one_winner(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn every_item_is_somewhere_at_every_moment(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn racing_calls_of_one_claim_share_one_item(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn plenty_of_items_is_never_empty(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn racing_loads_add_each_item_once(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn all_takers_are_served_while_items_last(_world: &World) -> Verdict {
    Ok(())
}
