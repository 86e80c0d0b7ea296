//! Damage by hand is reported at once: the call is not retried, and a change is surely not applied.

use storagebox_core::{
    Backend, Certainty, Counter, DedupRepo, EntityLedger, EntryId, ErrorKind, Hold, ItemBank, Joins, LeaseRepo,
    MAX_DURATION, Result, Retention, Strategy, TokenStore,
};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::checks::id;

use crate::scene::{in_database, owner_url};
use crate::support::{Place, run};
use crate::upgrade::namespaces;

async fn make(store: &PostgresStore, call: &str) -> Result<()> {
    let (bank, holder) = (store.item_bank(&id("namespace"))?, id("holder"));
    let (records, leases) = (store.dedup_repo(&id("namespace"))?, store.lease_repo(&id("namespace"))?);
    let entities = store.entity_ledger(&id("namespace"), &Joins::default())?;
    let entry = EntryId { key: id("stored"), message: id("message"), commit: id("ada") };
    match call {
        "bank get" => bank.get(&holder).await.map(drop),
        "take" => bank.take(&id("new"), Hold::Forever).await.map(drop),
        "release" => bank.release(&holder).await.map(drop),
        "restore" => bank.restore(&[id("item of withdrawn")]).await.map(drop),
        "withdraw" => bank.withdraw(&[id("item of releaser")]).await.map(drop),
        "record" => records.record(&id("leased"), &"x".try_into()?, &id("late"), Retention::Forever).await.map(drop),
        "get" => records.get(&id("done")).await.map(drop),
        "begin" => leases.begin(&id("leased"), &id("late"), MAX_DURATION, None).await.map(drop),
        "value" => store.counter(&id("stock"), Strategy::default())?.value(&id("stock")).await.map(drop),
        "create" => store.token_store(&id("namespace"))?.create_tokens(&[id("new")]).await.map(drop),
        "open" => entities.open(&entry.key, &entry.message, None).await.map(drop),
        "pending" => entities.pending(None, 10).await.map(drop),
        "choose" => entities.choose(&entry, &entry.commit).await.map(drop),
        _ => store.setup().await,
    }
}

/// Statements that write rows which no call writes, each with the name of the call that finds them.
const ROWS: &[(&str, &str)] = &[
    ("UPDATE {schema}.claims SET until = 'infinity' WHERE claim = 'holder'", "bank get"),
    ("UPDATE {schema}.claims SET h = NULL WHERE claim = 'holder'", "release"),
    ("INSERT INTO {schema}.free_items SELECT * FROM {schema}.withdrawn_items", "restore"),
    ("INSERT INTO {schema}.withdrawn_items SELECT * FROM {schema}.free_items", "withdraw"),
    ("UPDATE {schema}.claims SET state = 'lost' WHERE claim = 'holder'", "bank get"),
    ("UPDATE {schema}.records SET value = NULL, version = NULL", "get"),
    ("UPDATE {schema}.records SET state = 'lost' WHERE state = 'leased'", "record"),
    ("UPDATE {schema}.records SET until = NULL WHERE state = 'leased'", "record"),
    ("UPDATE {schema}.records SET until = NULL WHERE state = 'leased'", "begin"),
    (
        "INSERT INTO {schema}.counters SELECT namespace, 'stock', 0, 1e30, 0, 0, 0 FROM {schema}.namespaces WHERE name = 'stock'",
        "value",
    ),
    ("UPDATE {schema}.entities SET version = -1", "open"),
    ("UPDATE {schema}.outbox_entries SET attempts = '{}'", "open"),
    ("UPDATE {schema}.outbox_entries SET attempts = '{{ada},{bob}}'", "open"),
    ("UPDATE {schema}.outbox_entries SET chosen = 'carol'", "open"),
    ("UPDATE {schema}.outbox_entries SET chosen = ''", "open"),
    ("UPDATE {schema}.outbox_entries SET content = convert_to(repeat('x', 262145), 'UTF8')", "open"),
    ("UPDATE {schema}.outbox_entries SET key = ''", "pending"),
    ("UPDATE {schema}.outbox_entries SET attempts = '{}'", "pending"),
];

