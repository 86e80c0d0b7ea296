//! The workers and their messages.

#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) workers: &'static [Work],
    pub(crate) handler: Decides,
}

/// The tokens that change in the same step as the entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    Nothing,
    Incoming,
    Outgoing,
    Both,
}

impl Joined {
    pub(crate) const ALL: [Self; 4] = [Self::Nothing, Self::Incoming, Self::Outgoing, Self::Both];

    pub(crate) fn incoming(self) -> bool {
        matches!(self, Self::Incoming | Self::Both)
    }

    pub(crate) fn outgoing(self) -> bool {
        matches!(self, Self::Outgoing | Self::Both)
    }
}

/// The work of a worker, which repeats each call until the call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Process(&'static str),
    /// Finishes what another worker began for this message, without a copy of the message.
    Resume(&'static str),
    Abandon(&'static str),
}

/// What the handler decides for each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decides {
    /// Every message changes the entity and sends one message.
    Counts,
    /// Every message deletes the entity and sends one message.
    Deletes,
    /// Every message changes the entity and sends nothing.
    SendsNothing,
    /// Message `b` changes the entity and sends a message. Message `a` does the same if `b` has changed the entity
    /// before, and otherwise nothing.
    AfterTheOther,
}

impl Work {
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Process(message) | Self::Resume(message) | Self::Abandon(message) => message,
        }
    }
}

use Work::{Abandon, Process, Resume};

pub(crate) const SCENARIOS: [Scenario; 7] = [
    Scenario { name: "two copies", workers: &[Process("a"), Process("a")], handler: Decides::Counts },
    Scenario {
        name: "two copies, nothing sent",
        workers: &[Process("a"), Process("a")],
        handler: Decides::SendsNothing,
    },
    Scenario { name: "two copies, a deletion", workers: &[Process("a"), Process("a")], handler: Decides::Deletes },
    Scenario { name: "two messages", workers: &[Process("a"), Process("b")], handler: Decides::Counts },
    Scenario { name: "a sweeper", workers: &[Process("a"), Resume("a")], handler: Decides::Counts },
    Scenario { name: "one who gives up", workers: &[Process("a"), Abandon("a")], handler: Decides::Counts },
    Scenario {
        name: "two copies that decide by another message",
        workers: &[Process("a"), Process("a"), Process("b")],
        handler: Decides::AfterTheOther,
    },
];
