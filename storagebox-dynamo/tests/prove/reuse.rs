//! One id that is used every half minute for six days.

use std::time::Duration;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_core::{Backend, Begun, DedupId, LeaseRepo, OpId, Result};
use storagebox_testkit::dynamodb::faults::Faults;

use crate::support::{Table, failed, longest_row};

const TIMES: usize = 20_000;
const BETWEEN: Duration = Duration::from_secs(26);
const MINUTE: Duration = Duration::from_secs(60);

/// The memory is seven days, so all operations are remembered until the end of the test.
#[tokio::test]
#[ignore = "it takes minutes: cargo xtask prove dynamo"]
async fn each_of_twenty_thousand_runs_of_one_id_costs_the_same() -> Result<()> {
    let table = Table::shared().await?;
    let place = table.place().await?;
    let faults = Faults::new(table.http());
    let client = table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
    let leases = place.builder().from_client(&client)?.lease_repo(&"jobs".parse()?)?;
    let id = DedupId::new("job")?;
    let mut sizes = vec![];
    for number in 0..TIMES {
        let op = OpId::new(format!("run-{number}"))?;
        faults.reset();
        let begun = leases.begin(&id, &op, MINUTE, None).await?;
        let Begun::Started(lease) = begun else { return Err(failed(format_args!("{number}: {begun:?}"))) };
        let requests: u64 = faults.requests().values().sum();
        assert!(requests <= 3, "run {number}: {:?}", faults.requests());
        let _ = leases.abort(&lease).await?;
        place.clock.advance(BETWEEN);
        if [20, TIMES - 1].contains(&number) {
            sizes.push(longest_row(&place).await?);
        }
    }
    println!(
        "{TIMES} runs of one id: its row has {} bytes after the first twenty, {} after the last",
        sizes[0], sizes[1]
    );
    assert!(sizes[1] <= sizes[0] + 16, "{sizes:?}");
    table.remove().await
}
