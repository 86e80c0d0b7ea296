//! Thousands of orders and their vouchers. Half of the transactions meet a fault.

#[path = "../backend/parts/rounds.rs"]
mod rounds;
#[path = "../backend/parts/shop.rs"]
#[allow(dead_code, reason = "a part of it")]
mod shop;

use storagebox_core::Result;

use crate::scene::with_place;

#[test]
#[ignore = "it takes minutes: cargo xtask prove dynamo"]
fn every_order_has_its_voucher_and_every_voucher_its_order() -> Result<()> {
    with_place(async |place| rounds::rounds(place, 5_000).await)
}
