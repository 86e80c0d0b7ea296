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

/// The environment variable that selects the cases in set-ups of a store other than the default. Only the value
/// `everything` selects more than the smoke cases.
const SET_UPS: &str = "STORAGEBOX_SET_UPS";

/// Creates the objects that a test program needs on a server, runs the program with them, and removes them afterwards.
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

/// Returns whether the whole suite runs in other set-ups.
pub fn everything() -> bool {
    env::var(SET_UPS).is_ok_and(|what| what == "everything")
}

/// Runs the suite in each of these set-ups: only the smoke cases, or all cases if `STORAGEBOX_SET_UPS` is `everything`.
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

/// Stops or kills the server of a test case, and starts it again. Fails if the test case does not have its own server.
pub fn restart<S: Deref<Target = OwnServer>>(own: Option<&S>, how: Restart) -> Result<()> {
    let server = own.ok_or_else(|| failed("the test case has no server of its own"))?;
    let end = match how {
        Restart::Clean => OwnServer::stop,
        Restart::Kill => OwnServer::kill,
    };
    block_in_place(|| end(server).and_then(|()| server.start_again())).map_err(failed)
}

/// Returns the item of a row, with the state of this name and with the claim, if the row has a claim.
pub fn listed(item: String, state: &str, claim: Option<String>) -> Result<ListedItem> {
    let claim = claim.map(ClaimId::new).transpose()?;
    let state = match (state, claim) {
        ("free", _) => ItemState::Free,
        ("withdrawn", _) => ItemState::Withdrawn,
        ("spent", claim) => ItemState::Spent(claim),
        ("held", Some(claim)) => ItemState::Held(claim),
        (state, _) => return Err(failed(format_args!("an item has the unexpected state {state}"))),
    };
    Ok(ListedItem { item: Item::new(item)?, state })
}
