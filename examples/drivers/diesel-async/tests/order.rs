//! The example on a PostgreSQL.

use std::error::Error;

use diesel_async::{AsyncConnection, AsyncPgConnection};
use storagebox_driver_checks::{Ordered, Shop, check};
use storagebox_with_diesel_async::order;

struct Orders(AsyncPgConnection);

impl Shop for Orders {
    async fn open(url: &str) -> Result<Self, Box<dyn Error>> {
        Ok(Self(AsyncPgConnection::establish(url).await?))
    }

    async fn order(&mut self, customer: &str) -> Ordered {
        order(&mut self.0, customer).await
    }
}

#[test]
fn an_order_and_its_voucher_are_committed_together() -> Result<(), Box<dyn Error>> {
    check::<Orders>()
}
