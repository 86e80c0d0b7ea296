//! The events of a run. Each process appends its events to a file, which outlives a killed process.

use std::io;

use storagebox::Outcome;
use storagebox::messages::ProcessError;

use crate::pipeline::Settings;
use crate::stage::Stage;

const FILE: &str = "events.txt";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    OrderPlaced,
    WorkerKilled,
    BrokerKilled,
    Processed(Stage),
    Resumed(Stage),
    Duplicate(Stage),
    Parked(Stage),
    Retried(Stage),
}

impl Event {
    /// Returns the event for the result of one attempt to process a message.
    pub(crate) fn of(stage: Stage, result: &Result<Outcome, ProcessError>) -> Self {
        match result {
            Ok(Outcome::Processed { .. } | Outcome::NoEffect) => Self::Processed(stage),
            Ok(Outcome::Resumed { .. }) => Self::Resumed(stage),
            Ok(Outcome::Duplicate { .. }) => Self::Duplicate(stage),
            // A worker parks a message at its first refusal.
            Err(ProcessError::Handler(_) | ProcessError::NoToken) => Self::Parked(stage),
            Err(ProcessError::Store(_) | ProcessError::Dispatch(_)) => Self::Retried(stage),
        }
    }

    pub(crate) fn record(self, settings: &Settings) -> io::Result<()> {
        settings.append(FILE, &format!("{self:?}\n"))
    }
}

/// The recorded events of a run, one per line. If a worker is killed, an event may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Events(pub(crate) String);

impl Events {
    pub(crate) fn read(settings: &Settings) -> io::Result<Self> {
        match std::fs::read_to_string(settings.file(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            events => events.map(Self),
        }
    }

    pub(crate) fn count(&self, event: Event) -> u32 {
        let line = format!("{event:?}");
        self.0.lines().filter(|other| *other == line).count() as u32
    }

    /// Returns the number of events that are about messages.
    pub(crate) fn messages(&self) -> u32 {
        self.0.lines().filter(|line| line.ends_with(')')).count() as u32
    }

    pub(crate) fn kills(&self) -> u32 {
        self.count(Event::WorkerKilled) + self.count(Event::BrokerKilled)
    }
}
