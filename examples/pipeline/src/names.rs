//! What things are called in the store and at the broker.

use crate::stage::Stage;

/// Where a message goes that asks the bank to book a payment.
pub(crate) const BANK: &str = "bank";
/// Where a message goes that asks the carrier to fetch a parcel.
pub(crate) const CARRIER: &str = "carrier";

/// The names of a run, which no other run has.
#[derive(Clone, Debug)]
pub(crate) struct Names(String);

impl Names {
    /// The name of a run is part of all others.
    pub(crate) fn new(run: &str) -> Self {
        Self(run.to_owned())
    }

    /// The queue of a stage.
    pub(crate) fn queue(&self, stage: Stage) -> String {
        self.of(stage.name())
    }

    /// The entities of a stage.
    pub(crate) fn entities(&self, stage: Stage) -> String {
        self.of(stage.name())
    }

    /// The tokens of all messages.
    pub(crate) fn tokens(&self) -> String {
        self.of("tokens")
    }

    /// An operation of the program that starts messages.
    pub(crate) fn of(&self, name: &str) -> String {
        format!("{}-{name}", self.0)
    }
}
