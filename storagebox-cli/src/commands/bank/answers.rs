//! The outcomes of a bank as answers with exit codes.

use storagebox::bank::{ClaimState, Counts, End, Extended, HoldState, ItemState, Retired};
use storagebox::values::Item;
use storagebox::{Confirmed, Held, Released, Taken};

use crate::answer::{Answer, Field};
use crate::cli::{OfClaim, OfNamespace};
use crate::exit::Exit;

pub(super) fn taken(of: &OfClaim, taken: &Taken) -> Answer {
    match taken {
        Taken::New(item) => held(outcome(of, Exit::Done, "new"), item),
        Taken::Again(item) => held(outcome(of, Exit::Done, "again"), item),
        Taken::Empty => outcome(of, Exit::Nothing, "empty"),
        Taken::Ended(why) => ended(of, *why),
    }
}

pub(super) fn extended(of: &OfClaim, extended: &Extended) -> Answer {
    match extended {
        Extended::Extended(item) => held(outcome(of, Exit::Done, "extended"), item),
        Extended::Confirmed(item) => held(outcome(of, Exit::Nothing, "confirmed"), item),
        Extended::Ended(why) => ended(of, *why),
        Extended::Unknown => outcome(of, Exit::Nothing, "unknown"),
    }
}

pub(super) fn confirmed(of: &OfClaim, confirmed: &Confirmed) -> Answer {
    match confirmed {
        Confirmed::Confirmed(item) => outcome(of, Exit::Done, "confirmed").text("item", item),
        Confirmed::Ended(why) => ended(of, *why),
        Confirmed::Unknown => outcome(of, Exit::Nothing, "unknown"),
    }
}

pub(super) fn released(of: &OfClaim, released: Released) -> Answer {
    match released {
        Released::Released => outcome(of, Exit::Done, "released"),
        Released::Expired => ended(of, End::Expired),
        Released::Confirmed => outcome(of, Exit::Nothing, "confirmed"),
    }
}

pub(super) fn retired(of: &OfClaim, retired: Retired) -> Answer {
    match retired {
        Retired::Retired => outcome(of, Exit::Done, "retired"),
        Retired::Holding => outcome(of, Exit::Nothing, "holding"),
        Retired::Unknown => outcome(of, Exit::Nothing, "unknown"),
    }
}

pub(super) fn shown(of: &OfClaim, state: &ClaimState) -> Answer {
    match state {
        ClaimState::Held(item) => held(outcome(of, Exit::Done, "held"), item),
        ClaimState::Ended(why) => ended(of, *why),
        ClaimState::Unknown => outcome(of, Exit::Nothing, "unknown"),
    }
}

pub(super) fn found(of: &OfNamespace, item: &Item, state: &ItemState) -> Answer {
    let exit = if *state == ItemState::Unknown { Exit::Nothing } else { Exit::Done };
    let answer = Answer::new(exit).text("namespace", &of.name).text("item", item).word("state", name(state));
    match claim(state) {
        Some(claim) => answer.text("id", claim),
        None => answer,
    }
}

pub(super) fn counted(of: &OfNamespace, counts: &Counts) -> Answer {
    figures(Answer::new(Exit::Done).text("namespace", &of.name), counts)
}

/// Adds the counts of the four states and their sum to the answer.
pub(super) fn figures(answer: Answer, counts: &Counts) -> Answer {
    let Counts { free, held, spent, withdrawn } = *counts;
    let states = answer.figure("free", free).figure("held", held);
    states.figure("spent", spent).figure("withdrawn", withdrawn).figure("total", counts.total())
}

pub(super) fn name(state: &ItemState) -> &'static str {
    match state {
        ItemState::Unknown => "unknown",
        ItemState::Free => "free",
        ItemState::Held(_) => "held",
        ItemState::Spent(_) => "spent",
        ItemState::Withdrawn => "withdrawn",
    }
}

pub(super) fn claim(state: &ItemState) -> Option<&str> {
    match state {
        ItemState::Held(claim) | ItemState::Spent(Some(claim)) => Some(claim.as_str()),
        ItemState::Unknown | ItemState::Free | ItemState::Spent(None) | ItemState::Withdrawn => None,
    }
}

fn outcome(of: &OfClaim, exit: Exit, outcome: &'static str) -> Answer {
    Answer::new(exit).text("namespace", &of.of.name).text("id", &of.id).word("outcome", outcome)
}

fn ended(of: &OfClaim, why: End) -> Answer {
    let why = match why {
        End::Released => "released",
        End::Expired => "expired",
    };
    outcome(of, Exit::Nothing, "ended").word("why", why)
}

fn held(answer: Answer, held: &Held) -> Answer {
    let answer = answer.text("item", &held.item);
    match held.hold {
        HoldState::Forever => answer.word("hold", "forever"),
        HoldState::Confirmed => answer.word("hold", "confirmed"),
        HoldState::Remaining(remaining) => answer.word("hold", "timed").with("remaining", Field::Lasts(remaining)),
    }
}
