//! The report of a loop.

use std::sync::Arc;

use storagebox_core::{Error, Outcome, ProcessError};

use super::held::Settled;
use super::worker::Ended;
use crate::delivery::Settle;

/// The report of a call of [`consume`](super::consume), in numbers of copies.
///
/// A copy is counted by the decision about it. If its settlement failed, the copy is counted in `failed_settles` as
/// well, and comes again.
#[derive(Clone, Debug, Default)]
#[must_use = "the outcome has the error that ended the loop, if there was one"]
#[non_exhaustive]
pub struct Consumed {
    /// Copies that changed their entity.
    pub processed: u64,
    /// Copies of messages that were finished before, or whose token was lost.
    pub duplicates: u64,
    /// Copies that finished work that a crash had interrupted.
    pub resumed: u64,
    /// Copies for which the handler decided to do nothing.
    pub no_effect: u64,
    /// Copies that come again because a store, the handler or the dispatcher failed.
    pub retried: u64,
    /// Copies that were set aside.
    pub parked: u64,
    /// Copies that waited when the loop was stopped, and were given back.
    pub stopped: u64,
    /// Copies whose settlement failed.
    pub failed_settles: u64,
    /// Extensions of a lease that failed.
    pub failed_extensions: u64,
    /// Errors of the stream of deliveries.
    pub stream_errors: u64,
    /// The error that ended the loop, because no retry could have helped: an error of the stream, or a missing right to
    /// settle a message. `None` for a loop that ended with its stream or by
    /// [`ConsumeOptions::until`](super::ConsumeOptions::until).
    pub error: Option<Arc<Error>>,
}

impl Consumed {
    pub(super) fn count(&mut self, ended: &Ended) {
        let result = ended.processed.as_ref().map(|processed| &processed.result);
        *self.of(result, ended.settle) += 1;
        let Settled { result, failed_extensions } = &ended.settled;
        self.failed_settles += u64::from(result.is_err());
        self.failed_extensions += failed_extensions;
    }

    fn of(&mut self, result: Option<&Result<Outcome, ProcessError>>, settle: Settle) -> &mut u64 {
        match (result, settle) {
            (Some(Ok(Outcome::Processed { .. })), _) => &mut self.processed,
            (Some(Ok(Outcome::Duplicate { .. })), _) => &mut self.duplicates,
            (Some(Ok(Outcome::Resumed { .. })), _) => &mut self.resumed,
            (Some(Ok(Outcome::NoEffect)), _) => &mut self.no_effect,
            (_, Settle::Park) => &mut self.parked,
            (Some(Err(_)), _) => &mut self.retried,
            (None, _) => &mut self.stopped,
        }
    }
}
