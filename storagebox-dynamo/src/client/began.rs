//! The moment of a call, for all its attempts.

use std::sync::OnceLock;

use super::Client;
use crate::clock::Millis;

/// The time up to which everything had lapsed by every clock when a call began.
///
/// All attempts of the call judge by it. So they judge a row alike, even if the machine slept between two of them: what
/// one attempt wrote has not lapsed for the next.
#[derive(Debug, Default)]
pub(crate) struct Began(OnceLock<Millis>);

impl Began {
    /// The call begins, unless it has: its namespace is open, so that an answer has corrected the clock.
    pub(crate) fn now(&self, client: &Client) {
        self.past(client);
    }

    /// As of the call's beginning, which this is if nothing was before.
    pub(crate) fn past(&self, client: &Client) -> Millis {
        *self.0.get_or_init(|| client.surely_past())
    }
}
