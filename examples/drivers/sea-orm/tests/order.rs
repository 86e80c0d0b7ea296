//! The example on a PostgreSQL.

use std::error::Error;

use sea_orm::{Database, DatabaseConnection};
use storagebox_driver_checks::{Ordered, Shop, check};
use storagebox_with_sea_orm::order;

struct Orders(DatabaseConnection);

impl Shop for Orders {
    async fn open(url: &str) -> Result<Self, Box<dyn Error>> {
        Ok(Self(Database::connect(url).await?))
    }

    async fn order(&mut self, customer: &str) -> Ordered {
        order(&self.0, customer).await
    }
}

#[test]
fn an_order_and_its_voucher_are_committed_together() -> Result<(), Box<dyn Error>> {
    check::<Orders>()
}
