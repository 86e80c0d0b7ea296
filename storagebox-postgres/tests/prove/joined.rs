//! A thousand purchases in transactions of the caller, lost at random points.

use storagebox_core::Result;

use crate::purchases::purchases;
use crate::scene::in_place;

const PURCHASES: usize = 1_000;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
async fn a_thousand_purchases_are_committed_whole_or_not_at_all() -> Result<()> {
    in_place(async |place| {
        let tally = purchases(place, PURCHASES, fastrand::u64(..)).await?;
        println!(
            "{PURCHASES} purchases lost at random points: {} with order and voucher, {} with neither, {} told by a receipt",
            tally.bought, tally.nothing, tally.told
        );
        Ok(())
    })
    .await
}
