//! Requests that are still under way.

use std::collections::VecDeque;

use aws_smithy_runtime_api::client::http::SharedHttpConnector;

use super::State;
use super::client::send;
use super::request::Request;

/// The longest that a late request waits, in requests that come after it.
const LATEST: u64 = 3;

/// When a request lands whose connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lands {
    /// After one to three more requests.
    Soon,
    /// After whatever comes before it is told to.
    WhenTold,
}

#[derive(Default)]
pub(super) struct Late {
    /// Numbers the requests.
    calls: u64,
    /// How many were ever late.
    lates: u64,
    parked: VecDeque<Parked>,
}

/// A request, and the way that it is to take.
pub(super) struct Parked {
    request: Request,
    connector: SharedHttpConnector,
    /// It lands after the request of this number.
    due: Option<u64>,
}

impl Late {
    /// The number of a request that comes now.
    pub(super) fn call(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    pub(super) fn park(&mut self, request: Request, connector: SharedHttpConnector, lands: Lands) {
        let due = (lands == Lands::Soon).then_some(self.calls + 1 + self.lates % LATEST);
        self.lates += u64::from(due.is_some());
        self.parked.push_back(Parked { request, connector, due });
    }

    /// One that is to land when the request of this number has been answered.
    pub(super) fn due(&mut self, call: u64) -> Option<Parked> {
        let first = self.parked.iter().position(|parked| parked.due.is_some_and(|due| due <= call))?;
        self.parked.remove(first)
    }

    pub(super) fn first(&mut self) -> Option<Parked> {
        self.parked.pop_front()
    }

    pub(super) fn len(&self) -> usize {
        self.parked.len()
    }
}

impl Parked {
    /// Nobody waits for the answer any more.
    pub(super) async fn land(self, state: &State) {
        let _ = send(state, &self.connector, self.request).await;
    }
}
