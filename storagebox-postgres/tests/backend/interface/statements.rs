//! The statements of the module `sql`, sent by a driver that binds their arguments.

use std::time::Duration;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Postgres, Row, query};
use storagebox_core::{Bounds, Fence, Hold, ItemBank, Lease, Payload, Result, Retention, Stamp};
use storagebox_postgres::sql::{self, Arg, Schema, Statement};
use storagebox_testkit::checks::id;

use super::Caller;
use super::banks::bank;
use crate::scene::with_place;
use crate::support::failed;

const HOUR: Duration = Duration::from_secs(3_600);

fn bound(statement: Statement) -> Query<'static, Postgres, PgArguments> {
    statement.args.into_iter().fold(query(AssertSqlSafe(statement.text)), |query, arg| match arg {
        Arg::Text(text) => query.bind(text),
        Arg::Int(number) => query.bind(number),
        Arg::Seconds(seconds) => query.bind(seconds),
        Arg::Bytes(bytes) => query.bind(bytes),
    })
}

async fn sent(caller: &mut Caller, statement: Statement) -> Result<(String, PgRow)> {
    let row = bound(statement).fetch_one(&mut caller.session).await.map_err(failed)?;
    Ok((row.try_get("outcome").map_err(failed)?, row))
}

fn value() -> Payload {
    Payload::new(&b"value"[..]).expect("a short value")
}

#[test]
fn statements_of_a_bank_call_the_bank_functions() -> Result<()> {
    with_place(async |place| {
        let (bank, mut caller) = (bank(place, &["item"]).await?, Caller::connect(place).await?);
        let (schema, vouchers, ada) = (Schema::new(&place.schema)?, id("vouchers"), id("ada"));
        let assign = |hold| sql::assign(&schema, &vouchers, &ada, hold);
        let (outcome, row) = sent(&mut caller, assign(Hold::For(HOUR))).await?;
        assert_eq!((outcome.as_str(), row.get("item"), row.get("remaining")), ("new", "item", 3_600.0));
        let (outcome, row) = sent(&mut caller, assign(Hold::Forever)).await?;
        assert_eq!((outcome.as_str(), row.get("item")), ("again", "item"));
        let (outcome, row) = sent(&mut caller, sql::confirm(&schema, &vouchers, &ada)).await?;
        assert_eq!((outcome.as_str(), row.get("item")), ("confirmed", "item"));
        let (outcome, row) = sent(&mut caller, assign(Hold::Forever)).await?;
        assert_eq!((outcome.as_str(), row.get::<Option<f64>, _>("remaining")), ("again", None));
        assert_eq!(sent(&mut caller, sql::release(&schema, &vouchers, &ada)).await?.0, "confirmed");
        assert_eq!(bank.counts().await?.spent, 1);
        Ok(())
    })
}

#[test]
fn statements_of_records_and_leases_call_their_functions() -> Result<()> {
    with_place(async |place| {
        let (mut caller, schema) = (Caller::connect(place).await?, Schema::new(&place.schema)?);
        let (requests, op) = (id("requests"), id("op"));
        let record = sql::record(&schema, &requests, &id("id"), &value(), &op, Retention::For(HOUR));
        assert_eq!(sent(&mut caller, record.clone()).await?.0, "new");
        let (outcome, row) = sent(&mut caller, record).await?;
        assert_eq!((outcome.as_str(), row.get::<&[u8], _>("value")), ("again", &b"value"[..]));

        let begin = |op: &str| sql::begin_lease(&schema, &requests, &id("lease"), &id(op), HOUR, Some(&id("print")));
        let (outcome, row) = sent(&mut caller, begin("op")).await?;
        assert_eq!(outcome, "started");
        let fence = Fence::new(row.get::<i64, _>("fence").unsigned_abs());
        let (outcome, row) = sent(&mut caller, begin("other")).await?;
        assert!(outcome == "in_flight" && row.get::<f64, _>("remaining") <= 3_600.0, "{outcome}");
        let lease = Lease { id: id("lease"), op, fence };
        let complete = sql::complete_lease(&schema, &requests, &lease, &value(), Retention::Forever);
        assert_eq!(sent(&mut caller, complete).await?.0, "completed");
        let (outcome, row) = sent(&mut caller, begin("other")).await?;
        assert_eq!((outcome.as_str(), row.get::<&[u8], _>("value")), ("done", &b"value"[..]));
        Ok(())
    })
}

#[test]
fn statements_of_tokens_counters_and_values_call_functions() -> Result<()> {
    with_place(async |place| {
        let (mut caller, schema) = (Caller::connect(place).await?, Schema::new(&place.schema)?);
        let (name, op, key) = (id("name"), id("op"), id("key"));
        assert_eq!(sent(&mut caller, sql::create_token(&schema, &name, &id("token"))).await?.0, "created");
        assert_eq!(sent(&mut caller, sql::consume(&schema, &name, &id("token"), &op)).await?.0, "now");
        let add = |delta| sql::add_to_counter(&schema, &name, &key, &op, delta, Bounds::at_least(0));
        assert_eq!(sent(&mut caller, add(-1)).await?.0, "out_of_bounds");
        let (outcome, row) = sent(&mut caller, add(7)).await?;
        assert_eq!((outcome.as_str(), row.get("value")), ("applied", 7_i64));
        let put = sql::put(&schema, &name, &key, &value(), &Stamp::new(7, id("phone")));
        let (outcome, row) = sent(&mut caller, put).await?;
        assert!(outcome == "too_old" && row.get::<i64, _>("horizon") > 7, "{outcome}");
        Ok(())
    })
}
