//! Damage by hand is reported at once: it is never retried, and never reported as lost.

use storagebox_core::{
    Backend, Certainty, ClaimId, Counter, DedupId, DedupRepo, EntityLedger, EntryId, ErrorKind, Hold, Item, ItemBank,
    Joins, Key, LeaseRepo, MAX_DURATION, MessageId, OpId, Payload, Result, Retention, Strategy, TokenId, TokenStore,
};
use storagebox_postgres::PostgresStore;

use crate::scene::{in_database, owner_url};
use crate::support::{Place, run};
use crate::upgrade::namespaces;

/// The calls that find the damage.
#[derive(Clone, Copy, Debug)]
enum Meets {
    Get,
    Take,
    Release,
    Restore,
    Withdraw,
    Record,
    Look,
    Begin,
    Value,
    Create,
    Open,
    Choose,
    Pending,
    Setup,
}

impl Meets {
    async fn make(self, store: &PostgresStore) -> Result<()> {
        let (bank, holder) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("holder")?);
        let (records, leases) = (store.dedup_repo(&"namespace".parse()?)?, store.lease_repo(&"namespace".parse()?)?);
        let (id, op) = (DedupId::new("leased")?, OpId::new("late")?);
        match self {
            Self::Get => bank.get(&holder).await.map(drop),
            Self::Take => bank.take(&ClaimId::new("new")?, Hold::Forever).await.map(drop),
            Self::Release => bank.release(&holder).await.map(drop),
            Self::Restore => bank.restore(&[Item::new("item of withdrawn")?]).await.map(drop),
            Self::Withdraw => bank.withdraw(&[Item::new("item of releaser")?]).await.map(drop),
            Self::Record => records.record(&id, &Payload::try_from("x")?, &op, Retention::Forever).await.map(drop),
            Self::Look => records.get(&DedupId::new("done")?).await.map(drop),
            Self::Begin => leases.begin(&id, &op, MAX_DURATION, None).await.map(drop),
            Self::Value => {
                store.counter(&"stock".parse()?, Strategy::default())?.value(&Key::new("stock")?).await.map(drop)
            }
            Self::Create => {
                store.token_store(&"namespace".parse()?)?.create_tokens(&[TokenId::new("new")?]).await.map(drop)
            }
            Self::Open | Self::Choose | Self::Pending => self.make_of_entities(store).await,
            Self::Setup => store.setup().await,
        }
    }
}

impl Meets {
    async fn make_of_entities(self, store: &PostgresStore) -> Result<()> {
        let entities = store.entity_ledger(&"namespace".parse()?, &Joins::default())?;
        let (key, message, commit) = (Key::new("stored")?, MessageId::new("message")?, OpId::new("ada")?);
        match self {
            Self::Open => entities.open(&key, &message, None).await.map(drop),
            Self::Pending => entities.pending(None, 10).await.map(drop),
            _ => {
                let attempt = commit.clone();
                entities.choose(&EntryId { key, message, commit }, &attempt).await.map(drop)
            }
        }
    }
}

/// Rows that no call wrote, in intact tables, and the call that finds each.
const ROWS: &[(&str, Meets)] = &[
    ("UPDATE {schema}.claims SET until = 'infinity' WHERE claim = 'holder'", Meets::Get),
    ("UPDATE {schema}.claims SET h = NULL WHERE claim = 'holder'", Meets::Release),
    ("INSERT INTO {schema}.free_items SELECT * FROM {schema}.withdrawn_items", Meets::Restore),
    ("INSERT INTO {schema}.withdrawn_items SELECT * FROM {schema}.free_items", Meets::Withdraw),
    ("UPDATE {schema}.claims SET state = 'lost' WHERE claim = 'holder'", Meets::Get),
    ("UPDATE {schema}.records SET value = NULL, version = NULL", Meets::Look),
    ("UPDATE {schema}.records SET state = 'lost' WHERE state = 'leased'", Meets::Record),
    ("UPDATE {schema}.records SET until = NULL WHERE state = 'leased'", Meets::Record),
    ("UPDATE {schema}.records SET until = NULL WHERE state = 'leased'", Meets::Begin),
    (
        "INSERT INTO {schema}.counters SELECT namespace, 'stock', 0, 1e30, 0, 0, 0 FROM {schema}.namespaces WHERE name = 'stock'",
        Meets::Value,
    ),
    ("UPDATE {schema}.entities SET version = -1", Meets::Open),
    ("UPDATE {schema}.outbox_entries SET attempts = '{}'", Meets::Open),
    ("UPDATE {schema}.outbox_entries SET attempts = '{{ada},{bob}}'", Meets::Open),
    ("UPDATE {schema}.outbox_entries SET chosen = 'carol'", Meets::Open),
    ("UPDATE {schema}.outbox_entries SET chosen = ''", Meets::Open),
    ("UPDATE {schema}.outbox_entries SET content = convert_to(repeat('x', 262145), 'UTF8')", Meets::Open),
    ("UPDATE {schema}.outbox_entries SET key = ''", Meets::Pending),
    ("UPDATE {schema}.outbox_entries SET attempts = '{}'", Meets::Pending),
];

