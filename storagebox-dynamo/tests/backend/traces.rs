//! Calls that change nothing leave no row.

use storagebox_core::Result;
use storagebox_testkit::workload::refusals::refused;

use crate::scene::with_place;

#[test]
fn a_call_that_is_refused_leaves_no_row() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        refused(&store, "first").await?;
        let before = place.rows().await?.len();
        refused(&store, "second").await?;
        assert_eq!(place.rows().await?.len(), before);
        Ok(())
    })
}
