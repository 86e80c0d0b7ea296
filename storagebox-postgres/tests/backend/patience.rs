//! How long a call waits for others, and that the server stops when the call gives up.

use std::time::Duration;

use storagebox_core::{Backend, ClaimId, Counter, Hold, Item, ItemBank, Key, Result, Strategy};
use storagebox_postgres::Statements;

use crate::scene::{LONG, blocked, count, patient, session, until, with_place};
use crate::support::run;

/// The server ends a statement before its call times out, and so can report that nothing was applied.
#[test]
fn statement_timeout_is_shorter_than_the_call_timeout() -> Result<()> {
    with_place(async |place| {
        let schema = &place.schema;
        let told = format!(
            "CREATE OR REPLACE FUNCTION {schema}.counter_total(p_namespace bigint, p_key text) RETURNS bigint LANGUAGE sql
             RETURN (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::bigint"
        );
        run(place.database.owner(), told).await?;
        let store = patient(place)?;
        let told = store.counter(&"namespace".parse()?, Strategy::default())?.value(&Key::new("key")?).await?;
        let told = Duration::from_millis(told.unsigned_abs());
        assert!(told > LONG / 2 && told < LONG, "{told:?} of {LONG:?}");
        Ok(())
    })
}

/// Simple statements set no timeout for the session, so the functions set their own.
#[test]
fn a_call_whose_client_is_gone_stops_waiting_for_a_lock() -> Result<()> {
    with_place(async |place| {
        let builder = place.builder()?.statements(Statements::Simple).call_timeout(LONG);
        let bank = builder.connect(&place.url_at(place.database.server()))?.item_bank(&"namespace".parse()?)?;
        let ada = ClaimId::new("ada")?;
        bank.add(&[Item::new("item")?]).await?;
        let _ = bank.take(&ada, Hold::Forever).await?;
        let _other = session(place, &format!("SELECT FROM {}.claims FOR UPDATE", place.schema)).await?;
        let waiting = async || Ok(blocked(&place.database, &place.schema).await? == 1);
        tokio::select! {
            confirmed = bank.confirm(&ada) => panic!("{confirmed:?} under another's lock"),
            waits = until("a call that waits", waiting) => waits?,
        }
        // A session that checks for a deadlock is active for a moment and not waiting.
        let at_work = "SELECT count(*) FROM pg_stat_activity
            WHERE state = 'active' AND datname = current_database() AND application_name =";
        let at_work = format!("{at_work} '{}'", place.schema);
        until("the end of its wait", async || Ok(count(&place.database, &at_work).await? == 0)).await
    })
}
