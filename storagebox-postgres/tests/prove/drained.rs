//! The buffers that a take reads in banks of three sizes: full, drained and empty.

use storagebox_core::Result;

use crate::scene::in_place;
use crate::support::Buffers;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
async fn drained_bank_take_reads_at_most_three_times_a_full_bank_take() -> Result<()> {
    for snapshot in [false, true] {
        for items in [10_000, 100_000, 1_000_000] {
            in_place(async |place| {
                let buffers = Buffers::of_takes(place, items, snapshot).await?;
                println!("drained: {items} items, old snapshot {snapshot}: {buffers:?}");
                buffers.assert_flat();
                Ok(())
            })
            .await?;
        }
    }
    Ok(())
}
