//! The properties of every state.

use std::fmt;

use crate::model::{Event, Model};
use crate::protocol::{Call, Progress};
use crate::state::State;
use crate::stores::{BANKS, Bank, Holding, Id, Item, Record};

// In the longest run, the claim has ended and the next write is not applied. The call then gives up the other intent
// and its own intent, with four requests each.
/// The maximum number of requests of a call that runs alone.
const LONE_STEPS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    SameItem,
    NeverTwo,
    NothingLost,
    AnotherBank,
    TrueEmpty,
    CallsEnd,
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameItem => "A-1 the same id gets the same item of one bank",
            Self::NeverTwo => "A-2 never two items for an id, nor one item for two ids",
            Self::NothingLost => "A-3 a crash after any step loses nothing",
            Self::AnotherBank => "A-4 an id that met an empty bank may choose another",
            Self::TrueEmpty => "IB-4 `Empty` is returned only if the bank was empty during the call",
            Self::CallsEnd => "callers alone cannot keep each other busy for ever",
        })
    }
}

/// A broken property. `run` contains the events from the checked state to the violation.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) property: Property,
    pub(crate) finding: String,
    pub(crate) run: Vec<Event>,
}

impl Violation {
    fn after(self, run: Vec<Event>) -> Self {
        Self { run, ..self }
    }
}

/// Checks all properties of a state. If only one call is in progress, also runs the call to its end.
pub(crate) fn check(model: &Model, state: &State) -> Result<(), Violation> {
    state.ids().try_for_each(|id| answers_agree(state, id))?;
    state.ids().try_for_each(|id| assigned_item_is_held(state, id))?;
    items_are_conserved(state)?;
    given_up_banks_were_empty(state)?;
    let mut under_way = state.calls();
    match (under_way.next(), under_way.next()) {
        (None, _) => when_all_is_quiet(model, state),
        (Some((worker, call)), None) => run_alone(model, state, worker, call).map(drop),
        // Other calls may have crashed, so each state of the stores is also reached with one call in progress.
        _ => Ok(()),
    }
}

fn when_all_is_quiet(model: &Model, state: &State) -> Result<(), Violation> {
    for id in state.ids() {
        (0..BANKS as Bank).try_for_each(|bank| bank_that_has_items_gives_one(model, state, id, bank))?;
    }
    if state.in_flight.iter().any(Option::is_some) {
        return Ok(());
    }
    recovery_leaves_no_leak(model, state)
}

fn answers_agree(state: &State, id: Id) -> Result<(), Violation> {
    for item in state.answers[id.slot()].iter() {
        let record = state.stores.record(id);
        let agrees = matches!(record, Record::Assigned(_, _, assigned) if assigned == item);
        ensure(agrees, Property::SameItem, || format!("id {id} was answered item {item}, its record is {record}"))?;
    }
    Ok(())
}

/// Checks that the claim in the id's record holds the assigned item.
fn assigned_item_is_held(state: &State, id: Id) -> Result<(), Violation> {
    let Record::Assigned(_, claim, item) = state.stores.record(id) else {
        return Ok(());
    };
    let held = state.stores.holding(claim) == Holding::Held(item);
    ensure(held, Property::NeverTwo, || format!("item {item} of id {id} is not held by claim {claim}"))
}

fn items_are_conserved(state: &State) -> Result<(), Violation> {
    let mut found = state.stores.free;
    for item in held_items(state) {
        ensure(!found.contains(item), Property::NeverTwo, || format!("item {item} exists twice"))?;
        found.insert(item);
    }
    ensure(found == state.stores.added, Property::NothingLost, || "an item has vanished".to_owned())
}

/// Checks that no call gives up a bank that had items during the whole call.
fn given_up_banks_were_empty(state: &State) -> Result<(), Violation> {
    for (_, call) in state.calls() {
        ensure(call.wish.is_some() || !call.always_stocked, Property::TrueEmpty, || {
            format!("id {} is about to get `Empty` from a bank that always had items", call.id)
        })?;
    }
    Ok(())
}

fn held_items(state: &State) -> impl Iterator<Item = Item> {
    state.stores.claims.into_iter().filter_map(|holding| match holding {
        Holding::Held(item) => Some(item),
        Holding::Unknown | Holding::Ended => None,
    })
}

fn recovery_leaves_no_leak(model: &Model, state: &State) -> Result<(), Violation> {
    let (mut recovered, mut run) = (*state, Vec::new());
    for id in state.ids() {
        let done = run_alone(model, &recovered, 0, Call::recover(id))?;
        recovered = done.state;
        run.extend(done.run);
    }
    every_held_item_is_assigned(&recovered).map_err(|violation| violation.after(run))
}

fn every_held_item_is_assigned(state: &State) -> Result<(), Violation> {
    for item in held_items(state) {
        let assigned = |id| matches!(state.stores.record(id), Record::Assigned(_, _, assigned) if assigned == item);
        ensure(state.ids().any(assigned), Property::NothingLost, || format!("item {item} is held for no id"))?;
    }
    for id in state.ids() {
        let record = state.stores.record(id);
        let half_way = matches!(record, Record::Intent(..) | Record::GivingUp(..));
        ensure(!half_way, Property::NothingLost, || format!("the record of id {id} is still {record}"))?;
    }
    Ok(())
}

fn bank_that_has_items_gives_one(model: &Model, state: &State, id: Id, bank: Bank) -> Result<(), Violation> {
    let stocked = state.stores.free.of_bank(bank).len() > 0;
    let done = run_alone(model, state, 0, Call::assign(id, bank))?;
    ensure(!stocked || done.answer.is_some(), Property::AnotherBank, || {
        format!("id {id} got nothing, yet bank {bank} has items")
    })
    .map_err(|violation| violation.after(done.run))
}

struct Done {
    state: State,
    answer: Option<Item>,
    run: Vec<Event>,
}

/// Runs a call to its end without other events. Returns a violation if the call does not end.
fn run_alone(model: &Model, state: &State, worker: usize, call: Call) -> Result<Done, Violation> {
    let (mut state, mut call) = (*state, call);
    let (mut run, mut next) = (Vec::new(), Vec::new());
    while run.len() < LONE_STEPS {
        next.clear();
        model.steps(&state, worker, call, &mut next);
        let (event, after) = next[0];
        state = after;
        run.push(event);
        match event {
            Event::Step { progress: Progress::Next(following), .. } => call = following,
            Event::Step { progress: Progress::Answer(answer), .. } => return Ok(Done { state, answer, run }),
            other => unreachable!("{other:?} is not a step"),
        }
    }
    let finding = format!("id {} still has no answer after {LONE_STEPS} steps", call.id);
    Err(Violation { property: Property::AnotherBank, finding, run })
}

fn ensure(holds: bool, property: Property, finding: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation { property, finding: finding(), run: Vec::new() }) }
}
