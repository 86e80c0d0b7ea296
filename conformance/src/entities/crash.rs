//! A server that is killed and restarted.

use storagebox_core::{Commit, Committed, EntityChange, EntityLedger};

use super::{Messaged, choice, entities_of, op};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::harness::Restart;
use crate::world::World;

pub(super) async fn what_was_committed_survives_a_restart(world: &World) -> Verdict {
    let entities = super::split(world)?;
    let (chosen, removed, deleted) =
        (Messaged::new("a", "chosen")?, Messaged::new("b", "removed")?, Messaged::new("c", "deleted")?);
    for one in [&chosen, &removed] {
        let _ = entities.commit(&one.commit(&*entities).await?).await?;
    }
    let delete = Commit { change: EntityChange::Delete, ..deleted.commit(&*entities).await? };
    let _ = entities.commit(&delete).await?;
    let _ = entities.register(&chosen.entry()?, &op("second")?).await?;
    let answer = choice(entities.choose(&chosen.entry()?, &op("second")?).await?);
    ensure!(entities.remove(&removed.entry()?).await?, "an entry is not there");
    let all = [&chosen, &removed, &deleted];
    let mut expected = vec![];
    for one in all {
        expected.push(one.open(&*entities).await?);
    }
    for how in [Restart::Clean, Restart::Kill] {
        world.restart(how).await?;
        let entities = entities_of(&world.client().await?)?;
        for (one, expected) in all.iter().zip(&expected) {
            ensure_eq!(&one.open(&*entities).await?, expected, "{} after {how:?}", one.name());
        }
        let again = choice(entities.choose(&chosen.entry()?, &op("chosen")?).await?);
        ensure_eq!(again, answer, "the choice after {how:?}");
        ensure_eq!(entities.commit(&delete).await?, Committed::Committed, "a commit, once more, after {how:?}");
    }
    Ok(())
}
