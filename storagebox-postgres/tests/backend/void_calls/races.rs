//! Races between an attempt and the refusal that makes its call void. The second of the two sees the first.
//!
//! The first runs in a session that has not committed, and the second waits for it.

use std::sync::Arc;

use sqlx::{AssertSqlSafe, Connection, PgConnection, query_scalar};
use storagebox_core::{
    Attempt, Backend, Bounds, Change, ClaimState, Counted, Counter, Error, Extended, Hold, ItemBank, Key, OpId, Result,
    Retention, Strategy, Taken,
};

use super::{ada, add, bank, store, take};
use crate::scene::{blocked, count, session, tell, until, with_database, with_place};
use crate::support::{Place, failed};

/// Returns the answer of a call that waits for the transaction of the session `first`. Commits the transaction while
/// the call waits.
async fn after<T>(place: &Place, first: &mut PgConnection, call: impl Future<Output = Result<T>>) -> Result<T> {
    let commit = async {
        until("a call that waits", async || Ok(blocked(&place.database, &place.schema).await? == 1)).await?;
        tell(first, "COMMIT").await
    };
    Ok(tokio::try_join!(call, commit)?.0)
}

/// Returns a session with an open transaction in which a repeated take was refused and its call became void.
async fn refusal(place: &Place, call: i64) -> Result<PgConnection> {
    let schema = &place.schema;
    let refuse = format!(
        "SELECT {schema}.bank_take(namespace, epoch, 'ada', {call}, true, NULL, NULL, 0, NULL, 0) FROM {schema}.namespaces"
    );
    session(place, &refuse).await
}

async fn nothing_is_taken(place: &Place, bank: &Arc<dyn ItemBank>) -> Result<()> {
    assert_eq!(bank.get(&ada()).await?, ClaimState::Unknown, "{}", place.schema);
    assert_eq!(bank.counts().await?.free, 1, "{}", place.schema);
    Ok(())
}

/// The take finds no row of its claim, deletes an item from the free items, and then waits.
#[test]
fn take_whose_call_is_voided_before_its_insert_takes_nothing() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place).await?;
        bank.counts().await?;
        let mut first = refusal(place, 7).await?;
        add(&bank, &["item"]).await?;
        assert_eq!(after(place, &mut first, take(&bank, Attempt::of_call(7))).await?, Taken::Empty);
        nothing_is_taken(place, &bank).await
    })
}

#[test]
fn batch_whose_call_is_voided_before_its_insert_takes_nothing() -> Result<()> {
    with_place(async |place| {
        let (bank, schema) = (bank(place).await?, &place.schema);
        bank.counts().await?;
        let mut first = refusal(place, 7).await?;
        add(&bank, &["item"]).await?;
        let number = count(&place.database, &format!("SELECT namespace FROM {schema}.namespaces")).await?;
        let batch = format!("SELECT claims FROM {schema}.bank_take_many({number}, '{{ada}}', '{{NULL}}', NULL, 0, 0)");
        let url = place.url_at(place.database.server());
        let mut connection = PgConnection::connect(&url).await.map_err(failed)?;
        let together = async { query_scalar(AssertSqlSafe(batch)).fetch_one(&mut connection).await.map_err(failed) };
        let taken: Option<Vec<String>> = after(place, &mut first, together).await?;
        assert_eq!(taken, None, "it is left to be made alone");
        nothing_is_taken(place, &bank).await
    })
}

/// The take finds its claim's row, in which another call is already void, and waits to lock the row.
#[test]
fn take_whose_call_is_voided_before_its_lock_takes_nothing() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place).await?;
        assert_eq!(take(&bank, Attempt::of_call(1).again()).await?, Taken::Empty);
        let mut first = refusal(place, 7).await?;
        add(&bank, &["item"]).await?;
        assert_eq!(after(place, &mut first, take(&bank, Attempt::of_call(7))).await?, Taken::Empty);
        nothing_is_taken(place, &bank).await?;
        assert_eq!(take(&bank, Attempt::of_call(1)).await?, Taken::Empty);
        Ok(())
    })
}

