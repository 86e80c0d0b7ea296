//! Lost replies, requests that land late or twice.

use std::sync::Arc;

use storagebox_core::{Commit, Committed, EntityLedger, ErrorKind, Result};

use super::{Messaged, fresh_entry, op, payload, split};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::World;

const LOSSES: [Fate; 3] = [Fate::RequestLost, Fate::ReplyLost, Fate::Late];

/// Returns a client whose first call has the fault `fate`, and the link between the client and the ledger.
fn linked(entities: &Arc<dyn EntityLedger>, fate: Fate) -> (Arc<dyn EntityLedger>, Arc<Link>) {
    let link = Link::script([fate]);
    (link.before(entities), link)
}

fn ensure_lost<T: std::fmt::Debug>(answer: Result<T>) -> Verdict {
    ensure_matches!(answer, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a call whose reply is lost");
    Ok(())
}

pub(super) async fn a_commit_whose_reply_is_lost_is_repeated(world: &World) -> Verdict {
    let entities = split(world)?;
    for fate in LOSSES {
        let one = Messaged::new(&format!("{fate:?}"), "message")?;
        let (commit, (far, link)) = (one.commit(&*entities).await?, linked(&entities, fate));
        ensure_lost(far.commit(&commit).await)?;
        ensure_eq!(far.commit(&commit).await?, Committed::Committed, "the same commit after {fate:?}");
        let expected = one.open(&*entities).await?;
        ensure_eq!(expected.entry, fresh_entry(&commit), "its entry after {fate:?}");
        link.land().await;
        ensure_eq!(one.open(&*entities).await?, expected, "the entity once all has landed after {fate:?}");
    }
    Ok(())
}

/// After another message was committed, a commit that lands late or a second time changes nothing.
pub(super) async fn a_commit_that_lands_late_undoes_nothing(world: &World) -> Verdict {
    let entities = split(world)?;
    for fate in [Fate::Late, Fate::Twice] {
        for entity in ["new", "old"] {
            let name = format!("{entity}-{fate:?}");
            let (slow, quick) = (Messaged::new(&name, "slow")?, Messaged::new(&name, "quick")?);
            if entity == "old" {
                let _ = entities.commit(&Messaged::new(&name, "first")?.commit(&*entities).await?).await?;
            }
            let (far, link) = linked(&entities, fate);
            // Whether this call is answered does not matter. The case checks what lands afterwards.
            let _ = far.commit(&slow.commit(&*entities).await?).await;
            let committed = entities.commit(&quick.commit(&*entities).await?).await?;
            ensure_eq!(committed, Committed::Committed, "a commit before the late one lands");
            let expected = [slow.open(&*entities).await?, quick.open(&*entities).await?];
            link.land().await;
            let found = [slow.open(&*entities).await?, quick.open(&*entities).await?];
            ensure_eq!(found, expected, "the entity {name} after the late commit");
            ensure_eq!(found[0].state, Some(payload("quick")?), "its state");
        }
    }
    Ok(())
}

/// A late call about a removed entry does not change a later entry of the same message.
pub(super) async fn what_lands_late_spares_a_later_entry(world: &World) -> Verdict {
    for call in ["register", "choose", "remove"] {
        let (entities, one) = (split(world)?, Messaged::new(call, "message")?);
        let _ = entities.commit(&one.commit(&*entities).await?).await?;
        let (far, link) = linked(&entities, Fate::Late);
        match call {
            "register" => ensure_lost(far.register(&one.entry()?, &op("late")?).await)?,
            "choose" => ensure_lost(far.choose(&one.entry()?, &op("message")?).await)?,
            _ => ensure_lost(far.remove(&one.entry()?).await)?,
        }
        ensure!(entities.remove(&one.entry()?).await?, "the entry is not there");
        let again = Commit { attempt: op("again")?, ..one.commit(&*entities).await? };
        ensure_eq!(entities.commit(&again).await?, Committed::Committed, "the message, processed again");
        link.land().await;
        ensure_eq!(one.open(&*entities).await?.entry, fresh_entry(&again), "the later entry after a late {call}");
    }
    Ok(())
}
