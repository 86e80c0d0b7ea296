//! Records, leases and tokens, by SQL and by the library.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Aborted, Backend, Begun, Completed, Consumed, Created, DedupRepo, Discarded, Fence, Forgotten, Lease,
    LeaseExtended, LeaseRepo, OpId, Payload, Recorded, Result, Retention, TokenStore,
};
use storagebox_testkit::checks::id;

use super::Caller;
use crate::scene::{patient, with_place};
use crate::support::Place;

const HOUR: Duration = Duration::from_secs(3_600);
/// The bytes of the text `value`, as PostgreSQL shows them.
const VALUE: &str = r"\x76616c7565";

fn value() -> Payload {
    Payload::new(&b"value"[..]).expect("a short value")
}

fn parts(place: &Place) -> Result<(Arc<dyn DedupRepo>, Arc<dyn LeaseRepo>)> {
    let store = patient(place)?;
    Ok((store.dedup_repo(&id("requests"))?, store.lease_repo(&id("requests"))?))
}

#[test]
fn record_is_shared_by_sql_and_the_library() -> Result<()> {
    with_place(async |place| {
        let ((records, _), mut caller) = (parts(place)?, Caller::connect(place).await?);
        assert_eq!(caller.rows("value", "get_record('requests', 'id')").await.unwrap(), [""; 0]);
        let record = |op: &str| format!("record('requests', 'id', '{VALUE}', '{op}', '1 hour')");
        assert_eq!(caller.says("outcome, value, version > 0", &record("op")).await?, "new t");
        let op = OpId::new("op")?;
        let Recorded::Again(entry) = records.record(&id("id"), &value(), &op, Retention::Forever).await? else {
            panic!("another record")
        };
        assert_eq!(entry.value, value());
        let version = entry.version.number();
        assert_eq!(
            caller.says("outcome, value, version, remaining", &record("op")).await?,
            format!("again {VALUE} {version}")
        );
        assert_eq!(
            caller.says("outcome, value, version", &record("other")).await?,
            format!("existing {VALUE} {version}")
        );
        assert_eq!(caller.says("value, version", "get_record('requests', 'id')").await?, format!("{VALUE} {version}"));

        assert_eq!(records.forget(&id("id"), entry.version).await?, Forgotten::Forgotten);
        assert_eq!(caller.says("outcome, value, version, remaining", &record("op")).await?, "fenced");
        assert_eq!(caller.outcome(&record("other")).await?, "new");
        place.advance(2 * HOUR).await?;
        assert_eq!(caller.rows("value", "get_record('requests', 'id')").await.unwrap(), [""; 0]);
        Ok(())
    })
}

async fn begun(caller: &mut Caller, leases: &dyn LeaseRepo) -> Result<Lease> {
    let begun = caller
        .says("outcome, fence, remaining, value, version", "begin_lease('requests', 'id', 'op', '1 hour', 'print')")
        .await?;
    let fence = begun.strip_prefix("started ").and_then(|fence| fence.parse().ok());
    let lease = Lease { id: id("id"), op: id("op"), fence: Fence::new(fence.expect("a fence")) };
    assert_eq!(leases.begin(&lease.id, &lease.op, HOUR, None).await?, Begun::Started(lease.clone()));
    Ok(lease)
}

