//! Replies that are lost after the server has applied the call: the backend's own retry finds the call applied.

use storagebox_conformance::Proxy;
use storagebox_core::Result;
use storagebox_testkit::checks::cuts::{CUTS, Far};

use crate::scene::with_place;
use crate::support::{Place, failed};

async fn far(place: &Place, combining: bool) -> Result<Far> {
    let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
    let store = place.builder()?.combining(combining).connect(&place.url_at(proxy.addr()))?;
    Ok(Far::new(proxy, store))
}

#[test]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
fn retry_after_a_lost_reply_finds_the_call_applied() -> Result<()> {
    with_place(async |place| {
        let far = far(place, false).await?;
        far.fill().await?;
        for number in 0..CUTS {
            assert!(far.call(number).await?, "call {number} was not found done");
            assert_eq!(far.cuts(), number + 1, "call {number} was not cut");
        }
        far.audit(0).await?;
        println!("cuts: {CUTS} replies lost after the call was done: each found it done, nothing was done twice");
        Ok(())
    })
}

#[test]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
fn calls_lost_in_one_batch_are_applied_once_each() -> Result<()> {
    with_place(async |place| far(place, true).await?.lose_together().await)
}
