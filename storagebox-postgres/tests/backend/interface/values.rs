//! Ordered values, by SQL and by the library.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use storagebox_core::{Backend, OrderedOptions, OrderedStore, Payload, Result, Stamp, Versioned, Written};
use storagebox_testkit::checks::id;

use super::Caller;
use crate::scene::{patient, with_place};
use crate::support::{Place, failed};

const DAY: Duration = Duration::from_secs(24 * 3_600);
/// The bytes of the text `value`, as PostgreSQL shows them.
const VALUE: &str = r"\x76616c7565";

fn values(place: &Place, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
    patient(place)?.ordered_store(&id("ratings"), options)
}

fn value() -> Payload {
    Payload::new(&b"value"[..]).expect("a short value")
}

fn put(at: i64, writer: &str) -> String {
    format!("put('ratings', 'film', '{VALUE}', {at}, '{writer}')")
}

fn now() -> Result<i64> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(failed)?;
    i64::try_from(now.as_millis()).map_err(failed)
}

const ALL: &str = "outcome, current_at, current_writer, horizon IS NOT NULL";

#[test]
fn ordered_value_is_shared_by_sql_and_the_library() -> Result<()> {
    with_place(async |place| {
        let (mut caller, now) = (Caller::connect(place).await?, now()?);
        assert_eq!(caller.rows("value", "get_value('ratings', 'film')").await.unwrap(), [""; 0]);
        assert_eq!(caller.says(ALL, &put(now, "phone")).await?, "applied f");
        let (values, stamp) = (values(place, OrderedOptions::default())?, Stamp::new(now, id("phone")));
        assert_eq!(values.put(&id("film"), &value(), &stamp).await?, Written::Duplicate);
        assert_eq!(values.get(&id("film")).await?, Some(Versioned { value: value(), stamp: stamp.clone() }));
        assert_eq!(
            caller.says("value, at, writer", "get_value('ratings', 'film')").await?,
            format!("{VALUE} {now} phone")
        );
        assert_eq!(caller.outcome(&put(now, "phone")).await?, "duplicate");
        assert_eq!(caller.outcome(&format!("put('ratings', 'film', '', {now}, 'phone')")).await?, "mismatch");
        assert_eq!(caller.says(ALL, &put(now - 1, "phone")).await?, format!("stale {now} phone f"));

        let newer = Stamp::new(now + 1, id("laptop"));
        assert_eq!(values.put(&id("film"), &value(), &newer).await?, Written::Applied);
        assert_eq!(caller.says(ALL, &put(now, "phone")).await?, format!("stale {} laptop f", now + 1));
        assert_eq!(caller.outcome(&format!("delete('ratings', 'film', {}, 'phone')", now + 2)).await?, "applied");
        assert_eq!(values.get(&id("film")).await?, None);
        assert_eq!(caller.rows("value", "get_value('ratings', 'film')").await.unwrap(), [""; 0]);
        Ok(())
    })
}

#[test]
fn writes_with_an_old_or_a_far_future_stamp_are_refused() -> Result<()> {
    with_place(async |place| {
        let (mut caller, now) = (Caller::connect(place).await?, now()?);
        let days = |days: i64| now + days * DAY.as_millis() as i64;
        assert_eq!(caller.says(ALL, &put(days(-8), "phone")).await?, "too_old t");
        assert_eq!(caller.refusal(&put(days(2), "phone")).await, "SB005");
        assert_eq!(caller.refusal(&put(now * 1_000, "phone")).await, "SB005");
        Ok(())
    })
}

/// S-4: a write by SQL names no options, and uses the options of the namespace.
#[test]
fn sql_uses_the_ordered_options_that_the_library_chose() -> Result<()> {
    with_place(async |place| {
        let values = values(place, OrderedOptions::sequence())?;
        assert_eq!(values.put(&id("film"), &value(), &Stamp::new(7, id("phone"))).await?, Written::Applied);
        let mut caller = Caller::connect(place).await?;
        assert_eq!(caller.says(ALL, &put(6, "phone")).await?, "stale 7 phone f");
        assert_eq!(caller.says(ALL, &put(i64::MAX, "phone")).await?, "applied f");
        Ok(())
    })?;
    with_place(async |place| {
        let options = OrderedOptions { tombstone_age: 30 * DAY, ..OrderedOptions::time() };
        values(place, options)?.get(&id("film")).await?;
        let at = now()? - 29 * DAY.as_millis() as i64;
        assert_eq!(Caller::connect(place).await?.says(ALL, &put(at, "phone")).await?, "applied f");
        Ok(())
    })
}
