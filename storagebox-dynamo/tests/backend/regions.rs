//! A global table, simulated on one server: one table per region. The test copies the rows of one table to the other,
//! as the last writer.

use std::collections::BTreeSet;
use std::time::Duration;

use aws_sdk_dynamodb::config::Region;
use storagebox_core::{
    Backend, Change, ClaimId, Counted, Counter, EntityLedger, ErrorKind, Hold, Joins, Key, Ledger, OpId,
    OrderedOptions, Result, Strategy, Taken,
};
use storagebox_dynamo::{DynamoBuilder, DynamoStore, Regions};

use crate::scene::in_table;
use crate::support::{Place, Table, failed, items};

struct Replica {
    place: Place,
    region: &'static str,
}

impl Replica {
    async fn store(&self, set: impl FnOnce(DynamoBuilder) -> DynamoBuilder) -> Result<DynamoStore> {
        let client = self.place.table.client(None, None).await;
        let config = client.config().to_builder().region(Region::new(self.region)).build();
        set(self.place.builder()).from_client(&aws_sdk_dynamodb::Client::from_conf(config))
    }

    async fn plain(&self) -> Result<DynamoStore> {
        self.store(|builder| builder).await
    }

    /// Copies all rows of this region to the other region, and overwrites the other region's rows.
    async fn arrives_in(&self, other: &Self) -> Result<()> {
        for row in self.place.rows().await? {
            let put = self.place.table.raw().put_item().table_name(&other.place.name);
            put.set_item(Some(row)).send().await.map_err(failed)?;
        }
        Ok(())
    }
}

/// Runs a test with two tables on one server, which stand for two regions.
async fn with_replicas(test: impl AsyncFnOnce(&Replica, &Replica) -> Result<()>) -> Result<()> {
    in_table(async |table: &std::sync::Arc<Table>| {
        let (first, second) = (table.place().await?, table.place().await?);
        let second = Place { prefix: first.prefix.clone(), clock: first.clock.clone(), ..second };
        let home = Replica { place: first, region: "eu-west-1" };
        let abroad = Replica { place: second, region: "us-east-1" };
        test(&home, &abroad).await
    })
    .await
}

const HOUR: Duration = Duration::from_secs(3_600);

/// Makes one call on a namespace of each kind.
async fn used(store: &DynamoStore) -> [Result<()>; 7] {
    let key = Key::new("key").unwrap();
    [
        async { store.item_bank(&"namespace".parse()?)?.counts().await.map(drop) }.await,
        async { store.dedup_repo(&"namespace".parse()?)?.get(&"id".try_into()?).await.map(drop) }.await,
        async { store.token_store(&"namespace".parse()?)?.exists(&"token".try_into()?).await.map(drop) }.await,
        async {
            let entities = store.entity_ledger(&"namespace".parse()?, &Joins::default())?;
            entities.open(&key, &"message".try_into()?, None).await.map(drop)
        }
        .await,
        async { store.counter(&"namespace".parse()?, Strategy::default())?.value(&key).await.map(drop) }.await,
        async { store.ledger(&"ledger".parse()?)?.value(&key).await.map(drop) }.await,
        async { store.ordered_store(&"namespace".parse()?, OrderedOptions::time())?.get(&key).await.map(drop) }.await,
    ]
}

#[tokio::test]
async fn a_namespace_is_refused_in_any_region_but_its_home() -> Result<()> {
    with_replicas(async |home, abroad| {
        assert!(used(&home.plain().await?).await.iter().all(Result::is_ok));
        home.arrives_in(abroad).await?;
        for (kind, answer) in used(&abroad.plain().await?).await.into_iter().enumerate() {
            let error = answer.expect_err("a namespace that is at home elsewhere");
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{kind}: {error}");
            for words in ["eu-west-1", "us-east-1", "regions=moved"] {
                assert!(error.to_string().contains(words), "{kind}: {error}");
            }
        }
        Ok(())
    })
    .await
}

/// The namespace moves to the other region, as after a failover.
#[tokio::test]
async fn a_moved_namespace_is_refused_in_its_old_region() -> Result<()> {
    with_replicas(async |home, abroad| {
        home.plain().await?.item_bank(&"namespace".parse()?)?.add(&items(2)?).await?;
        home.arrives_in(abroad).await?;
        let moved = abroad.store(|builder| builder.regions(Regions::Moved)).await?;
        let taken = moved.item_bank(&"namespace".parse()?)?.take(&ClaimId::new("ada")?, Hold::Forever).await?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        abroad.arrives_in(home).await?;
        let refused =
            home.plain().await?.item_bank(&"namespace".parse()?)?.take(&ClaimId::new("bob")?, Hold::Forever).await;
        assert_eq!(refused.expect_err("a namespace that moved").kind(), ErrorKind::Misconfigured);
        let stays =
            abroad.plain().await?.item_bank(&"namespace".parse()?)?.take(&ClaimId::new("bob")?, Hold::Forever).await?;
        assert!(matches!(stays, Taken::New(_)), "{stays:?}");
        Ok(())
    })
    .await
}

