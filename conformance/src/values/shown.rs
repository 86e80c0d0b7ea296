//! V-4: items may be worth money, so `Debug` does not print them.

use std::fmt::Debug;

use storagebox_core::{
    Added, Change, ClaimId, DedupId, Hold, Item, ItemBank, Key, ListedItem, OpId, OrderedOptions, OrderedStore,
    Payload, Reason, Recorded, Retention, Stamp, Taken,
};

use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

const SECRET: &str = "SAVE-10-é";

fn ensure_hidden(what: &str, value: &impl Debug) -> Verdict {
    for shown in [format!("{value:?}"), format!("{value:#?}")] {
        let bytes = format!("{:?}", SECRET.as_bytes());
        let inner = bytes.trim_matches(['[', ']']);
        ensure!(!shown.contains("SAVE") && !shown.contains(inner), "the Debug of {what} shows it: {shown}");
        ensure!(shown.contains(&SECRET.len().to_string()), "the Debug of {what} has no length: {shown}");
    }
    Ok(())
}

pub(super) async fn debug_shows_lengths_alone(_: &World) -> Verdict {
    let (item, payload) = (Item::new(SECRET)?, Payload::try_from(SECRET)?);
    ensure_hidden("an item", &item)?;
    ensure_hidden("a payload", &payload)?;
    let reason = Reason::new(SECRET)?;
    ensure_hidden("a reason", &reason)?;
    ensure_hidden("a change", &Change::new("op".try_into()?, 1).because(reason))?;
    ensure_hidden("items", &vec![item.clone()])?;
    let entry = ListedItem { item: item.clone(), state: storagebox_core::ItemState::Free };
    ensure_hidden("a listed item", &entry)?;
    ensure_eq!(item.as_str(), SECRET, "the item itself");
    ensure_eq!(payload.as_bytes(), SECRET.as_bytes(), "the payload itself");
    Ok(())
}

pub(super) async fn debug_of_answers_shows_lengths_alone(world: &World) -> Verdict {
    let bank = world.bank()?;
    let report = bank.add(&[Item::new(SECRET)?]).await?;
    ensure_eq!(report, Added { added: 1, already_present: 0 }, "adding");
    let claim = ClaimId::new("ada")?;
    let taken = bank.take(&claim, Hold::Forever).await?;
    ensure_matches!(taken, Taken::New(_), "a take");
    ensure_hidden("a take", &taken)?;
    ensure_hidden("a claim's state", &bank.get(&claim).await?)?;
    ensure_hidden("a page", &bank.list(None, 10).await?)?;
    ensure_hidden("a confirm", &bank.confirm(&claim).await?)?;

    let (records, id, value) = (world.dedup()?, DedupId::new("id")?, Payload::try_from(SECRET)?);
    let _ = records.record(&id, &value, &OpId::new("op")?, Retention::Forever).await?;
    let again = records.record(&id, &value, &OpId::new("op")?, Retention::Forever).await?;
    ensure_matches!(again, Recorded::Again(_), "the same record again");
    ensure_hidden("a record", &again)?;
    ensure_hidden("an entry", &records.get(&id).await?)?;

    let ordered = world.ordered(OrderedOptions::sequence())?;
    let _ = ordered.put(&"key".parse()?, &value, &Stamp::new(1, "writer".parse()?)).await?;
    ensure_hidden("an ordered value", &ordered.get(&Key::new("key")?).await?)?;
    ensure_hidden("a page of ordered values", &ordered.list(None, None, 10).await?)
}
