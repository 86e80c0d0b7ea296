//! The first value for an id wins, and every caller sees it: D-1 to D-3.

use storagebox_core::{DedupRepo, Entry, Recorded, Replaced, Retention};

use crate::dedup::{Repos, id, op, text};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

const FOREVER: Retention = Retention::Forever;

pub(in crate::dedup) async fn the_first_record_wins(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, bob) = (id("order")?, op("ada")?, op("bob")?);
    repos.ensure_value(&order, None).await?;
    let version = repos.record_new(&order, "first", &ada, FOREVER).await?;
    let first = Entry { value: text("first")?, version };
    for value in ["second", "first", ""] {
        let existing = repos.records.record(&order, &text(value)?, &bob, FOREVER).await?;
        ensure_eq!(existing, Recorded::Existing(first.clone()), "another's record of {value:?}");
    }
    ensure_eq!(repos.entry(&order).await?, first, "the record after others' calls");
    repos.record_new(&id("another")?, "second", &bob, FOREVER).await?;
    Ok(())
}

pub(in crate::dedup) async fn a_replaced_version_has_one_winner(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, bob) = (id("order")?, op("ada")?, op("bob")?);
    let first = repos.record_new(&order, "first", &ada, FOREVER).await?;
    let replaced = repos.records.replace(&order, first, &text("second")?, &bob).await?;
    let second = ensure_matches!(replaced, Replaced::Replaced(version) => version, "a replace of what is there");
    ensure!(second != first, "a replace left the version as it was");
    let now = Entry { value: text("second")?, version: second };
    let stale = repos.records.replace(&order, first, &text("third")?, &op("eve")?).await?;
    ensure_eq!(stale, Replaced::Stale(Some(now.clone())), "another's replace of the old version");
    ensure_eq!(repos.entry(&order).await?, now, "the record after both");
    let absent = repos.records.replace(&id("nothing")?, second, &text("third")?, &bob).await?;
    ensure_eq!(absent, Replaced::Stale(None), "a replace where nothing is");
    repos.ensure_value(&id("nothing")?, None).await
}

pub(in crate::dedup) async fn a_replace_is_known_by_its_op_and_version(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, bob) = (id("order")?, op("ada")?, op("bob")?);
    let first = repos.record_new(&order, "first", &ada, FOREVER).await?;
    let replaced = repos.records.replace(&order, first, &text("second")?, &bob).await?;
    let second = ensure_matches!(replaced, Replaced::Replaced(version) => version, "the first replace");
    for _ in 0..2 {
        let again = repos.records.replace(&order, first, &text("other")?, &bob).await?;
        ensure_eq!(again, Replaced::Again(second), "the same replace again");
    }
    repos.ensure_value(&order, Some("second")).await?;
    let replaced = repos.records.replace(&order, second, &text("third")?, &bob).await?;
    let third = ensure_matches!(replaced, Replaced::Replaced(version) => version, "the same op on a newer version");
    let late = repos.records.replace(&order, first, &text("second")?, &bob).await?;
    let now = Entry { value: text("third")?, version: third };
    ensure_eq!(late, Replaced::Stale(Some(now.clone())), "the first replace again, after a later one");
    ensure_eq!(repos.entry(&order).await?, now, "the record after all");
    Ok(())
}

pub(in crate::dedup) async fn another_client_sees_the_same_records(world: &World) -> Verdict {
    let [here, there] = Repos::pair(world).await?;
    let (order, ada, bob) = (id("order")?, op("ada")?, op("bob")?);
    let version = here.record_new(&order, "first", &ada, FOREVER).await?;
    let first = Entry { value: text("first")?, version };
    ensure_eq!(there.entry(&order).await?, first, "the record through another client");
    let existing = there.records.record(&order, &text("second")?, &bob, FOREVER).await?;
    ensure_eq!(existing, Recorded::Existing(first.clone()), "another's record through another client");
    let again = there.records.record(&order, &text("first")?, &ada, FOREVER).await?;
    ensure_eq!(again, Recorded::Again(first), "the winner's retry through another client");
    Ok(())
}

pub(in crate::dedup) async fn others_see_the_winners_value(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada) = (id("order")?, op("ada")?);
    let first = repos.record_new(&order, "first", &ada, FOREVER).await?;
    for number in 0..20 {
        let name = format!("other-{number}");
        repos.record_new(&id(&name)?, &name, &op(&name)?, FOREVER).await?;
        let other = repos.records.record(&order, &text(&name)?, &op(&name)?, FOREVER).await?;
        let seen = ensure_matches!(other, Recorded::Existing(entry) => entry, "another's record");
        ensure_eq!(seen, Entry { value: text("first")?, version: first }, "what the others see");
    }
    let _ = repos.records.replace(&order, first, &text("second")?, &op("eve")?).await?;
    let other = repos.records.record(&order, &text("third")?, &op("bob")?, FOREVER).await?;
    let seen = ensure_matches!(other, Recorded::Existing(entry) => entry, "another's record after a replace");
    ensure_eq!(seen, repos.entry(&order).await?, "what is seen after a replace");
    repos.ensure_value(&order, Some("second")).await
}

/// A retry of the op that made the record returns `Again`, even after many other operations.
pub(in crate::dedup) async fn the_winners_retry_is_again(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, bob) = (id("order")?, op("ada")?, op("bob")?);
    let version = repos.record_new(&order, "first", &ada, FOREVER).await?;
    let first = Entry { value: text("first")?, version };
    for number in 0..20 {
        let again = repos.records.record(&order, &text("other")?, &ada, FOREVER).await?;
        ensure_eq!(again, Recorded::Again(first.clone()), "the winner's retry {number}");
        let name = format!("other-{number}");
        repos.record_new(&id(&name)?, &name, &op(&name)?, FOREVER).await?;
        let _ = repos.records.record(&order, &text(&name)?, &op(&name)?, FOREVER).await?;
    }
    let other = repos.records.record(&order, &text("first")?, &bob, FOREVER).await?;
    ensure_eq!(other, Recorded::Existing(first), "another's record of the same value");
    let _ = repos.records.replace(&order, version, &text("second")?, &bob).await?;
    let again = repos.records.record(&order, &text("first")?, &ada, FOREVER).await?;
    ensure_eq!(again, Recorded::Again(repos.entry(&order).await?), "the winner's retry after a replace");
    repos.ensure_value(&order, Some("second")).await
}

pub(in crate::dedup) async fn an_op_is_scoped_by_its_id(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let ada = op("ada")?;
    for name in ["one", "two", "three"] {
        repos.record_new(&id(name)?, name, &ada, FOREVER).await?;
    }
    for name in ["one", "two", "three"] {
        let again = repos.records.record(&id(name)?, &text("other")?, &ada, FOREVER).await?;
        ensure_eq!(again, Recorded::Again(repos.entry(&id(name)?).await?), "the retry on {name}");
        repos.ensure_value(&id(name)?, Some(name)).await?;
    }
    let version = repos.entry(&id("one")?).await?.version;
    let _ = repos.records.forget(&id("one")?, version).await?;
    repos.record_new(&id("four")?, "four", &ada, FOREVER).await?;
    Ok(())
}
