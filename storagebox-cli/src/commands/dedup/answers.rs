//! The outcomes of records as answers with exit codes.

use storagebox::dedup::{Entry, Forgotten, Replaced, Version};
use storagebox::{Payload, Recorded};

use super::run::Ended;
use crate::answer::{Answer, Field};
use crate::cli::OfRecord;
use crate::exit::Exit;

pub(super) fn recorded(of: &OfRecord, value: &Payload, recorded: &Recorded) -> Answer {
    match recorded {
        Recorded::New(at) => version(outcome(of, Exit::Done, "new"), *at).bytes("value", value.as_bytes()),
        Recorded::Again(entry) => shown(outcome(of, Exit::Done, "again"), entry),
        Recorded::Existing(entry) => shown(outcome(of, Exit::Nothing, "existing"), entry),
        Recorded::InFlight { remaining } => {
            outcome(of, Exit::Nothing, "in_flight").with("remaining", Field::Lasts(*remaining))
        }
        Recorded::Fenced => outcome(of, Exit::Nothing, "fenced"),
    }
}

pub(super) fn replaced(of: &OfRecord, replaced: &Replaced) -> Answer {
    match replaced {
        Replaced::Replaced(at) => version(outcome(of, Exit::Done, "replaced"), *at),
        Replaced::Again(at) => version(outcome(of, Exit::Done, "again"), *at),
        Replaced::Stale(Some(entry)) => shown(outcome(of, Exit::Nothing, "stale"), entry),
        Replaced::Stale(None) => outcome(of, Exit::Nothing, "absent"),
    }
}

pub(super) fn got(of: &OfRecord, entry: Option<&Entry>) -> Answer {
    match entry {
        Some(entry) => shown(outcome(of, Exit::Done, "recorded"), entry),
        None => outcome(of, Exit::Nothing, "absent"),
    }
}

pub(super) fn forgotten(of: &OfRecord, forgotten: &Forgotten) -> Answer {
    match forgotten {
        Forgotten::Forgotten => outcome(of, Exit::Done, "forgotten"),
        Forgotten::Absent => outcome(of, Exit::Nothing, "absent"),
        Forgotten::Stale(entry) => version(outcome(of, Exit::Nothing, "stale"), entry.version),
    }
}

pub(in crate::commands) fn outcome(of: &OfRecord, exit: Exit, outcome: &'static str) -> Answer {
    Answer::new(exit).text("namespace", &of.of.name).text("id", &of.id).word("outcome", outcome)
}

fn version(answer: Answer, version: Version) -> Answer {
    answer.figure("version", version.number())
}

/// Adds the recorded output of a run, or else the recorded value, to the answer.
pub(in crate::commands) fn shown(answer: Answer, entry: &Entry) -> Answer {
    let answer = version(answer, entry.version);
    match Ended::recorded_in(&entry.value) {
        Some(ended) => ended.shown(answer),
        None => answer.bytes("value", entry.value.as_bytes()),
    }
}
