//! Texts that look alike, arbitrary bytes, and limits.

use std::time::Duration;

use storagebox_core::{
    Begun, Completed, Cursor, DedupRepo, Entry, Error, ErrorKind, Fingerprint, LeaseRepo, MAX_DURATION, MAX_ID_BYTES,
    MAX_PAYLOAD_BYTES, MIN_DURATION, Payload, Recorded, Replaced, Result, Retention,
};

use super::{LONG, Repos, id, op, text};
use crate::failure::{Verdict, ensure_eq, ensure_matches};
use crate::values::nasty_texts;
use crate::world::World;

const FOREVER: Retention = Retention::Forever;

/// Returns short and long texts that stores often confuse with other texts.
fn often_mistaken() -> [String; 5] {
    ["a".into(), "\u{e9}".into(), "a:b".into(), "1".into(), "y".repeat(MAX_ID_BYTES)]
}

pub(super) async fn ids_that_look_alike_are_apart(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let ada = op("ada")?;
    for name in nasty_texts() {
        repos.record_new(&id(&name)?, &name, &ada, FOREVER).await?;
    }
    for name in nasty_texts() {
        repos.ensure_value(&id(&name)?, Some(&name)).await?;
    }
    let page = repos.records.list(None, 1_000).await?;
    let mut listed: Vec<_> = page.entries.into_iter().map(|listed| String::from(listed.id)).collect();
    let mut expected = nasty_texts();
    listed.sort();
    expected.sort();
    ensure_eq!(listed, expected, "the ids listed");
    Ok(())
}

pub(super) async fn ops_that_look_alike_are_apart(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    for (number, winner) in often_mistaken().into_iter().enumerate() {
        let order = id(&format!("order-{number}"))?;
        let version = repos.record_new(&order, "first", &op(&winner)?, FOREVER).await?;
        let first = Entry { value: text("first")?, version };
        for other in nasty_texts().into_iter().filter(|other| *other != winner) {
            let found = repos.records.record(&order, &text("x")?, &op(&other)?, FOREVER).await?;
            ensure_eq!(found, Recorded::Existing(first.clone()), "{other:?} records after {winner:?}");
        }
        let again = repos.records.record(&order, &text("x")?, &op(&winner)?, FOREVER).await?;
        ensure_eq!(again, Recorded::Again(first), "{winner:?} records again");
    }
    Ok(())
}

pub(super) async fn fingerprints_that_look_alike_are_apart(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob) = (op("ada")?, op("bob")?);
    for (number, first) in often_mistaken().into_iter().enumerate() {
        let job = id(&format!("job-{number}"))?;
        let known = Fingerprint::new(first.clone())?;
        let begun = repos.leases.begin(&job, &ada, LONG, Some(&known)).await?;
        ensure_matches!(begun, Begun::Started(_), "the begin with {first:?}");
        for other in nasty_texts().into_iter().filter(|other| *other != first) {
            let asked = Fingerprint::new(other.clone())?;
            let begun = repos.leases.begin(&job, &bob, LONG, Some(&asked)).await?;
            ensure_eq!(begun, Begun::Mismatch, "a begin with {other:?} after {first:?}");
        }
        let same = repos.leases.begin(&job, &bob, LONG, Some(&known)).await?;
        ensure_matches!(same, Begun::InFlight { .. }, "a begin with {first:?} again");
    }
    Ok(())
}

fn payloads() -> Result<Vec<Payload>> {
    let every_byte: Vec<u8> = (0..=255).collect();
    let longest: Vec<u8> = every_byte.iter().copied().cycle().take(MAX_PAYLOAD_BYTES).collect();
    let odd: [&[u8]; 7] = [b"", b"\0", b" a ", b"a\n", &[0xff, 0xfe, 0x00, 0x80], b"null", "\u{e9}".as_bytes()];
    odd.into_iter().map(<[u8]>::to_vec).chain([every_byte, longest]).map(Payload::new).collect()
}

