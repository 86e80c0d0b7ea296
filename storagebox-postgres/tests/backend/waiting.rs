//! A call that waited for another one decides and dates by the clock after the wait.
//!
//! A session creates the same row, the call waits for it, hours pass, and the session rolls back.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sqlx::{AssertSqlSafe, Connection, PgConnection, raw_sql};
use storagebox_core::{
    Backend, Begun, Change, ClaimId, ClaimState, Commit, Confirmed, Counted, Counter, DedupId, DedupRepo, End,
    EntityChange, EntityLedger, Error, Hold, Item, ItemBank, Key, LeaseRepo, OpId, OrderedOptions, OrderedStore,
    Payload, Recorded, Released, Result, Retention, Stamp, Strategy, Taken, TokenId, TokenStore, WriterId, Written,
};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::checks::entities::{commit_at, committed, entry, joined, version};
use storagebox_testkit::checks::id;

use crate::scene::{LONG, blocked, count, session, tell, until, with_place};
use crate::support::{Place, failed, run};

const HOUR: Duration = Duration::from_secs(3_600);

/// Returns a store that remembers ended operations for an hour.
async fn store(place: &Place) -> Result<PostgresStore> {
    let memory = "UPDATE {schema}.store SET memory = 3600000000";
    run(place.database.owner(), memory.replace("{schema}", &place.schema)).await?;
    let builder = place.builder()?.remember(Retention::For(HOUR)).call_timeout(LONG);
    builder.connect(&place.url_at(place.database.server()))
}

/// Returns the answer of a call that waits for a session in which `sql` has run. Moves the clock forward by `time`
/// during the wait.
async fn after<T>(place: &Place, time: Duration, sql: &str, call: impl Future<Output = Result<T>>) -> Result<T> {
    let mut other = session(place, &sql.replace("{schema}", &place.schema)).await?;
    let take_back = async {
        until("a call that waits", async || Ok(blocked(&place.database, &place.schema).await? == 1)).await?;
        place.advance(time).await?;
        tell(&mut other, "ROLLBACK").await
    };
    let (answer, ()) = tokio::try_join!(call, take_back)?;
    Ok(answer)
}

async fn call(place: &Place, sql: &str) -> Result<()> {
    let url = place.url_at(place.database.server());
    let mut connection = PgConnection::connect(&url).await.map_err(failed)?;
    let sql = sql.replace("{schema}", &place.schema);
    raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.map(drop).map_err(failed)
}

const LEASE: &str = "INSERT INTO {schema}.records (namespace, id, state, op, fence, until)
    SELECT namespace, 'id', 'leased', 'other', 1, now() FROM {schema}.namespaces";
const CLAIM: &str = "INSERT INTO {schema}.claims (bank, claim, state, h, item)
    SELECT namespace, 'ada', 'held', 0, 'other' FROM {schema}.namespaces";

#[test]
fn lease_that_waited_begins_after_the_wait() -> Result<()> {
    with_place(async |place| {
        let leases = store(place).await?.lease_repo(&"namespace".parse()?)?;
        let (id, op, late) = (DedupId::new("id")?, OpId::new("op")?, OpId::new("late")?);
        let _ = leases.begin(&DedupId::new("warm")?, &op, HOUR, None).await?;
        let begun = after(place, 2 * HOUR, LEASE, leases.begin(&id, &op, HOUR, None)).await?;
        assert!(matches!(begun, Begun::Started(_)), "{begun:?}");
        let begun = leases.begin(&id, &late, HOUR, None).await?;
        assert!(matches!(begun, Begun::InFlight { .. }), "the lease was over when it was had: {begun:?}");
        Ok(())
    })
}

#[test]
fn retention_of_a_record_begins_after_its_wait() -> Result<()> {
    with_place(async |place| {
        let records = store(place).await?.dedup_repo(&"namespace".parse()?)?;
        let (id, op, value) = (DedupId::new("id")?, OpId::new("op")?, Payload::try_from("value")?);
        records.get(&id).await?;
        let record = records.record(&id, &value, &op, Retention::For(HOUR));
        let recorded = after(place, 2 * HOUR, LEASE, record).await?;
        assert!(matches!(recorded, Recorded::New(_)), "{recorded:?}");
        assert!(records.get(&id).await?.is_some(), "the record was over when it was made");
        Ok(())
    })
}

