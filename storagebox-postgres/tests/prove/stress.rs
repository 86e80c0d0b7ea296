//! Six callers for each id at once, over 48 connections, on a bank that holds exactly as many items as there are ids.

use std::time::Instant;

use storagebox_core::Result;
use storagebox_postgres::PostgresStore;
use storagebox_testkit::workload::waves::{CALLERS, Findings, IDS, wave};

use crate::scene::in_place;
use crate::support::Place;

const ROUNDS: usize = 10;
/// The number of clients, each with 16 connections.
const CLIENTS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
async fn nothing_is_lost_or_given_twice_under_stress() -> Result<()> {
    in_place(async |place| {
        for combining in [false, true] {
            let clients = clients(place, combining)?;
            let start = Instant::now();
            for round in 0..ROUNDS {
                let found = wave(&clients, &format!("{combining}-{round}")).await?;
                assert_eq!(found, Findings::default(), "combining {combining}, round {round}");
            }
            let takes = ROUNDS * IDS * CALLERS;
            println!(
                "stress: combining {combining}: {takes} takes by {CALLERS} callers for each of {IDS} ids over {} \
                 connections, {ROUNDS} rounds: 0 lost, 0 double, 0 unserved, 0 mixed; {:.0} takes a second",
                CLIENTS * 16,
                takes as f64 / start.elapsed().as_secs_f64()
            );
        }
        Ok(())
    })
    .await
}

fn clients(place: &Place, combining: bool) -> Result<Vec<PostgresStore>> {
    let url = place.url_at(place.database.server());
    let client = || place.builder()?.max_connections(16).combining(combining).connect(&url);
    (0..CLIENTS).map(|_| client()).collect()
}
