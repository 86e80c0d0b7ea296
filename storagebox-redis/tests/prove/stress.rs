//! Six callers per id at once, over three connections, on a bank that has exactly as many items as there are ids.

use std::time::Instant;

use storagebox_core::Result;
use storagebox_testkit::workload::waves::{CALLERS, Findings, IDS, wave};

use crate::scene::in_place;

const ROUNDS: usize = 10;
/// The number of clients, each with one connection.
const CLIENTS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn nothing_is_lost_or_given_twice_under_stress() -> Result<()> {
    in_place(async |place| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| place.store()).collect::<Result<_>>()?;
        let start = Instant::now();
        for round in 0..ROUNDS {
            let found = wave(&clients, &format!("{round}")).await?;
            assert_eq!(found, Findings::default(), "round {round}");
        }
        let takes = ROUNDS * IDS * CALLERS;
        println!(
            "stress: {takes} takes by {CALLERS} callers for each of {IDS} ids over {CLIENTS} connections, {ROUNDS} \
             rounds: 0 lost, 0 double, 0 unserved, 0 mixed; {:.0} takes a second",
            takes as f64 / start.elapsed().as_secs_f64()
        );
        Ok(())
    })
    .await
}
