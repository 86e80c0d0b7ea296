//! V-3: payloads come back byte for byte, up to 256 KiB.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Commit, Committed, Completed, DedupId, EntityChange, EntityLedger, ErrorKind, Joins, Key,
    MAX_PAYLOAD_BYTES, MessageId, OpId, OrderedOptions, OrderedStore, Payload, Recorded, Replaced, Result, Retention,
    Stamp, Version, Written,
};

use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

/// Returns payloads that are not text, and payloads with lengths around the limit.
fn payloads() -> Result<Vec<Payload>> {
    let every = || (0..=255_u8).cycle();
    let of_length = |length: usize| Payload::new(every().take(length).collect::<Vec<_>>());
    Ok(vec![
        Payload::default(),
        Payload::new(vec![0])?,
        Payload::new(vec![0xff, 0xfe, 0x00, 0xc3, 0x28])?,
        Payload::try_from("é' \\ \" \u{202e} {\"a\": null}\r\n ")?,
        of_length(256)?,
        of_length(65_537)?,
        of_length(MAX_PAYLOAD_BYTES - 1)?,
        of_length(MAX_PAYLOAD_BYTES)?,
    ])
}

pub(super) async fn a_payload_has_up_to_256_kib(_: &World) -> Verdict {
    ensure_eq!(MAX_PAYLOAD_BYTES, 256 * 1024, "the limit");
    for length in [0, MAX_PAYLOAD_BYTES - 1, MAX_PAYLOAD_BYTES] {
        ensure_eq!(Payload::new(vec![7; length])?.as_bytes().len(), length, "its length");
    }
    let secret = b"secret".repeat(MAX_PAYLOAD_BYTES / 6 + 1);
    let length = secret.len();
    let error = ensure_matches!(Payload::new(secret), Err(error) => error, "a payload of {length} bytes");
    ensure_eq!(error.kind(), ErrorKind::TooLarge, "the kind of {error}");
    let context: Vec<_> = error.context().map(|(key, value)| format!("{key} {value}")).collect();
    let expected = ["field payload".to_owned(), format!("limit {MAX_PAYLOAD_BYTES}"), format!("bytes {length}")];
    ensure_eq!(context, expected, "the facts of the error");
    ensure!(!format!("{error} {error:?}").contains("secret"), "the error shows the payload");
    let exceeded = Payload::new(vec![7; MAX_PAYLOAD_BYTES + 1]);
    ensure_matches!(exceeded, Err(error) if error.kind() == ErrorKind::TooLarge, "one byte over the limit");
    Ok(())
}

pub(super) async fn recorded_bytes_come_back(world: &World) -> Verdict {
    let (records, op) = (world.dedup()?, OpId::new("op")?);
    for (number, payload) in payloads()?.into_iter().enumerate() {
        let id = DedupId::new(format!("id-{number}"))?;
        let recorded = records.record(&id, &payload, &op, Retention::Forever).await?;
        ensure_matches!(recorded, Recorded::New(_), "recording {payload:?}");
        let again = records.record(&id, &Payload::default(), &op, Retention::Forever).await?;
        ensure_matches!(again, Recorded::Again(entry) if entry.value == payload, "its retry");
        let other = OpId::new("other")?;
        let existing = records.record(&id, &Payload::default(), &other, Retention::Forever).await?;
        ensure_matches!(existing, Recorded::Existing(entry) if entry.value == payload, "another's record");
        let found = world.client().await?.dedup_repo(&"records".parse()?)?.get(&id).await?;
        ensure_matches!(found, Some(entry) if entry.value == payload, "what another client reads");
    }
    ensure_eq!(records.list(None, 100).await?.entries.len(), payloads()?.len(), "records listed");
    Ok(())
}

pub(super) async fn replaced_bytes_come_back(world: &World) -> Verdict {
    let (records, id) = (world.dedup()?, DedupId::new("id")?);
    let first = records.record(&id, &Payload::try_from("first")?, &OpId::new("op")?, Retention::Forever).await?;
    let mut version: Version = ensure_matches!(first, Recorded::New(version) => version, "recording");
    for (number, payload) in payloads()?.into_iter().enumerate() {
        let op = OpId::new(format!("op-{number}"))?;
        let replaced = records.replace(&id, version, &payload, &op).await?;
        let next = ensure_matches!(replaced, Replaced::Replaced(next) => next, "replacing with {payload:?}");
        let stale = records.replace(&id, version, &Payload::default(), &OpId::new("late")?).await?;
        ensure_matches!(stale, Replaced::Stale(Some(entry)) if entry.value == payload, "a late replace");
        ensure_matches!(records.get(&id).await?, Some(entry) if entry.value == payload, "what is read");
        version = next;
    }
    Ok(())
}

pub(super) async fn completed_bytes_come_back(world: &World) -> Verdict {
    let (leases, op, long) = (world.leases()?, OpId::new("op")?, Duration::from_secs(3_600));
    for (number, payload) in payloads()?.into_iter().enumerate() {
        let id = DedupId::new(format!("id-{number}"))?;
        let begun = leases.begin(&id, &op, long, None).await?;
        let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
        let completed = leases.complete(&lease, &payload, Retention::Forever).await?;
        ensure_matches!(completed, Completed::Completed(entry) if entry.value == payload, "completing");
        let again = leases.complete(&lease, &Payload::default(), Retention::Forever).await?;
        ensure_matches!(again, Completed::Again(entry) if entry.value == payload, "completing again");
        let done = leases.begin(&id, &OpId::new("other")?, long, None).await?;
        ensure_matches!(done, Begun::Done(entry) if entry.value == payload, "beginning after it");
    }
    Ok(())
}

/// The bytes of a state and of an entry come back as they were committed.
pub(super) async fn committed_bytes_come_back(world: &World) -> Verdict {
    let entities = world.entities(&Joins::default())?;
    for (number, payload) in payloads()?.into_iter().enumerate() {
        let (key, message) = (Key::new("entity")?, MessageId::new(format!("message-{number}"))?);
        let commit = Commit {
            key: key.clone(),
            message: message.clone(),
            opened: entities.open(&key, &message, None).await?.version,
            change: EntityChange::Put(payload.clone()),
            attempt: OpId::new(format!("op-{number}"))?,
            entry: Some(payload.clone()),
            consume: None,
            create: vec![],
        };
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "committing {payload:?}");
        let opened = entities.open(&key, &message, None).await?;
        ensure_eq!(opened.state.as_ref(), Some(&payload), "the state");
        ensure_eq!(opened.entry.map(|entry| entry.content), Some(payload), "the entry");
    }
    Ok(())
}

pub(super) async fn ordered_bytes_come_back(world: &World) -> Verdict {
    let ordered = world.ordered(OrderedOptions::sequence())?;
    for (number, payload) in payloads()?.into_iter().enumerate() {
        let key = Key::new(format!("key-{number}"))?;
        let put = ordered.put(&key, &payload, &Stamp::new(1, "writer".parse()?)).await?;
        ensure_eq!(put, Written::Applied, "putting {payload:?}");
        let again = ordered.put(&key, &payload, &Stamp::new(1, "writer".parse()?)).await?;
        ensure_eq!(again, Written::Duplicate, "putting {payload:?} again");
        ensure_matches!(ordered.get(&key).await?, Some(found) if found.value == payload, "what is read");
    }
    let listed = ordered.list(None, None, 100).await?;
    let longest = listed.entries.iter().map(|entry| entry.versioned.value.as_bytes().len()).max();
    ensure_eq!(longest, Some(MAX_PAYLOAD_BYTES), "the longest value listed");
    Ok(())
}
