//! The checks once all workers have ended: recovery finishes the rest, and a retry of each id gets a true answer.

use storagebox_core::{Assigned, Deduplicator};

use crate::answers::told;
use crate::properties::{Clause, Violation, check, check_recovered};
use crate::scenario::Plan;
use crate::stores::now;
use crate::worker::Numbered;
use crate::world::World;

/// What happens to the requests that are still in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InFlight {
    Dropped,
    LandsBeforeRecovery,
    LandsAfterRecovery,
    LandsAfterRetries,
}

impl InFlight {
    pub(crate) const EVERY: [Self; 4] =
        [Self::Dropped, Self::LandsBeforeRecovery, Self::LandsAfterRecovery, Self::LandsAfterRetries];
    /// The possible fates of the requests in flight after all workers stopped at once.
    pub(crate) const AFTER_A_POWER_CUT: [Self; 2] = [Self::Dropped, Self::LandsAfterRecovery];
}

/// Stops all workers, recovers the records, retries each id, and checks the properties after every step.
pub(crate) fn check_at_rest(world: &mut World, in_flight: InFlight) -> Result<(), Violation> {
    let dedup = ungated(world);
    world.stop();
    if in_flight == InFlight::LandsBeforeRecovery {
        land(world)?;
    }
    recover(&dedup, world)?;
    if in_flight == InFlight::LandsAfterRecovery {
        land(world)?;
        recover(&dedup, world)?;
    }
    retry_all(&dedup, world)?;
    if in_flight == InFlight::LandsAfterRetries {
        land(world)?;
        recover(&dedup, world)?;
    }
    Ok(())
}

fn ungated(world: &World) -> Deduplicator {
    let records = std::sync::Arc::clone(&world.stores.records);
    let dedup = Deduplicator::new(records).ids(Numbered::from("rest".to_owned()));
    world.stores.banks.iter().fold(dedup, |dedup, (name, bank)| {
        let bank = std::sync::Arc::clone(&bank.admin);
        dedup.bank(name, bank).expect("a bank")
    })
}

fn land(world: &mut World) -> Result<(), Violation> {
    world.land_all()?;
    check(&world.stores.seen(), &world.answers)
}

/// Recovers all records, one record per page.
fn recover(dedup: &Deduplicator, world: &mut World) -> Result<(), Violation> {
    let mut cursor = None;
    loop {
        let recovery = now(dedup.recover(cursor.as_ref(), 1));
        world.tell(|| format!("recovery: {recovery:?}"));
        assert!(recovery.failed.is_empty(), "{recovery:?}");
        cursor = recovery.next;
        if cursor.is_none() {
            break;
        }
    }
    let seen = world.stores.seen();
    check(&seen, &world.answers)?;
    check_recovered(&seen)
}

fn retry_all(dedup: &Deduplicator, world: &mut World) -> Result<(), Violation> {
    for plan in world.scenario.workers {
        if let Plan::Assign { id, banks } = plan {
            retry(dedup, world, id, banks)?;
        }
    }
    ends_well(world)
}

/// Repeats the assignment of an id, with each bank in turn until a bank has an item.
fn retry(
    dedup: &Deduplicator,
    world: &mut World,
    id: &'static str,
    banks: &'static [&'static str],
) -> Result<(), Violation> {
    for bank in banks {
        let assigned = now(dedup.assign(id, *bank));
        world.tell(|| format!("{id} tries {bank} again: {}", told(&assigned)));
        let name = (*bank).try_into().expect("a name");
        let has_free = !world.stores.is_empty(&name);
        world.answers.add(id, &assigned, has_free)?;
        check(&world.stores.seen(), &world.answers)?;
        if assigned != Assigned::Empty {
            break;
        }
    }
    check_recovered(&world.stores.seen())
}

/// checks that the first worker's id has an item of the expected bank, if the scenario names the bank.
fn ends_well(world: &World) -> Result<(), Violation> {
    let (Some(bank), Plan::Assign { id, .. }) = (world.scenario.ends_in, world.scenario.workers[0]) else {
        return Ok(());
    };
    match world.answers.given.get(id) {
        Some((from, _)) if from == bank => Ok(()),
        other => Violation::found(Clause::A4, format!("{id} has {other:?} and not the item of {bank}")),
    }
}
