//! Shared code of several backends' harnesses.

use std::env;
use std::ops::Deref;
use std::process::ExitCode;

use storagebox_conformance::{Options, Profile, Restart, Selection};
use storagebox_core::{ClaimId, Item, ItemState, ListedItem, Result};
use tokio::runtime::Runtime;
use tokio::task::block_in_place;

use super::failed;
use crate::OwnServer;

/// The variable that sets how much of the suite runs in other set-ups.
const SET_UPS: &str = "STORAGEBOX_SET_UPS";

/// Creates what a test program needs of a server, runs the program with it, and removes it afterwards.
pub fn run_with<T: Clone>(
    make: impl AsyncFnOnce(&Runtime) -> Result<T>,
    run: impl FnOnce(&Runtime, T) -> Result<ExitCode>,
    remove: impl AsyncFnOnce(&T) -> Result<()>,
) -> ExitCode {
    let outcome = Runtime::new().map_err(failed).and_then(|runtime| {
        let made = runtime.block_on(make(&runtime))?;
        let outcome = run(&runtime, made.clone());
        runtime.block_on(remove(&made))?;
        outcome
    });
    outcome.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

/// Returns whether all of the suite runs in other set-ups.
pub fn everything() -> bool {
    env::var(SET_UPS).is_ok_and(|what| what == "everything")
}

/// Runs the suite in each variant of a set-up that runs everything: a part of the suite, or all of it if
/// `STORAGEBOX_SET_UPS` is `everything`.
pub fn in_other_set_ups<S>(
    set_ups: impl IntoIterator<Item = S>,
    mut run: impl FnMut(S, Options) -> ExitCode,
) -> ExitCode {
    let selection = if everything() { Selection::Everything } else { Selection::Smoke };
    let options = Options::new(Profile::SMOKE).selection(selection);
    // Runs all set-ups, even if some fail.
    let outcomes: Vec<_> = set_ups.into_iter().map(|set_up| run(set_up, options.clone())).collect();
    outcomes.into_iter().find(|outcome| *outcome != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
}

/// Ends the server of a case and restarts it. Fails if the case does not have its own server.
pub fn restart<S: Deref<Target = OwnServer>>(own: Option<&S>, how: Restart) -> Result<()> {
    let server = own.ok_or_else(|| failed("this server is not the case's own"))?;
    let end = match how {
        Restart::Clean => OwnServer::stop,
        Restart::Kill => OwnServer::kill,
    };
    block_in_place(|| end(server).and_then(|()| server.start_again())).map_err(failed)
}

/// Returns an item from a row of a table: from the name of its state, and the claim if there is one.
pub fn listed(item: String, state: &str, claim: Option<String>) -> Result<ListedItem> {
    let claim = claim.map(ClaimId::new).transpose()?;
    let state = match (state, claim) {
        ("free", _) => ItemState::Free,
        ("withdrawn", _) => ItemState::Withdrawn,
        ("spent", claim) => ItemState::Spent(claim),
        ("held", Some(claim)) => ItemState::Held(claim),
        (state, _) => return Err(failed(format_args!("an item is {state}"))),
    };
    Ok(ListedItem { item: Item::new(item)?, state })
}
