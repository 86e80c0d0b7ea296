//! The search for a needle in the bytes that clients send.

use std::sync::{Arc, Weak};

use super::Cut;

/// A cut that the proxy makes when a client sends the text `needle`.
pub(super) struct Trap {
    cut: Cut,
    needle: Vec<u8>,
    passing: usize,
    /// The number of requests that pass before the next strike, or `None` if the trap strikes once.
    then_passing: Option<usize>,
    /// If the trap is for one call: what a connection remembers that has sent the needle.
    call: Option<Arc<()>>,
}

/// The last bytes that a client sent, which may contain the beginning of the needle of a [`Trap`].
#[derive(Default)]
pub(super) struct Sent {
    tail: Vec<u8>,
    /// Whether the current request was allowed to pass.
    passed: bool,
    /// The call whose needle the connection has sent.
    call: Weak<()>,
}

impl Trap {
    pub(super) fn new(cut: Cut, needle: &[u8], passing: usize) -> Self {
        Self { cut, needle: needle.to_vec(), passing, then_passing: None, call: None }
    }

    /// Creates a trap that also counts the requests that follow the needle on its connection.
    pub(super) fn of_call(cut: Cut, needle: &[u8], passing: usize) -> Self {
        Self { call: Some(Arc::default()), ..Self::new(cut, needle, passing) }
    }

    /// Creates a trap that strikes repeatedly, each time after `passing` requests have passed.
    pub(super) fn again_and_again(cut: Cut, needle: &[u8], passing: usize) -> Self {
        Self { then_passing: Some(passing), ..Self::new(cut, needle, passing) }
    }

    /// Returns the trap for the next strike, or `None` if the trap strikes only once.
    pub(super) fn anew(self) -> Option<Self> {
        self.then_passing.map(|passing| Self { passing, ..self })
    }

    /// If the trap strikes, returns the cut and the number of bytes of the chunk that may pass without completing the
    /// request.
    pub(super) fn look(&mut self, sent: &mut Sent, chunk: &[u8]) -> Option<(Cut, usize)> {
        let part = self.counted(sent, chunk)?;
        if sent.passed || self.passing > 0 {
            self.passing -= usize::from(!sent.passed);
            sent.passed = true;
            return None;
        }
        Some((self.cut, part))
    }

    /// If the request counts, returns the number of bytes of the chunk that may pass without completing the request.
    fn counted(&self, sent: &mut Sent, chunk: &[u8]) -> Option<usize> {
        if self.call.as_ref().is_some_and(|call| sent.call.as_ptr() == Arc::as_ptr(call)) {
            return Some(chunk.len() / 2);
        }
        let before = sent.tail.len();
        sent.tail.extend_from_slice(chunk);
        let Some(end) = end_of(&self.needle, &sent.tail) else {
            sent.keep(self.needle.len());
            return None;
        };
        sent.tail.clear();
        sent.call = self.call.as_ref().map(Arc::downgrade).unwrap_or_default();
        Some((end - before - 1).min(chunk.len() / 2))
    }
}

impl Sent {
    /// Starts a new request, after the server has answered the last request.
    pub(super) fn begin_anew(&mut self) {
        *self = Self { call: std::mem::take(&mut self.call), ..Self::default() };
    }

    /// Keeps only the last bytes, in which a needle of this length may have begun.
    fn keep(&mut self, needle: usize) {
        let old = (self.tail.len() + 1).saturating_sub(needle);
        self.tail.drain(..old);
    }
}

/// Returns the end of the needle's first occurrence; an empty needle occurs at the end.
fn end_of(needle: &[u8], bytes: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(bytes.len());
    }
    bytes.windows(needle.len()).position(|window| window == needle).map(|start| start + needle.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the trap strikes at this request of a connection.
    fn strikes(trap: &mut Trap, connection: &mut Sent, request: &str) -> bool {
        connection.begin_anew();
        trap.look(connection, request.as_bytes()).is_some()
    }

    #[test]
    fn the_requests_that_follow_the_needle_on_its_connection_are_those_of_the_call() {
        let (mut one, mut other) = (Sent::default(), Sent::default());
        let mut trap = Trap::of_call(Cut::ReplyLost, b"order-17", 2);
        assert!(!strikes(&mut trap, &mut one, "BEGIN"));
        assert!(!strikes(&mut trap, &mut one, "UPDATE order-17"));
        assert!(!strikes(&mut trap, &mut other, "COMMIT"), "another connection");
        assert!(!strikes(&mut trap, &mut one, "UPDATE order-17"));
        assert_eq!(trap.look(&mut one, b", again order-17"), None, "the rest of the same request");
        assert!(strikes(&mut trap, &mut one, "COMMIT"));
    }

    #[test]
    fn a_connection_that_served_an_earlier_call_does_not_belong_to_the_next() {
        let mut connection = Sent::default();
        assert!(!strikes(&mut Trap::of_call(Cut::ReplyLost, b"order-17", 1), &mut connection, "order-17"));
        let mut next = Trap::of_call(Cut::ReplyLost, b"order-18", 0);
        assert!(!strikes(&mut next, &mut connection, "DISCARD ALL"));
        assert!(strikes(&mut next, &mut connection, "order-18"));
    }

    #[test]
    fn a_trap_that_is_not_for_a_call_counts_only_the_needle() {
        let mut connection = Sent::default();
        let mut trap = Trap::new(Cut::ReplyLost, b"order-17", 1);
        assert!(!strikes(&mut trap, &mut connection, "order-17"));
        assert!(!strikes(&mut trap, &mut connection, "COMMIT"));
        assert!(strikes(&mut trap, &mut connection, "order-17"));
    }
}