/// The claim is unknown in one case, and has a void call in the other case.
#[test]
fn repeated_take_returns_the_item_of_a_concurrent_attempt() -> Result<()> {
    with_database(async |database| {
        for is_known in [false, true] {
            let place = database.place().await?;
            let (bank, schema, repeated) = (bank(&place).await?, &place.schema, Attempt::of_call(7).again());
            bank.counts().await?;
            let claim = match is_known {
                false => format!(
                    "INSERT INTO {schema}.claims (bank, claim, state, h, item) SELECT namespace, 'ada', 'held', 0, 'other' FROM {schema}.namespaces"
                ),
                true => {
                    assert_eq!(take(&bank, Attempt::of_call(1).again()).await?, Taken::Empty);
                    add(&bank, &["other"]).await?;
                    format!(
                        "SELECT {schema}.bank_take(namespace, epoch, 'ada', 7, false, NULL, NULL, 0, NULL, 0) FROM {schema}.namespaces"
                    )
                }
            };
            let mut first = session(&place, &claim).await?;
            let taken = after(&place, &mut first, take(&bank, repeated)).await?;
            assert!(matches!(&taken, Taken::Again(held) if held.item.as_str() == "other"), "{taken:?}");
            let extended = bank.attempt_extend(repeated, &ada(), Hold::Forever).await?;
            assert!(matches!(extended, Extended::Extended(_)), "{extended:?}");
        }
        Ok(())
    })
}

const SHARDED: Strategy = Strategy::Sharded { shards: 2, bounds: Bounds::NONE, retention: Retention::Forever };
const MARKER: Strategy = Strategy::Marker { retention: Retention::Forever };

/// Another session makes the same call with bounds that refuse the change. The bounds of the late attempt would allow
/// the change.
#[test]
fn change_whose_call_is_voided_before_its_lock_is_not_applied() -> Result<()> {
    const ALONE: &str = "counter_apply(namespace, '{key}', '{op}', '{7}', '{true}', '{1}', '{NULL}', '{0}', '{0}', 1, -9, 9, \
        false, true, NULL, NULL)";
    const WIDELY: &str = "counter_apply_widely(namespace, 'key', 'op', 7, true, 1, 0, 2, -9, 0, NULL)";
    with_database(async |database| {
        for (strategy, refuse) in [(MARKER, ALONE), (SHARDED, WIDELY)] {
            let place = database.place().await?;
            let counters: Arc<dyn Counter> = store(&place, true).await?.counter(&"namespace".parse()?, strategy)?;
            let (key, change) = (Key::new("key")?, Change::new(OpId::new("op")?, 1));
            counters.value(&key).await?;
            let schema = &place.schema;
            let mut first = session(&place, &format!("SELECT {schema}.{refuse} FROM {schema}.namespaces")).await?;
            let late = counters.attempt_apply(Attempt::of_call(7), &key, &change);
            assert_eq!(after(&place, &mut first, late).await?, Counted::OutOfBounds, "{strategy:?}");
            assert_eq!(counters.value(&key).await?, 0, "{strategy:?}");
            let other = counters.attempt_apply(Attempt::of_call(8), &key, &change).await?;
            assert!(matches!(other, Counted::Applied { .. }), "{strategy:?}: {other:?}");
        }
        Ok(())
    })
}

/// The repeated attempt locks all shards to find room, and then finds that another attempt has applied the operation.
#[test]
fn change_that_a_concurrent_attempt_applied_is_not_repeated() -> Result<()> {
    with_place(async |place| {
        let bounds = Bounds::between(0, 2)?;
        let strategy = Strategy::Sharded { shards: 2, bounds, retention: Retention::Forever };
        let counters = store(place, true).await?.counter(&"namespace".parse()?, strategy)?;
        let (key, schema) = (Key::new("key")?, &place.schema);
        let change = |op: &str, delta| Ok::<_, Error>(Change::new(OpId::new(op)?, delta));
        assert!(matches!(counters.apply(&key, &change("fill", 2)?).await?, Counted::Applied { .. }));
        let applied = format!(
            "INSERT INTO {schema}.counter_ops SELECT namespace, 'key', 'op', 1, NULL, now(), false FROM {schema}.namespaces"
        );
        let locked = format!("SELECT FROM {schema}.counters FOR UPDATE");
        let mut first = session(place, &format!("{locked}; {applied}")).await?;
        let op = change("op", 1)?;
        let repeated = counters.attempt_apply(Attempt::of_call(7).again(), &key, &op);
        let counted = after(place, &mut first, repeated).await?;
        assert_eq!(counted, Counted::AlreadyApplied { value: None });
        Ok(())
    })
}
