//! Counting a large bank: all shards at once, without a time limit.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use http::StatusCode;
use serde_json::json;
use storagebox_core::{Backend, ClaimId, Counts, Hold, Item, ItemBank, ItemState, ListedItem, Result, Taken};
use storagebox_dynamo::DynamoStore;

use crate::scene::{Gate, with_place};
use crate::support::{failed, items};

const MINUTE: Duration = Duration::from_secs(60);
const SHARDS: u16 = 3;
/// A time limit that only a request behind a closed `Gate` exceeds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fills a bank with items in every state, and returns their counts.
async fn filled(bank: &dyn ItemBank) -> Result<Counts> {
    bank.add(&items(30)?).await?;
    for number in 0..12 {
        let (claim, hold) = (ClaimId::new(format!("id-{number}"))?, Hold::For(MINUTE));
        let hold = if number % 2 == 0 { hold } else { Hold::Forever };
        assert!(matches!(bank.take(&claim, hold).await?, Taken::New(_)));
        match number % 4 {
            0 => drop(bank.confirm(&claim).await?),
            1 if number == 1 => drop(bank.release(&claim).await?),
            3 if number == 3 => {
                let _ = bank.confirm(&claim).await?;
                let _ = bank.retire(&claim).await?;
            }
            _ => {}
        }
    }
    let free = |listed: ListedItem| (listed.state == ItemState::Free).then_some(listed.item);
    let free: Vec<Item> = bank.list(None, 100).await?.entries.into_iter().filter_map(free).collect();
    bank.withdraw(&free[..5]).await?;
    Ok(Counts { free: 14, held: 7, spent: 4, withdrawn: 5 })
}

#[test]
fn all_shards_are_counted_at_once() -> Result<()> {
    with_place(async |place| {
        let gate = Gate::default();
        let (store, faults) = gate.store(&place.table, place.builder().shards(SHARDS)).await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        let expected = filled(&*bank).await?;
        assert_eq!(bank.counts().await?, expected);
        faults.reset();
        faults.script_for("Query", [Gate::HOLD; 2 * SHARDS as usize]);
        let counting = tokio::spawn(async move { bank.counts().await });
        let all_wait = tokio::time::timeout(PATIENCE, gate.reached_by(2 * SHARDS as usize)).await;
        assert!(all_wait.is_ok(), "they are counted one after the other");
        assert_eq!(faults.requests().get("Query"), None, "one was sent after another");
        gate.open();
        assert_eq!(counting.await.map_err(failed)??, expected);
        assert_eq!(faults.requests().values().sum::<u64>(), 2 * u64::from(SHARDS));
        place.clock.advance(2 * MINUTE);
        let lapsed = Counts { free: expected.free + 3, held: expected.held - 3, ..expected };
        assert_eq!(place.store().await?.item_bank(&"namespace".parse()?)?.counts().await?, lapsed);
        Ok(())
    })
}

/// A server that always returns another page, until `lasts` has passed since the first page.
#[derive(Clone, Debug)]
struct Endless {
    first: Arc<OnceLock<Instant>>,
    lasts: Duration,
}

impl HttpConnector for Endless {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let is_query = request.headers().get("x-amz-target").is_some_and(|target| target.ends_with(".Query"));
        let place = json!({ "pk": { "S": "somewhere" }, "sk": { "S": "here" } });
        let answer = match is_query {
            true if self.first.get_or_init(Instant::now).elapsed() <= self.lasts => {
                json!({ "Items": [], "Count": 0, "ScannedCount": 1, "LastEvaluatedKey": place })
            }
            true => json!({ "Items": [], "Count": 0, "ScannedCount": 1 }),
            false => json!({}),
        };
        let answer = HttpResponse::new(StatusCode::OK.into(), SdkBody::from(answer.to_string()));
        HttpConnectorFuture::ready(Ok(answer))
    }
}

/// No single page exceeds the timeout, but all pages together do.
#[tokio::test]
async fn counts_may_take_longer_than_the_timeout_of_a_call() -> Result<()> {
    let call_timeout = Duration::from_secs(1);
    let endless = Endless { first: Arc::default(), lasts: call_timeout + call_timeout / 4 };
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new("eu-west-1"))
        .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
        .http_client(http_client_fn(move |_, _| SharedHttpConnector::new(endless.clone())));
    let client = aws_sdk_dynamodb::Client::from_conf(config.build());
    let store = DynamoStore::builder().call_timeout(call_timeout).shards(1).from_client(&client)?;
    assert!(store.item_bank(&"namespace".parse()?)?.counts().await?.free > 2);
    Ok(())
}