/// Statements that change tables of a schema, each with the name of the call that finds the change.
const TABLES: &[(&str, &str)] = &[
    ("ALTER TABLE {schema}.claims RENAME until TO til", "bank get"),
    ("ALTER TABLE {schema}.claims ADD CONSTRAINT none CHECK (ended_at IS NULL) NOT VALID", "release"),
    ("ALTER TABLE {schema}.free_items DROP COLUMN item", "restore"),
    ("ALTER TABLE {schema}.claims ALTER until TYPE text", "bank get"),
    ("ALTER TABLE {schema}.records ALTER version TYPE numeric", "get"),
    ("ALTER TABLE {schema}.records DROP CONSTRAINT records_check; UPDATE {schema}.records SET version = NULL", "get"),
    ("ALTER TABLE {schema}.tokens DROP CONSTRAINT tokens_pkey", "create"),
    // Without the key, two callers would both be the first.
    ("ALTER TABLE {schema}.records DROP CONSTRAINT records_pkey", "record"),
    ("ALTER TABLE {schema}.records DROP CONSTRAINT records_pkey", "begin"),
    ("ALTER TABLE {schema}.records DROP CONSTRAINT records_pkey", "setup"),
    ("DROP INDEX {schema}.claims_by_claim", "release"),
    ("DROP INDEX {schema}.claims_by_claim", "take"),
    ("DROP INDEX {schema}.claims_by_claim", "setup"),
    ("DROP INDEX {schema}.claims_by_claim; CREATE INDEX claims_by_claim ON {schema}.claims (bank, claim)", "setup"),
    ("ALTER TABLE {schema}.free_items DROP CONSTRAINT free_items_pkey", "restore"),
    ("ALTER TABLE {schema}.free_items DROP CONSTRAINT free_items_pkey", "take"),
    ("ALTER TABLE {schema}.counter_ops DROP CONSTRAINT counter_ops_pkey", "value"),
    ("ALTER TABLE {schema}.entities RENAME emptied_at TO since", "open"),
    ("ALTER TABLE {schema}.outbox_entries ALTER attempts TYPE text USING attempts[1]", "choose"),
    ("DROP TABLE {schema}.outbox_entries", "pending"),
    (
        "ALTER TABLE {schema}.records ALTER state DROP NOT NULL, DROP CONSTRAINT records_check;
         UPDATE {schema}.records SET state = NULL",
        "record",
    ),
    (
        "ALTER TABLE {schema}.records ALTER state DROP NOT NULL, DROP CONSTRAINT records_check;
         UPDATE {schema}.records SET state = NULL",
        "begin",
    ),
    ("DELETE FROM {schema}.versions", "setup"),
    ("DELETE FROM {schema}.store", "setup"),
];

/// Fills a schema, runs the statement `damage`, and returns the answer of the call.
async fn answer(place: &Place, damage: &str, call: &str) -> Result<Result<()>> {
    let store = place.builder()?.connect(&owner_url(&place.database, "owner"))?;
    namespaces::fill(&store).await?;
    store.counter(&"stock".parse()?, Strategy::default())?.value(&id("stock")).await?;
    run(place.database.owner(), damage.replace("{schema}", &place.schema)).await?;
    Ok(make(&store, call).await)
}

/// Whether the answer is an error of one of these kinds. The error of a write must also report that nothing was
/// applied.
fn is_said(answer: &Result<()>, call: &str, kinds: &[ErrorKind]) -> bool {
    answer.as_ref().is_err_and(|error| {
        let is_sure =
            error.certainty() == Certainty::NotApplied || ["bank get", "get", "open", "pending"].contains(&call);
        is_sure && kinds.contains(&error.kind())
    })
}

/// Checks that each call reports its damage. Later cases reuse the schemas only if `tables_are_whole`.
async fn all_are_said(cases: &[(&str, &str)], kinds: &[ErrorKind], tables_are_whole: bool) -> Result<()> {
    in_database(async |database| {
        let (mut damaged, mut unsaid) = (vec![], vec![]);
        for (damage, call) in cases {
            let place = database.place().await?;
            let answer = answer(&place, damage, call).await?;
            if !is_said(&answer, call, kinds) {
                unsaid.push(format!("{damage}: {answer:?}"));
            }
            damaged.extend((!tables_are_whole).then_some(place));
        }
        assert_eq!(unsaid, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn row_that_no_call_wrote_is_reported_at_once_as_corrupt() -> Result<()> {
    all_are_said(ROWS, &[ErrorKind::Corrupt], true).await
}

#[tokio::test]
async fn changed_table_is_reported_at_once_as_corrupt_or_not_set_up() -> Result<()> {
    all_are_said(TABLES, &[ErrorKind::Corrupt, ErrorKind::NotSetUp], false).await
}
