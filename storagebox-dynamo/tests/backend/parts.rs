//! The share of a store in a transaction of the caller.

mod calls;
mod commits;
mod explained;
mod limits;
mod rounds;
mod shop;

use storagebox_core::Result;

use crate::scene::with_place;

/// `cargo xtask prove dynamo` makes the same test with more orders.
#[test]
fn an_order_and_its_voucher_stay_together_under_faults() -> Result<()> {
    with_place(async |place| rounds::rounds(place, 300).await)
}
