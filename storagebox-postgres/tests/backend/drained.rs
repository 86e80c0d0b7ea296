//! IB-8: what a take reads does not grow with what was taken before.

use storagebox_core::Result;

use crate::scene::with_place;
use crate::support::Buffers;

/// An old snapshot keeps every row that was ever free, and no index entry may be passed over for good.
#[tokio::test]
async fn a_take_reads_no_more_as_the_bank_drains_under_an_old_snapshot() -> Result<()> {
    with_place(async |place| {
        Buffers::of_takes(place, 10_000, true).await?.assert_flat(10_000);
        Ok(())
    })
    .await
}
