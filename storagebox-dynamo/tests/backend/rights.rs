//! The README lists exactly the rights that the calls need.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use storagebox_core::{
    Backend, Bounds, Change, ClaimId, Counted, Counter, Extended, Hold, Item, ItemBank, Key, OpId, Result, Retention,
    Strategy, Taken,
};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::dynamodb::faults::Exchange;

use crate::backups::{recorded_with_backups, remove};
use crate::metered::Metered;
use crate::readme::{read, section};
use crate::scene::{with_place, with_table};
use crate::support::Place;
use crate::workload::{STORE, builder};

const SECOND: Duration = Duration::from_secs(1);
/// A time that is longer than any memory in these tests.
const MONTH: Duration = Duration::from_secs(30 * 24 * 3_600);

/// An action and its resource.
type Right = (String, String);

fn right(action: &str, resource: &str) -> Right {
    (action.to_owned(), resource.to_owned())
}

/// Returns the rights that the README's policies grant in the statements whose ids begin with `names`.
fn granted(names: &str) -> BTreeSet<Right> {
    let readme = read("README.md");
    let policies = section(&readme, "Rights").split("```json\n").skip(1);
    let policies = policies.map(|policy| serde_json::from_str(policy.split("```").next().unwrap()).unwrap());
    let statements = policies.flat_map(|policy: Value| policy["Statement"].as_array().unwrap().clone());
    let named = statements.filter(|statement| statement["Sid"].as_str().unwrap().starts_with(names));
    named.flat_map(|statement| rights_of(&statement)).collect()
}

fn rights_of(statement: &Value) -> Vec<Right> {
    assert_eq!(statement["Effect"], "Allow");
    let (_, resource) = statement["Resource"].as_str().unwrap().split_once("REGION:ACCOUNT:").unwrap();
    let actions = &statement["Action"];
    let actions = actions.as_array().map_or_else(|| vec![actions], |actions| actions.iter().collect());
    let action = |action: &Value| action.as_str().unwrap().strip_prefix("dynamodb:").unwrap().to_owned();
    actions.into_iter().map(|one| right(&action(one), resource)).collect()
}

/// Returns the rights that these requests need. All requests must be for the one table.
fn asked(exchanges: &[Exchange], table: &str) -> BTreeSet<Right> {
    exchanges.iter().flat_map(|exchange| asked_by(exchange, table)).collect()
}

fn asked_by(exchange: &Exchange, table: &str) -> Vec<Right> {
    let request = &exchange.request;
    match exchange.operation.as_str() {
        "TransactGetItems" | "TransactWriteItems" => parts_of(request, table),
        "BatchGetItem" => {
            let tables = request["RequestItems"].as_object().unwrap().keys();
            tables.map(|name| on_table("BatchGetItem", name, table)).collect()
        }
        "Query" if request["IndexName"].is_string() => {
            let (_, named) = on_table("Query", request["TableName"].as_str().unwrap(), table);
            vec![right("Query", &format!("{named}/index/{}", request["IndexName"].as_str().unwrap()))]
        }
        operation => vec![on_table(operation, request["TableName"].as_str().unwrap(), table)],
    }
}

/// Returns the rights of a transaction. Each write needs the same right as a single request.
fn parts_of(request: &Value, table: &str) -> Vec<Right> {
    let parts = request["TransactItems"].as_array().unwrap().iter().flat_map(|part| part.as_object().unwrap());
    let part =
        |(kind, part): (&String, &Value)| on_table(&format!("{kind}Item"), part["TableName"].as_str().unwrap(), table);
    parts.map(part).collect()
}

fn on_table(action: &str, named: &str, table: &str) -> Right {
    assert_eq!(named, table, "{action} of another table");
    right(action, "table/TABLE")
}

#[test]
fn programs_need_exactly_the_rights_of_the_readme() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, builder(place)).await?;
        metered.every_call(place).await?;
        metered.unusual_calls(place).await?;
        let (running, by_operators) = metered.sent();
        let (setting_up, by_operators): (Vec<_>, Vec<_>) = by_operators.into_iter().partition(is_of_setup);
        assert!(running.len() > 300, "only {} requests were seen", running.len());
        let running = asked(&running, &place.name);
        assert_eq!(running, granted("Running"));
        let beyond: BTreeSet<_> = asked(&by_operators, &place.name).difference(&running).cloned().collect();
        assert_eq!(beyond, granted("LookingAfter"), "what operators need beside that");
        assert!(asked(&setting_up, &place.name).is_subset(&granted("SettingUp")));
        Ok(())
    })
}

