//! The example on a PostgreSQL.

use std::error::Error;

use storagebox_driver_checks::{Ordered, Shop, check};
use storagebox_with_tokio_postgres::order;
use tokio_postgres::{Client, NoTls, connect};

struct Orders(Client);

impl Shop for Orders {
    async fn open(url: &str) -> Result<Self, Box<dyn Error>> {
        let (client, connection) = connect(url, NoTls).await?;
        tokio::spawn(connection);
        Ok(Self(client))
    }

    async fn order(&mut self, customer: &str) -> Ordered {
        order(&mut self.0, customer).await
    }
}

#[test]
fn an_order_and_its_voucher_are_committed_together() -> Result<(), Box<dyn Error>> {
    check::<Orders>()
}