/// Tables that are not as setup made them, some with rows that were written since.
const TABLES: &[(&str, Meets)] = &[
    ("ALTER TABLE {schema}.claims RENAME until TO til", Meets::Get),
    ("ALTER TABLE {schema}.claims ADD CONSTRAINT none CHECK (ended_at IS NULL) NOT VALID", Meets::Release),
    ("ALTER TABLE {schema}.free_items DROP COLUMN item", Meets::Restore),
    ("ALTER TABLE {schema}.claims ALTER until TYPE text", Meets::Get),
    ("ALTER TABLE {schema}.records ALTER version TYPE numeric", Meets::Look),
    (
        "ALTER TABLE {schema}.records DROP CONSTRAINT records_check; UPDATE {schema}.records SET version = NULL",
        Meets::Look,
    ),
    ("ALTER TABLE {schema}.tokens DROP CONSTRAINT tokens_pkey", Meets::Create),
    // Without the key, two callers would both be the first.
    ("ALTER TABLE {schema}.records DROP CONSTRAINT records_pkey", Meets::Record),
    ("ALTER TABLE {schema}.records DROP CONSTRAINT records_pkey", Meets::Begin),
    ("ALTER TABLE {schema}.records DROP CONSTRAINT records_pkey", Meets::Setup),
    ("DROP INDEX {schema}.claims_by_claim", Meets::Release),
    ("DROP INDEX {schema}.claims_by_claim", Meets::Take),
    ("DROP INDEX {schema}.claims_by_claim", Meets::Setup),
    (
        "DROP INDEX {schema}.claims_by_claim; CREATE INDEX claims_by_claim ON {schema}.claims (bank, claim)",
        Meets::Setup,
    ),
    ("ALTER TABLE {schema}.free_items DROP CONSTRAINT free_items_pkey", Meets::Restore),
    ("ALTER TABLE {schema}.free_items DROP CONSTRAINT free_items_pkey", Meets::Take),
    ("ALTER TABLE {schema}.counter_ops DROP CONSTRAINT counter_ops_pkey", Meets::Value),
    ("ALTER TABLE {schema}.entities RENAME emptied_at TO since", Meets::Open),
    ("ALTER TABLE {schema}.outbox_entries ALTER attempts TYPE text USING attempts[1]", Meets::Choose),
    ("DROP TABLE {schema}.outbox_entries", Meets::Pending),
    (
        "ALTER TABLE {schema}.records ALTER state DROP NOT NULL, DROP CONSTRAINT records_check;
         UPDATE {schema}.records SET state = NULL",
        Meets::Record,
    ),
    (
        "ALTER TABLE {schema}.records ALTER state DROP NOT NULL, DROP CONSTRAINT records_check;
         UPDATE {schema}.records SET state = NULL",
        Meets::Begin,
    ),
    ("DELETE FROM {schema}.versions", Meets::Setup),
    ("DELETE FROM {schema}.store", Meets::Setup),
];

/// Returns the call's answer in a schema with this damage.
async fn answer(place: &Place, damage: &str, call: Meets) -> Result<Result<()>> {
    let store = place.builder()?.connect(&owner_url(&place.database, "owner"))?;
    namespaces::fill(&store).await?;
    store.counter(&"stock".parse()?, Strategy::default())?.value(&Key::new("stock")?).await?;
    run(place.database.owner(), damage.replace("{schema}", &place.schema)).await?;
    Ok(call.make(&store).await)
}

/// Returns whether the error has one of these kinds. A call that was retried ends with another kind. Only a read may
/// leave open whether it was applied.
fn is_said(answer: &Result<()>, call: Meets, kinds: &[ErrorKind]) -> bool {
    answer.as_ref().is_err_and(|error| {
        let is_sure = error.certainty() == Certainty::NotApplied
            || matches!(call, Meets::Look | Meets::Get | Meets::Open | Meets::Pending);
        is_sure && kinds.contains(&error.kind())
    })
}

/// Checks all cases. If the tables are whole, the next case may reuse them.
async fn all_are_said(cases: &[(&str, Meets)], kinds: &[ErrorKind], tables_are_whole: bool) -> Result<()> {
    in_database(async |database| {
        let (mut damaged, mut unsaid) = (vec![], vec![]);
        for (damage, call) in cases {
            let place = database.place().await?;
            let answer = answer(&place, damage, *call).await?;
            if !is_said(&answer, *call, kinds) {
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
async fn a_row_that_no_call_wrote_is_corrupt_at_once() -> Result<()> {
    all_are_said(ROWS, &[ErrorKind::Corrupt], true).await
}

#[tokio::test]
async fn a_table_that_was_changed_is_corrupt_or_not_set_up_at_once() -> Result<()> {
    all_are_said(TABLES, &[ErrorKind::Corrupt, ErrorKind::NotSetUp], false).await
}
