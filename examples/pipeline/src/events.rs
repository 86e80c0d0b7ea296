//! What has happened in a run. Each process appends its events to a file, which outlives a process that is killed.

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
    /// What became of a copy of a message.
    pub(crate) fn of(stage: Stage, result: &Result<Outcome, ProcessError>) -> Self {
        match result {
            Ok(Outcome::Processed { .. } | Outcome::NoEffect) => Self::Processed(stage),
            Ok(Outcome::Resumed { .. }) => Self::Resumed(stage),
            Ok(Outcome::Duplicate { .. }) => Self::Duplicate(stage),
            // Workers park at the first refusal.
            Err(ProcessError::Handler(_) | ProcessError::NoToken) => Self::Parked(stage),
            Err(ProcessError::Store(_) | ProcessError::Dispatch(_)) => Self::Retried(stage),
        }
    }

    pub(crate) fn record(self, settings: &Settings) -> io::Result<()> {
        settings.append(FILE, &format!("{self:?}\n"))
    }
}

/// The events so far. A worker that is killed before it records what it did is missing, so that no check rests on the
/// events of messages: the books and the store are what counts.
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

    /// The events of messages.
    pub(crate) fn messages(&self) -> u32 {
        self.0.lines().filter(|line| line.ends_with(')')).count() as u32
    }

    pub(crate) fn kills(&self) -> u32 {
        self.count(Event::WorkerKilled) + self.count(Event::BrokerKilled)
    }
}