#[test]
fn retention_begins_after_the_wait_of_the_whole_batch() -> Result<()> {
    with_place(async |place| {
        let records = store(place).await?.dedup_repo(&"namespace".parse()?)?;
        records.get(&DedupId::new("id")?).await?;
        let number = count(&place.database, &format!("SELECT namespace FROM {}.namespaces", place.schema)).await?;
        let batch = format!(
            "SELECT {{schema}}.dedup_record({number}, '{{early,id}}', '{{a,b}}', '{{op,op}}', '{{3600000000,NULL}}', NULL)"
        );
        after(place, 2 * HOUR, LEASE, call(place, &batch)).await?;
        for id in ["early", "id"] {
            assert!(records.get(&DedupId::new(id)?).await?.is_some(), "{id} was over when it was made");
        }
        Ok(())
    })
}

async fn bank(place: &Place) -> Result<Arc<dyn ItemBank>> {
    let bank = store(place).await?.item_bank(&"namespace".parse()?)?;
    bank.add(&[Item::new("item")?]).await?;
    Ok(bank)
}

async fn assert_holds(bank: &Arc<dyn ItemBank>, claim: &str) -> Result<()> {
    let state = bank.get(&ClaimId::new(claim)?).await?;
    assert!(matches!(state, ClaimState::Held(_)), "{claim}'s hold was over when it was had: {state:?}");
    Ok(())
}

/// The item is free in one case, and has a lapsed hold in the other case.
#[test]
fn hold_of_a_take_begins_after_its_wait() -> Result<()> {
    for lapsed in [false, true] {
        with_place(async |place| {
            let (bank, ada) = (bank(place).await?, ClaimId::new("ada")?);
            if lapsed {
                let _ = bank.take(&ClaimId::new("bob")?, Hold::For(HOUR)).await?;
                place.advance(2 * HOUR).await?;
            }
            let taken = after(place, 2 * HOUR, CLAIM, bank.take(&ada, Hold::For(HOUR))).await?;
            assert!(matches!(taken, Taken::New(_)), "{lapsed}: {taken:?}");
            assert_holds(&bank, "ada").await
        })?;
    }
    Ok(())
}

#[test]
fn holds_begin_after_the_wait_of_the_whole_batch() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place).await?;
        bank.add(&[Item::new("second")?]).await?;
        let number = count(&place.database, &format!("SELECT namespace FROM {}.namespaces", place.schema)).await?;
        let batch = format!(
            "SELECT {{schema}}.bank_take_many({number}, '{{aaron,ada}}', '{{3600000000,3600000000}}', NULL, {start}, {start})",
            start = i64::MIN + 1
        );
        after(place, 2 * HOUR, CLAIM, call(place, &batch)).await?;
        for claim in ["aaron", "ada"] {
            assert_holds(&bank, claim).await?;
        }
        Ok(())
    })
}

#[test]
fn fence_of_a_release_begins_after_its_wait() -> Result<()> {
    with_place(async |place| {
        let (bank, ada) = (bank(place).await?, ClaimId::new("ada")?);
        assert_eq!(after(place, 2 * HOUR, CLAIM, bank.release(&ada)).await?, Released::Released);
        assert_eq!(bank.take(&ada, Hold::Forever).await?, Taken::Ended(End::Released));
        Ok(())
    })
}

#[test]
fn confirmation_that_waited_finds_the_hold_expired() -> Result<()> {
    with_place(async |place| {
        let (bank, ada) = (bank(place).await?, ClaimId::new("ada")?);
        let _ = bank.take(&ada, Hold::For(HOUR)).await?;
        let locked = "SELECT FROM {schema}.claims WHERE claim = 'ada' FOR UPDATE";
        let confirmed = after(place, 3 * HOUR / 2, locked, bank.confirm(&ada)).await?;
        assert_eq!(confirmed, Confirmed::Ended(End::Expired), "the hold was over when its row was had");
        Ok(())
    })
}