fn is_of_setup(exchange: &Exchange) -> bool {
    ["Describe", "Create", "Update"].iter().any(|verb| exchange.operation.starts_with(verb))
        && !exchange.operation.ends_with("Item")
}

#[test]
fn setup_needs_exactly_the_rights_of_the_readme() -> Result<()> {
    with_table(async |table| {
        let name = format!("{}-rights", table.name);
        let builder = DynamoStore::builder().table(name.as_str());
        let (store, faults) = recorded_with_backups(table, builder).await?;
        store.setup().await?;
        store.setup().await?;
        let probing = BTreeSet::from(["ConditionCheckItem", "DeleteItem"].map(|action| right(action, "table/TABLE")));
        assert!(probing.is_subset(&(&granted("Running") | &granted("LookingAfter"))));
        assert_eq!(asked(&faults.taken(), &name), &granted("SettingUp") | &probing);
        remove(table, &name).await
    })
}

/// Rare calls, which send requests that the usual calls do not send.
impl Metered {
    pub(crate) async fn unusual_calls(&mut self, place: &Place) -> Result<()> {
        self.lapsed_holds(place).await?;
        self.forgotten_claims(place).await?;
        self.loans().await?;
        place.clock.advance(MONTH);
        let store = self.store.clone();
        let maintained = self.note(STORE, "`maintain`", store.maintain(1_000)).await?;
        assert!(maintained.deleted > 0, "nothing was to be cleaned up");
        Ok(())
    }

    /// Takes the item of a lapsed hold, beside a hold that was extended.
    async fn lapsed_holds(&mut self, place: &Place) -> Result<()> {
        let bank = self.another(place.builder())?.item_bank(&"lapsing".parse()?)?;
        let [lapsing, extended] = [ClaimId::new("a")?, ClaimId::new("b")?];
        bank.add(&[Item::new("1")?, Item::new("2")?]).await?;
        let _ = bank.take(&lapsing, Hold::For(SECOND)).await?;
        let _ = bank.take(&extended, Hold::For(SECOND)).await?;
        assert!(matches!(bank.extend(&extended, Hold::For(9 * SECOND)).await?, Extended::Extended(_)));
        place.clock.advance(2 * SECOND);
        assert!(matches!(bank.take(&ClaimId::new("c")?, Hold::Forever).await?, Taken::New(_)));
        assert_eq!(bank.take(&ClaimId::new("d")?, Hold::Forever).await?, Taken::Empty);
        Ok(())
    }

    /// Takes an item whose row still names a claim that is forgotten.
    async fn forgotten_claims(&mut self, place: &Place) -> Result<()> {
        let store = self.another(place.builder().remember(Retention::For(SECOND)))?;
        let bank = store.item_bank(&"forgetting".parse()?)?;
        bank.add(&[Item::new("1")?]).await?;
        let _ = bank.take(&ClaimId::new("gone")?, Hold::For(SECOND)).await?;
        place.clock.advance(60 * SECOND);
        self.note(STORE, "`maintain`, when a claim is forgotten", store.maintain(1_000)).await?;
        assert!(matches!(bank.take(&ClaimId::new("late")?, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    }

    /// Makes changes for which shards borrow room from others, and a change that no shard has room for.
    async fn loans(&mut self) -> Result<()> {
        let (bounds, retention) = (Bounds::at_least(0), Retention::Forever);
        let counters = self.store.counter(&"lending".parse()?, Strategy::Sharded { shards: 4, bounds, retention })?;
        let key = Key::new("key")?;
        for (number, delta) in [8, -1, -1, -1, -1, -1, -1, -1, -1].into_iter().enumerate() {
            let counted = counters.apply(&key, &Change::new(OpId::new(format!("{number}"))?, delta)).await?;
            assert!(matches!(counted, Counted::Applied { .. }), "{counted:?}");
        }
        let counted = counters.apply(&key, &Change::new(OpId::new("too much")?, -1)).await?;
        assert_eq!(counted, Counted::OutOfBounds);
        Ok(())
    }
}
