//! S-8: another process of the suite's own program, which is killed after each call or works concurrently.

use std::sync::Arc;

use storagebox_core::Backend;

use super::steps::Step;
use super::{numbers, race, storm};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::harness::Restart;
use crate::neighbour::Neighbour;
use crate::part::Part;
use crate::world::World;

pub(super) async fn a_killed_process_has_made_what_it_was_told_of_a_bank(world: &World) -> Verdict {
    process_killed(world, Part::ItemBank).await
}

pub(super) async fn a_killed_process_has_made_what_it_was_told_of_records(world: &World) -> Verdict {
    process_killed(world, Part::Dedup).await
}

pub(super) async fn a_killed_process_has_made_what_it_was_told_of_tokens(world: &World) -> Verdict {
    process_killed(world, Part::Tokens).await
}

pub(super) async fn a_killed_process_has_made_what_it_was_told_of_counters(world: &World) -> Verdict {
    process_killed(world, Part::Counter).await
}

pub(super) async fn a_killed_process_has_made_what_it_was_told_of_values(world: &World) -> Verdict {
    process_killed(world, Part::Ordered).await
}

pub(super) async fn a_killed_process_has_made_what_it_was_told_of_entities(world: &World) -> Verdict {
    process_killed(world, Part::Entities).await
}

pub(super) async fn a_killed_server_has_made_what_it_said_of_a_bank(world: &World) -> Verdict {
    server_killed(world, Part::ItemBank).await
}

pub(super) async fn a_killed_server_has_made_what_it_said_of_records(world: &World) -> Verdict {
    server_killed(world, Part::Dedup).await
}

pub(super) async fn a_killed_server_has_made_what_it_said_of_tokens(world: &World) -> Verdict {
    server_killed(world, Part::Tokens).await
}

pub(super) async fn a_killed_server_has_made_what_it_said_of_counters(world: &World) -> Verdict {
    server_killed(world, Part::Counter).await
}

pub(super) async fn a_killed_server_has_made_what_it_said_of_values(world: &World) -> Verdict {
    server_killed(world, Part::Ordered).await
}

pub(super) async fn a_killed_server_has_made_what_it_said_of_entities(world: &World) -> Verdict {
    server_killed(world, Part::Entities).await
}

pub(super) async fn a_process_that_is_killed_in_the_middle_leaves_a_whole_bank(world: &World) -> Verdict {
    world.store().close().await?;
    let told = another(world).await?.killed_in_a_storm(20).await?;
    storm::judge(world, &told).await
}

pub(super) async fn a_process_sees_at_once_what_another_does(world: &World) -> Verdict {
    for part in Part::STORED {
        beside(world, *part).await?;
    }
    Ok(())
}

pub(super) async fn a_process_sees_at_once_what_another_does_to_entities(world: &World) -> Verdict {
    beside(world, Part::Entities).await
}

pub(super) async fn no_process_repeats_a_fence_or_a_version(world: &World) -> Verdict {
    never_repeated(world, "fence").await?;
    never_repeated(world, "version").await
}

pub(super) async fn no_process_repeats_a_version_of_an_entity(world: &World) -> Verdict {
    never_repeated(world, "entity").await
}

pub(super) async fn what_two_processes_race_for_is_won_once(world: &World) -> Verdict {
    race::prepare(&**world.store()).await?;
    let mut other = another(world).await?;
    let (here, there) = tokio::join!(race::run(&**world.store(), "here"), other.race("there"));
    race::judge(&**world.store(), [here?, there?].concat()).await
}

/// Checks that a call that was acknowledged to a process is stored, even if the process is killed directly afterwards.
async fn process_killed(world: &World, part: Part) -> Verdict {
    // This process closes the store meanwhile, because some stores can be open in only one process at a time.
    world.store().close().await?;
    for step in Step::all_of(part) {
        prepare(world, step).await?;
        let mut other = another(world).await?;
        other.make(step).await?;
        other.kill().await?;
        ensure_made(world, step, "by a process that was killed then").await?;
    }
    Ok(())
}

async fn server_killed(world: &World, part: Part) -> Verdict {
    for step in Step::all_of(part) {
        step.prepare(&**world.store()).await?;
        step.make(&**world.store()).await?;
        world.restart(Restart::Kill).await?;
        ensure_made(world, step, "before the server was killed").await?;
    }
    Ok(())
}

async fn prepare(world: &World, step: Step) -> Verdict {
    let store = world.client().await?;
    step.prepare(&*store).await?;
    ensure_unmade(&store, step).await?;
    Ok(store.close().await?)
}

async fn ensure_made(world: &World, step: Step, when: &str) -> Verdict {
    let store = world.client().await?;
    ensure!(step.is_made(&*store).await?, "what `{}` did is lost: it was acknowledged {when}", step.name());
    Ok(store.close().await?)
}

/// Checks that the step has no effect yet.
async fn ensure_unmade(store: &Arc<dyn Backend>, step: Step) -> Verdict {
    let unmade = !step.asks_only() || !step.is_made(&**store).await?;
    ensure!(unmade, "`{}` is seen before it was made", step.name());
    Ok(())
}

/// Checks that each of two processes sees the other's calls at once, even if it has read an older state before.
async fn beside(world: &World, part: Part) -> Verdict {
    let (store, mut other) = (world.store(), another(world).await?);
    for (number, step) in Step::all_of(part).enumerate() {
        step.prepare(&**store).await?;
        ensure_unmade(store, step).await?;
        let unmade = !step.asks_only() || !other.is_made(step).await?;
        ensure!(unmade, "another process sees `{}` before it was made", step.name());
        let seen = match number % 2 {
            0 => {
                step.make(&**store).await?;
                other.is_made(step).await?
            }
            _ => {
                other.make(step).await?;
                step.is_made(&**store).await?
            }
        };
        ensure!(seen, "one process made `{}`, and another one does not see it", step.name());
    }
    Ok(())
}

/// Checks that the numbers of this kind (fence or version) grow from process to process, even if a process closes its
/// client or is killed.
async fn never_repeated(world: &World, of: &str) -> Verdict {
    world.store().close().await?;
    let mut given = vec![];
    for _ in 0..3 {
        let store = world.client().await?;
        given.push(numbers::next(&*store, of).await?);
        store.close().await?;
        let mut other = another(world).await?;
        given.push(other.number(of).await?);
        given.push(other.number(of).await?);
        other.kill().await?;
    }
    let mut grown = given.clone();
    grown.sort_unstable();
    grown.dedup();
    ensure_eq!(given, grown, "the {of}s that processes were given in turn");
    Ok(())
}

async fn another(world: &World) -> Result<Neighbour, Failure> {
    let address = world.sandbox().address();
    let missing = || Failure::new("a sandbox must have an `address` if its harness declares processes");
    Neighbour::start(&address.ok_or_else(missing)?).await
}
