//! The DynamoDB backend's rows. Their server is dynoxide, so their rates say nothing about Amazon's server.
//! Transactions on dynoxide cost more than puts.

mod article;
mod package;
mod server;
mod tables;

use std::sync::Arc;

use storagebox::parts::Backend as _;
use storagebox_dynamo::DynamoStore;

use crate::error::Result;
use crate::row::{Row, Side, Target};
use crate::rows::filled::Filled;
use crate::rows::side::side;

use server::Server;

/// The number of items in a bank, and in the table of the compared program, before each measurement.
const ITEMS: usize = 10_000;
const CALLERS: usize = 32;
/// The number of items in a bank for the table of counts.
const COUNTED: usize = 1_000;

pub(crate) fn rows() -> Vec<Row> {
    let server = Server::default();
    vec![against_the_article(&server, ITEMS), against_the_package(&server, ITEMS)]
}

/// Returns the row of the table of counts, which compares a take through a handle to a direct call of `ItemBank::take`.
pub(crate) fn counted() -> Vec<Row> {
    let server = Server::default();
    let make = |server: Server| async move { filled(&server, COUNTED).await };
    let ours = side(&server, make, |bank: Arc<Filled>, load| async move {
        bank.refill(load).await?;
        bank.takes_by_handle(load)
    });
    let (op, floor) = ("take by a handle, on top of the part", takes(&server, COUNTED));
    vec![Row { concurrency: 1, ours, ..row(&server, COUNTED, ("P18", op), Target::ratio(0.0), floor) }]
}

fn against_the_article(server: &Server, items: usize) -> Row {
    let target = Target { fewer_requests: Some(2.9), ..Target::ratio(0.0) };
    row(server, items, ("P6", "take against article 1"), target, article::takes(server, items))
}

/// Compares a take with the library to a take with the Python package of article 1. The package uses as many threads as
/// the row has tasks.
fn against_the_package(server: &Server, items: usize) -> Row {
    let target = Target { fewer_requests: Some(2.9), ..Target::ratio(10.0) };
    row(server, items, ("P15", "take against Python storagebox 1.0.7"), target, package::takes(server, items))
}

fn row(server: &Server, items: usize, (id, op): (&'static str, &'static str), target: Target, floor: Side) -> Row {
    let (backend, meter) = ("dynamo on dynoxide", Some(Box::new(server.clone()) as _));
    Row { id, op, backend, concurrency: CALLERS, guess: 320, meter, target, ours: takes(server, items), floor }
}

fn takes(server: &Server, items: usize) -> Side {
    let make = move |server: Server| async move { filled(&server, items).await };
    side(server, make, |bank: Arc<Filled>, load| async move {
        bank.refill(load).await?;
        bank.takes(load)
    })
}

async fn filled(server: &Server, items: usize) -> Result<Filled> {
    let builder = DynamoStore::builder().table(server.name("bank").await?);
    let store = builder.from_client(server.driver().await?)?;
    store.setup().await?;
    Filled::with_items(store, items).await
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;
    use crate::row::Load;

    const LOAD: Load = Load { slice: 1, calls: 64, tasks: 4 };

    /// Runs a load on both sides of a row, and checks the number of requests.
    fn does_its_whole_load(row: &Row) {
        Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
            for (side, least) in [(&row.ours, 64), (&row.floor, 3 * 64)] {
                let prepared = side.prepare(LOAD).await.unwrap();
                let meter = row.meter.as_ref().unwrap();
                let before = meter.read().await.unwrap();
                for task in prepared.tasks {
                    tokio::spawn(task).await.unwrap().unwrap();
                }
                let requests = meter.read().await.unwrap().since(before).requests.unwrap();
                assert!(requests >= least, "{}: {requests} requests", row.name());
            }
        });
    }

    #[test]
    fn both_sides_of_the_article_row_make_all_calls() {
        does_its_whole_load(&against_the_article(&Server::default(), 200));
    }

    #[test]
    #[ignore = "it needs python3 and what its pip gets: cargo xtask prove bench measures it"]
    fn both_sides_of_the_package_row_make_all_calls() {
        does_its_whole_load(&against_the_package(&Server::default(), 200));
    }
}