pub(super) async fn values_come_back_byte_for_byte(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob) = (op("ada")?, op("bob")?);
    for (number, value) in payloads()?.into_iter().enumerate() {
        let what = format!("the value of {} bytes", value.as_bytes().len());
        let order = id(&format!("order-{number}"))?;
        let recorded = repos.records.record(&order, &value, &ada, FOREVER).await?;
        let version = ensure_matches!(recorded, Recorded::New(version) => version, "recording {what}");
        let entry = Entry { value: value.clone(), version };
        ensure_eq!(repos.entry(&order).await?, entry, "{what}, read");
        let other = repos.records.record(&order, &text("x")?, &bob, FOREVER).await?;
        ensure_eq!(other, Recorded::Existing(entry), "{what}, seen by another");
        let job = id(&format!("job-{number}"))?;
        let lease = repos.begin_new(&job, &ada, LONG).await?;
        let completed = repos.leases.complete(&lease, &value, FOREVER).await?;
        let done = ensure_matches!(completed, Completed::Completed(entry) => entry, "completing with {what}");
        ensure_eq!(done.value, value, "{what}, as completed");
        ensure_eq!(repos.leases.begin(&job, &bob, LONG, None).await?, Begun::Done(done), "{what}, begun");
        let replaced = repos.records.replace(&order, version, &text("between")?, &bob).await?;
        let between = ensure_matches!(replaced, Replaced::Replaced(version) => version, "replacing {what}");
        let _ = repos.records.replace(&order, between, &value, &bob).await?;
        ensure_eq!(repos.entry(&order).await?.value, value, "{what}, put by a replace");
    }
    Ok(())
}

fn bad_durations() -> [Duration; 4] {
    let (hair, year) = (Duration::from_nanos(1), Duration::from_secs(365 * 24 * 3_600));
    [Duration::ZERO, MIN_DURATION - hair, MAX_DURATION + hair, year * 10_000]
}

fn ensure_refused<T: std::fmt::Debug>(answer: Result<T>, what: &str) -> Verdict {
    let is_refusal = |error: &Error| error.kind() == ErrorKind::InvalidInput;
    ensure_matches!(answer, Err(error) if is_refusal(&error), "{what}");
    Ok(())
}

pub(super) async fn retentions_have_limits(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada) = (id("order")?, op("ada")?);
    let lease = repos.begin_new(&id("job")?, &ada, LONG).await?;
    for bad in bad_durations() {
        let retention = Retention::For(bad);
        let recorded = repos.records.record(&order, &text("x")?, &ada, retention).await;
        ensure_refused(recorded, &format!("recording for {bad:?}"))?;
        let completed = repos.leases.complete(&lease, &text("x")?, retention).await;
        ensure_refused(completed, &format!("completing for {bad:?}"))?;
    }
    repos.ensure_value(&order, None).await?;
    repos.ensure_value(&lease.id, None).await?;
    repos.record_new(&order, "value", &ada, Retention::For(MAX_DURATION)).await?;
    let _ = repos.leases.complete(&lease, &text("result")?, Retention::For(MAX_DURATION)).await?;
    repos.record_new(&id("blink")?, "value", &ada, Retention::For(MIN_DURATION)).await?;
    world.pass(world.short()).await;
    repos.ensure_value(&id("blink")?, None).await?;
    repos.ensure_value(&lease.id, Some("result")).await?;
    repos.ensure_value(&order, Some("value")).await
}

pub(super) async fn leases_have_limits(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob, short) = (id("job")?, op("ada")?, op("bob")?, world.short());
    for bad in bad_durations() {
        let begun = repos.leases.begin(&job, &ada, bad, None).await;
        ensure_refused(begun, &format!("beginning for {bad:?}"))?;
    }
    let lease = repos.begin_new(&job, &bob, short).await?;
    for bad in bad_durations() {
        ensure_refused(repos.leases.extend(&lease, bad).await, &format!("extending by {bad:?}"))?;
    }
    world.pass(short).await;
    let lease = repos.begin_new(&job, &ada, MAX_DURATION).await?;
    let _ = repos.leases.extend(&lease, MAX_DURATION).await?;
    let _ = repos.leases.extend(&lease, MIN_DURATION).await?;
    world.pass(short).await;
    let begun = repos.leases.begin(&job, &bob, LONG, None).await?;
    ensure_matches!(begun, Begun::InFlight { remaining } if remaining <= MAX_DURATION, "what is left of the longest");
    repos.begin_new(&id("blink")?, &ada, MIN_DURATION).await?;
    world.pass(short).await;
    repos.begin_new(&id("blink")?, &bob, LONG).await?;
    Ok(())
}

pub(super) async fn a_listing_refuses_what_it_cannot_read(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    repos.record_new(&id("order")?, "value", &op("ada")?, FOREVER).await?;
    ensure_refused(repos.records.list(None, 0).await, "a listing by 0")?;
    let cursor = Cursor::new("no cursor of any namespace \u{1f9c0}");
    ensure_refused(repos.records.list(Some(&cursor), 10).await, "a listing from a cursor that no listing returned")?;
    let page = repos.records.list(None, usize::MAX).await?;
    ensure_eq!(page.entries.len(), 1, "records listed without a limit");
    Ok(())
}