/// The row may have expired only in the replica. A delete in the replica would then replace a newer write of the home
/// region.
#[tokio::test]
async fn upkeep_deletes_no_row_of_a_namespace_with_another_home() -> Result<()> {
    with_replicas(async |home, abroad| {
        let bank = home.plain().await?.item_bank(&"namespace".parse()?)?;
        let _ = bank.release(&ClaimId::new("unknown")?).await?;
        home.place.clock.advance(30 * 24 * HOUR);
        home.arrives_in(abroad).await?;
        assert_eq!(abroad.plain().await?.maintain(100).await?.deleted, 0);
        assert_eq!(home.plain().await?.maintain(100).await?.deleted, 1);
        Ok(())
    })
    .await
}

fn several(builder: DynamoBuilder) -> DynamoBuilder {
    builder.regions(Regions::Several)
}

/// A change is retried in a second region before the first region's rows have arrived. The sum does not depend on which
/// region's rows arrive last.
#[tokio::test]
async fn a_change_retried_late_in_another_region_counts_once() -> Result<()> {
    with_replicas(async |home, abroad| {
        for (name, first_is_last) in [("first", true), ("second", false)] {
            let (here, there) = (home.store(several).await?, abroad.store(several).await?);
            let (here, there) = (here.ledger(&name.parse()?)?, there.ledger(&name.parse()?)?);
            let _ = here.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?;
            let _ = here.apply(&"key".parse()?, &Change::new("here".parse()?, 10)).await?;
            assert_eq!(
                there.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?,
                Counted::Applied { value: None },
                "a retry"
            );
            let _ = there.apply(&"key".parse()?, &Change::new("there".parse()?, 100)).await?;
            let key = Key::new("key")?;
            assert_eq!((here.value(&key).await?, there.value(&key).await?), (15, 105), "before it arrives");
            let order = if first_is_last { [(abroad, home), (home, abroad)] } else { [(home, abroad), (abroad, home)] };
            for (from, to) in order {
                from.arrives_in(to).await?;
            }
            for ledger in [&here, &there] {
                assert_eq!(ledger.value(&key).await?, 115, "{name}");
                assert_eq!(
                    ledger.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?,
                    Counted::AlreadyApplied { value: None }
                );
                assert_eq!(ledger.log(&key, None, 10).await?.entries.len(), 3);
            }
        }
        Ok(())
    })
    .await
}

/// If a retry in another region arrived after a compaction, the change would be counted twice. If a cancellation
/// arrived late, it would undo an acknowledged change.
#[tokio::test]
async fn a_ledger_in_several_regions_refuses_compact_and_cancel() -> Result<()> {
    with_replicas(async |home, _| {
        let ledger = home.store(several).await?.ledger(&"ledger".parse()?)?;
        let _ = ledger.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?;
        let key = Key::new("key")?;
        let compacted = ledger.compact(&key, Duration::ZERO, 10).await.map(drop);
        let cancelled = ledger.cancel(&key, &OpId::new("other")?).await.map(drop);
        for refused in [compacted, cancelled] {
            assert_eq!(refused.expect_err("it deletes or fences").kind(), ErrorKind::Unsupported);
        }
        assert_eq!(ledger.value(&key).await?, 5);
        Ok(())
    })
    .await
}

/// A store for several regions refuses a ledger that was created for one region, and the reverse.
#[tokio::test]
async fn a_ledger_keeps_the_regions_setting_of_its_creation() -> Result<()> {
    with_replicas(async |home, _| {
        let (one, many) = (home.plain().await?, home.store(several).await?);
        let _ = one.ledger(&"one".parse()?)?.apply(&"key".parse()?, &Change::new("op".parse()?, 1)).await?;
        let _ = many.ledger(&"many".parse()?)?.apply(&"key".parse()?, &Change::new("op".parse()?, 1)).await?;
        let errors = [
            many.ledger(&"one".parse()?)?
                .apply(&"key".parse().unwrap(), &Change::new("op".parse().unwrap(), 1))
                .await
                .expect_err("one that may be compacted"),
            one.ledger(&"many".parse()?)?
                .apply(&"key".parse().unwrap(), &Change::new("op".parse().unwrap(), 1))
                .await
                .expect_err("one of several regions"),
        ];
        let told: BTreeSet<_> = errors.iter().map(|error| error.kind() == ErrorKind::Misconfigured).collect();
        assert_eq!(told, BTreeSet::from([true]), "{errors:?}");
        assert!(errors.iter().all(|error| error.to_string().contains("Ledger in several regions")));
        Ok(())
    })
    .await
}

/// Only ledgers can be used in several regions.
#[tokio::test]
async fn a_store_for_several_regions_refuses_a_bank_in_a_second_region() -> Result<()> {
    with_replicas(async |home, abroad| {
        home.store(several).await?.item_bank(&"namespace".parse()?)?.add(&items(1)?).await?;
        home.arrives_in(abroad).await?;
        let refused = abroad
            .store(several)
            .await?
            .item_bank(&"namespace".parse()?)?
            .take(&ClaimId::new("ada")?, Hold::Forever)
            .await;
        assert_eq!(refused.expect_err("a bank in two regions").kind(), ErrorKind::Misconfigured);
        Ok(())
    })
    .await
}
