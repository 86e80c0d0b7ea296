//! The resources that a server uses during a measurement.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::error::Result;

/// The resources that a server has used since its start, or between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    /// The processor time of all processes of the server, or `None` if the system does not report it.
    pub(crate) cpu: Option<Duration>,
    /// The bytes in the write-ahead log of the server, if it has a log.
    pub(crate) log: Option<u64>,
    /// The number of requests to the server, if they are counted.
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

pub(crate) trait Meter {
    fn read(&self) -> BoxFuture<'_, Result<Effort>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_between_two_readings_is_their_difference() {
        let before = Effort { cpu: Some(Duration::from_secs(1)), log: Some(100), requests: None };
        let after = Effort { cpu: Some(Duration::from_secs(3)), log: Some(150), requests: Some(7) };
        assert_eq!(after.since(before), Effort { cpu: Some(Duration::from_secs(2)), log: Some(50), requests: None });
        assert_eq!(after.since(Effort { cpu: None, ..before }).cpu, None);
    }
}
