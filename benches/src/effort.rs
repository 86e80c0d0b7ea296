//! What a server spends on a slice.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::error::Result;

/// What a server has spent since it was started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    /// Processor time of all its processes. `None` where the system does not tell.
    pub(crate) cpu: Option<Duration>,
    /// Bytes of its write-ahead log, if it has one.
    pub(crate) log: Option<u64>,
    /// Requests that were sent to it, if they are counted.
    pub(crate) requests: Option<u64>,
}

impl Effort {
    pub(crate) fn since(self, before: Self) -> Self {
        let count = |after: Option<u64>, before| after.zip(before).map(|(after, before)| after.saturating_sub(before));
        Self {
            cpu: self.cpu.zip(before.cpu).map(|(after, before)| after.saturating_sub(before)),
            log: count(self.log, before.log),
            requests: count(self.requests, before.requests),
        }
    }
}

/// A server that tells what it has spent.
pub(crate) trait Meter {
    fn read(&self) -> BoxFuture<'_, Result<Effort>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effort_is_a_difference() {
        let before = Effort { cpu: Some(Duration::from_secs(1)), log: Some(100), requests: None };
        let after = Effort { cpu: Some(Duration::from_secs(3)), log: Some(150), requests: Some(7) };
        assert_eq!(after.since(before), Effort { cpu: Some(Duration::from_secs(2)), log: Some(50), requests: None });
        assert_eq!(after.since(Effort { cpu: None, ..before }).cpu, None);
    }
}
