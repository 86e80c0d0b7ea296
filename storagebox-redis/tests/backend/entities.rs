//! Entities, E-1 to E-8: the behaviour that is specific to this backend.

mod joined;
mod lost;
mod upkeep;

use storagebox_core::Result;
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::{entities, processor};

use crate::scene::{in_place, with_place};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_copies_of_a_message_take_effect_once() -> Result<()> {
    in_place(async |place| processor::racing_copies_take_effect_once([&place.store()?, &place.store()?]).await).await
}

#[test]
fn one_commit_creates_ten_thousand_tokens() -> Result<()> {
    with_place(async |place| entities::creates_tokens(&place.store()?, &[1, 50, 1_001, 10_000]).await)
}

#[tokio::test]
async fn an_invalid_call_is_refused_without_a_request() -> Result<()> {
    entities::refuses_before_it_asks(&RedisStore::connect("redis://127.0.0.1:1")?, &entities::CURSORS).await
}
