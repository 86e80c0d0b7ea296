//! A call that changes nothing leaves no key behind.

use storagebox_core::Result;
use storagebox_testkit::workload::refusals::refused;

use crate::scene::with_place;
use crate::structure::keys;

#[test]
fn a_refused_call_leaves_no_key() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        refused(&store, "first").await?;
        let mut before = keys(place).await?;
        refused(&store, "second").await?;
        let mut after = keys(place).await?;
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(after, before);
        Ok(())
    })
}