#[test]
fn fence_of_a_discard_begins_after_its_wait() -> Result<()> {
    with_place(async |place| {
        let (tokens, token) = (store(place).await?.token_store(&"namespace".parse()?)?, TokenId::new("token")?);
        tokens.exists(&token).await?;
        let made = "INSERT INTO {schema}.tokens (namespace, token) SELECT namespace, 'token' FROM {schema}.namespaces";
        after(place, 2 * HOUR, made, tokens.discard(std::slice::from_ref(&token))).await?;
        assert_eq!(tokens.create_tokens(&[token]).await?.gone, 1, "the fence was over when it was made");
        Ok(())
    })
}

/// The two waiting calls delete an entity, and remove the last entry of a deleted entity.
#[test]
fn retention_of_a_deletion_begins_after_its_wait() -> Result<()> {
    with_place(async |place| {
        let store = store(place).await?;
        let (entities, tokens) = joined(&store)?;
        tokens.create_tokens(&[id("token")]).await?;
        let delete = Commit { change: EntityChange::Delete, ..commit_at(None, "first") };
        committed(&*entities, &delete).await?;
        let locked = "SELECT FROM {schema}.entities FOR UPDATE";
        assert!(after(place, 2 * HOUR, locked, entities.remove(&entry("first"))).await?);
        let opened = version(&*entities, "first").await?;
        assert!(opened.is_some(), "it was forgotten when its entry was removed");
        let commit = Commit { opened, attempt: id("second"), entry: None, consume: Some(id("token")), ..delete };
        let locked = "SELECT FROM {schema}.tokens FOR UPDATE";
        after(place, 2 * HOUR, locked, committed(&*entities, &commit)).await?;
        assert!(version(&*entities, "first").await?.is_some(), "it was forgotten when it was committed");
        assert_eq!(store.maintain(10).await?.deleted, 0);
        Ok(())
    })
}

/// While a change waits for the counter, another session changes the counter.
#[test]
fn change_that_waited_is_added_to_the_current_value() -> Result<()> {
    with_place(async |place| {
        let stock = store(place).await?.counter(&"namespace".parse()?, Strategy::default())?;
        let (key, change) = (Key::new("key")?, |op: &str| Ok::<_, Error>(Change::new(op.parse()?, 1)));
        let _ = stock.apply(&key, &change("first")?).await?;
        let mut other = session(place, &format!("UPDATE {}.counters SET value = value + 10", place.schema)).await?;
        let commit = async {
            until("a call that waits", async || Ok(blocked(&place.database, &place.schema).await? == 1)).await?;
            tell(&mut other, "COMMIT").await
        };
        let second = change("second")?;
        let (counted, ()) = tokio::try_join!(stock.apply(&key, &second), commit)?;
        assert_eq!(counted, Counted::Applied { value: Some(12) });
        assert_eq!(stock.value(&key).await?, 12);
        Ok(())
    })
}

/// While the write waits, its stamp becomes older than the horizon.
#[test]
fn write_that_waited_is_too_old_after_the_wait() -> Result<()> {
    with_place(async |place| {
        let options = OrderedOptions::time();
        let (ordered, key) = (store(place).await?.ordered_store(&"namespace".parse()?, options)?, Key::new("key")?);
        ordered.get(&key).await?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(failed)?.as_millis() as i64;
        let (value, stamp) = (Payload::try_from("value")?, Stamp::new(now, WriterId::new("ada")?));
        let made = "INSERT INTO {schema}.ordered_values
            SELECT namespace, 'key', 1, 'other', NULL, now() FROM {schema}.namespaces";
        let written = after(place, 8 * 24 * HOUR, made, ordered.put(&key, &value, &stamp)).await?;
        assert!(matches!(written, Written::TooOld { horizon } if horizon > now), "{written:?}");
        assert_eq!(ordered.get(&key).await?, None);
        Ok(())
    })
}
