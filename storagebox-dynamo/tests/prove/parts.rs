//! Thousands of orders and their vouchers, of which half of the transactions meet a fault.

#[path = "../backend/parts/rounds.rs"]
mod rounds;
#[path = "../backend/parts/shop.rs"]
#[allow(dead_code, reason = "a part of it")]
mod shop;

use storagebox_core::Result;

use crate::scene::with_place;

#[test]
#[ignore = "it takes minutes: cargo xtask prove dynamo"]
fn no_order_is_without_its_voucher_and_no_voucher_without_its_order() -> Result<()> {
    with_place(async |place| rounds::rounds(place, 5_000).await)
}