#[test]
fn lease_is_shared_by_sql_and_the_library() -> Result<()> {
    with_place(async |place| {
        let ((_, leases), mut caller) = (parts(place)?, Caller::connect(place).await?);
        let lease = begun(&mut caller, &*leases).await?;
        let fence = lease.fence.number();
        let other = |print: &str| format!("begin_lease('requests', 'id', 'other', '1 hour', {print})");
        assert_eq!(caller.says("outcome, remaining <= '1 hour'", &other("NULL")).await?, "in_flight t");
        assert_eq!(caller.says("outcome, remaining", &other("'another print'")).await?, "mismatch");
        let record = format!("record('requests', 'id', '{VALUE}', 'other')");
        assert_eq!(caller.says("outcome, remaining <= '1 hour'", &record).await?, "in_flight t");

        assert_eq!(
            caller.outcome(&format!("extend_lease('requests', 'id', 'op', {fence}, '2 hours')")).await?,
            "extended"
        );
        assert_eq!(leases.extend(&lease, HOUR).await?, LeaseExtended::Extended);
        let complete = format!("complete_lease('requests', 'id', 'op', {fence}, '{VALUE}')");
        assert_eq!(caller.says("outcome, value, version > 0", &complete).await?, "completed t");
        assert_eq!(caller.says("outcome, value, version > 0", &complete).await?, format!("again {VALUE} t"));
        assert!(matches!(leases.complete(&lease, &value(), Retention::Forever).await?, Completed::Again(_)));
        assert_eq!(caller.says("outcome, value, version > 0", &other("NULL")).await?, format!("done {VALUE} t"));
        assert_eq!(
            caller.outcome(&format!("extend_lease('requests', 'id', 'op', {fence}, '2 hours')")).await?,
            "fenced"
        );
        Ok(())
    })
}

#[test]
fn aborted_lease_is_over_for_sql_and_the_library() -> Result<()> {
    with_place(async |place| {
        let ((_, leases), mut caller) = (parts(place)?, Caller::connect(place).await?);
        let lease = begun(&mut caller, &*leases).await?;
        let abort = |op: &str| format!("abort_lease('requests', 'id', '{op}', {})", lease.fence.number());
        assert_eq!(caller.outcome(&abort("other")).await?, "fenced");
        assert_eq!(caller.outcome(&abort("op")).await?, "aborted");
        assert_eq!(leases.abort(&lease).await?, Aborted::Aborted);
        assert_eq!(caller.outcome("begin_lease('requests', 'id', 'op', '1 hour')").await?, "fenced");
        assert_eq!(leases.begin(&lease.id, &lease.op, HOUR, None).await?, Begun::Fenced);
        Ok(())
    })
}

#[test]
fn token_is_shared_by_sql_and_the_library() -> Result<()> {
    with_place(async |place| {
        let (tokens, mut caller) = (patient(place)?.token_store(&id("messages"))?, Caller::connect(place).await?);
        let (token, other) = (id("token"), id("other"));
        let exists = async |caller: &mut Caller| caller.says("r", "token_exists('messages', 'token') r").await;
        assert_eq!(exists(&mut caller).await?, "f");
        assert_eq!(caller.outcome("consume('messages', 'token', 'op')").await?, "already_gone");
        assert_eq!(caller.outcome("create_token('messages', 'token')").await?, "created");
        assert_eq!(exists(&mut caller).await?, "t");
        assert_eq!(tokens.create_tokens(&[id("token")]).await?, Created { created: 0, already_live: 1, gone: 0 });
        assert_eq!(caller.outcome("create_token('messages', 'token')").await?, "already_live");
        assert_eq!(caller.outcome("consume('messages', 'token', 'op')").await?, "now");
        assert_eq!(tokens.consume(&token, &id("op")).await?, Consumed::Again);
        assert_eq!(caller.outcome("consume('messages', 'token', 'op')").await?, "again");
        assert_eq!(caller.outcome("consume('messages', 'token', 'late')").await?, "already_gone");
        assert_eq!(caller.outcome("create_token('messages', 'token')").await?, "gone");

        tokens.create_tokens(std::slice::from_ref(&other)).await?;
        assert_eq!(caller.outcome("discard_token('messages', 'other')").await?, "discarded");
        assert_eq!(caller.outcome("discard_token('messages', 'other')").await?, "already_gone");
        assert_eq!(tokens.discard(&[other]).await?, Discarded { discarded: 0, already_gone: 1 });
        Ok(())
    })
}
