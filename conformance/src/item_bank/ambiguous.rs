//! To come.
use crate::{case::Verdict, world::World};
pub(super) async fn random_faults_lose_and_double_nothing(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn a_lost_reply_is_found_again(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn a_load_that_lands_twice_adds_once(_world: &World) -> Verdict {
    Ok(())
}
pub(super) async fn a_take_that_lands_after_its_release_gets_nothing(_world: &World) -> Verdict {
    Ok(())
}
