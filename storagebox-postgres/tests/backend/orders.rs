//! One order of locks for all calls (ADR 13): a call that waits for a first row has locked no later one, so no two
//! calls wait for each other.
//!
//! A session that plays another call locks the first row, and the call waits for it. Then the session asks for the
//! second row, and gets it at once. If the call held the second row, the session would give up before the call does.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Bounds, Change, ClaimId, Commit, Committed, Counted, Counter, EntityLedger, Hold, Item, ItemBank, Key,
    Maintained, OpId, Result, Retention, Strategy, TokenId, TokenStore,
};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::checks::entities::{commit_at, joined};
use storagebox_testkit::checks::id;

use crate::scene::{blocked, count, patient, session, tell, until, with_place};
use crate::support::{Place, run};

/// Returns a store whose sessions check for deadlocks so late that the server ends none of their calls.
async fn store(place: &Place) -> Result<PostgresStore> {
    let role = place.database.role();
    run(place.database.owner(), format!("ALTER ROLE {role} SET deadlock_timeout = '100s'")).await?;
    patient(place)
}

/// Returns the answer of `call`. Another session runs `first` before the call, and `second` while the call waits.
async fn beside<T>(place: &Place, first: &str, second: &str, call: impl Future<Output = Result<T>>) -> Result<T> {
    let mut other = session(place, &format!("SET LOCAL lock_timeout = '2s'; {first}")).await?;
    let cross = async {
        until("a call that waits", async || Ok(blocked(&place.database, &place.schema).await? == 1)).await?;
        tell(&mut other, &format!("{second}; ROLLBACK")).await
    };
    let (answer, ()) = tokio::try_join!(call, cross)?;
    Ok(answer)
}

/// Returns the items `one` and `two` in the order of their hashes, each with the statement that adds it to the bank.
pub(crate) async fn two_items(place: &Place) -> Result<[(Item, String); 2]> {
    let schema = &place.schema;
    let hash = |item: &str| format!("('x' || left(encode(sha256('{item}'), 'hex'), 16))::bit(64)::bigint");
    let sql = format!("SELECT ({} < {})::int::bigint", hash("one"), hash("two"));
    let order = if count(&place.database, &sql).await? == 1 { ["one", "two"] } else { ["two", "one"] };
    let statement = |item: &str| {
        format!("INSERT INTO {schema}.free_items SELECT namespace, {}, '{item}' FROM {schema}.namespaces", hash(item))
    };
    Ok([(Item::new(order[0])?, statement(order[0])), (Item::new(order[1])?, statement(order[1]))])
}

async fn bank(place: &Place) -> Result<(PostgresStore, Arc<dyn ItemBank>)> {
    let store = store(place).await?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    Ok((store, bank))
}

/// Two items are stored in the reverse of the order in which `add` locks items. `restore` must not lock the items in
/// the stored order.
#[test]
fn restore_locks_items_in_the_order_of_add() -> Result<()> {
    with_place(async |place| {
        let [(low, first), (high, second)] = two_items(place).await?;
        let (_store, bank) = bank(place).await?;
        for item in [high, low] {
            bank.add(std::slice::from_ref(&item)).await?;
            bank.withdraw(&[item]).await?;
        }
        let items = [Item::new("one")?, Item::new("two")?];
        let restored = beside(place, &first, &second, bank.restore(&items)).await?;
        assert_eq!(restored.restored, 2);
        Ok(())
    })
}

/// The item whose hold ends first is the second item in the order of `add`.
#[test]
fn upkeep_locks_items_in_the_order_of_add() -> Result<()> {
    with_place(async |place| {
        let [(low, first), (high, second)] = two_items(place).await?;
        let (store, bank) = bank(place).await?;
        for (item, hours) in [(high, 1), (low, 2)] {
            bank.add(std::slice::from_ref(&item)).await?;
            let hold = Hold::For(Duration::from_secs(hours * 3_600));
            let _ = bank.take(&ClaimId::new(item.as_str())?, hold).await?;
        }
        place.advance(Duration::from_secs(24 * 3_600)).await?;
        let done = beside(place, &first, &second, store.maintain(10)).await?;
        assert_eq!(done, Maintained { deleted: 0, more: false });
        assert_eq!(bank.counts().await?.free, 2);
        Ok(())
    })
}

const SHARDS: u16 = 6;

/// Another session locks the shards in the order of a batch.
#[test]
fn change_of_all_shards_locks_them_in_the_order_of_a_batch() -> Result<()> {
    with_place(async |place| {
        let bounds = Bounds::between(0, 60)?;
        let strategy = Strategy::Sharded { shards: SHARDS, bounds, retention: Retention::Forever };
        let counters = store(place).await?.counter(&"namespace".parse()?, strategy)?;
        let key = Key::new("key")?;
        counters.value(&key).await?;
        let schema = &place.schema;
        let batch = |shard: u16| {
            format!(
                "SELECT {schema}.counter_apply(namespace, '{{key}}', '{{batch-{shard}}}', '{{0}}', '{{false}}', '{{1}}', \
                 '{{NULL}}', '{{NULL}}', '{{{shard}}}', {SHARDS}, 0, 60, true, true, NULL, NULL) FROM {schema}.namespaces"
            )
        };
        run(place.database.owner(), batch(3)).await?;
        let change = Change::new(OpId::new("more than a shard holds")?, 40);
        let counted = beside(place, &batch(3), &batch(5), counters.apply(&key, &change)).await?;
        assert_eq!(counted, Counted::Applied { value: None });
        assert_eq!(counters.value(&key).await?, 41);
        Ok(())
    })
}

/// One sorted order covers the token that the commit consumes and the tokens that it creates.
#[test]
fn a_commit_locks_tokens_in_the_order_of_a_batch() -> Result<()> {
    with_place(async |place| {
        let ((entities, tokens), schema) = (joined(&store(place).await?)?, &place.schema);
        let made = |token: &str| {
            format!(
                "INSERT INTO {schema}.tokens SELECT namespace, '{token}' FROM {schema}.namespaces WHERE kind = 'tokens'"
            )
        };
        let taken = |token: &str| format!("SELECT FROM {schema}.tokens WHERE token = '{token}' FOR UPDATE");
        for (number, (first, second)) in [(made("a"), taken("m")), (taken("m"), made("z"))].into_iter().enumerate() {
            let given = TokenId::new("m")?;
            tokens.create_tokens(std::slice::from_ref(&given)).await?;
            let (key, create) = (id(&format!("{number}")), ["z", "a"].map(id).to_vec());
            let commit = Commit { key, consume: Some(given), create, ..commit_at(None, "a") };
            assert_eq!(beside(place, &first, &second, entities.commit(&commit)).await?, Committed::Committed);
            run(place.database.owner(), format!("DELETE FROM {schema}.tokens")).await?;
        }
        Ok(())
    })
}
