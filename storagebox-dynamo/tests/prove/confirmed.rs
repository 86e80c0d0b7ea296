//! A sale in which most items are confirmed. Confirmed items do not slow down later takes.

use std::time::Duration;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use futures_util::{StreamExt, TryStreamExt, stream};
use storagebox_core::{Backend, ClaimId, Confirmed, Hold, Item, ItemBank, Result, Taken};
use storagebox_testkit::dynamodb::faults::Faults;

use crate::support::{Table, items};

const CONFIRMED: usize = 5_000;
const LEFT: u64 = 1_000;
const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
#[ignore = "it takes a minute: cargo xtask prove dynamo"]
async fn five_thousand_confirmed_holds_cost_later_takes_no_requests() -> Result<()> {
    let table = Table::shared().await?;
    let place = table.place().await?;
    let early = place.store().await?.item_bank(&"namespace".parse()?)?;
    early.add(&items(CONFIRMED)?).await?;
    let sales = stream::iter(0..CONFIRMED).map(|number| {
        let bank = &early;
        async move {
            let claim = ClaimId::new(format!("early-{number}"))?;
            assert!(matches!(bank.take(&claim, Hold::For(MINUTE)).await?, Taken::New(_)));
            assert!(matches!(bank.confirm(&claim).await?, Confirmed::Confirmed(_)));
            Ok::<_, storagebox_core::Error>(())
        }
    });
    sales.buffer_unordered(16).try_collect::<()>().await?;
    place.clock.advance(2 * MINUTE);
    let faults = Faults::new(table.http());
    let client = table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
    let bank = place.builder().from_client(&client)?.item_bank(&"namespace".parse()?)?;
    let left: Vec<_> = (0..LEFT).map(|number| Item::new(format!("left-{number}"))).collect::<Result<_>>()?;
    bank.add(&left).await?;
    faults.reset();
    for number in 0..LEFT {
        let taken = bank.take(&ClaimId::new(format!("late-{number}"))?, Hold::Forever).await?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
    }
    let requests: u64 = faults.requests().values().sum();
    faults.reset();
    assert_eq!(bank.take(&ClaimId::new("too late")?, Hold::Forever).await?, Taken::Empty);
    let for_nothing: u64 = faults.requests().values().sum();
    println!("{LEFT} takes beside {CONFIRMED} confirmed holds: {requests} requests; one of nothing: {for_nothing}");
    assert!(requests <= LEFT + LEFT / 10 && for_nothing <= 10, "{requests}, {for_nothing}");
    table.remove().await
}
