//! The search for a needle in the bytes that clients send.

use super::Cut;

/// An armed cut.
pub(super) struct Trap {
    cut: Cut,
    needle: Vec<u8>,
    passing: usize,
    /// The number of requests that pass before the next strike, or `None` if the trap strikes once.
    then_passing: Option<usize>,
}

/// The last bytes that a client sent, as far back as a needle may have begun.
#[derive(Default)]
pub(super) struct Sent {
    tail: Vec<u8>,
    /// Whether the current request was allowed to pass.
    passed: bool,
}

impl Trap {
    pub(super) fn new(cut: Cut, needle: &[u8], passing: usize) -> Self {
        Self { cut, needle: needle.to_vec(), passing, then_passing: None }
    }

    /// Creates a trap that strikes repeatedly, each time after `passing` requests have passed.
    pub(super) fn again_and_again(cut: Cut, needle: &[u8], passing: usize) -> Self {
        Self { then_passing: Some(passing), ..Self::new(cut, needle, passing) }
    }

    /// Returns the trap for the next strike, or `None` if the trap strikes only once.
    pub(super) fn anew(self) -> Option<Self> {
        self.then_passing.map(|passing| Self { passing, ..self })
    }

    /// Returns the cut if the trap strikes, and how many bytes of the chunk can be sent without completing the request.
    pub(super) fn look(&mut self, sent: &mut Sent, chunk: &[u8]) -> Option<(Cut, usize)> {
        let before = sent.tail.len();
        sent.tail.extend_from_slice(chunk);
        let Some(end) = end_of(&self.needle, &sent.tail) else {
            sent.keep(self.needle.len());
            return None;
        };
        sent.tail.clear();
        if sent.passed || self.passing > 0 {
            self.passing -= usize::from(!sent.passed);
            sent.passed = true;
            return None;
        }
        Some((self.cut, (end - before - 1).min(chunk.len() / 2)))
    }
}

impl Sent {
    /// Starts a new request: the server has sent something, so the next bytes of the client belong to another request.
    pub(super) fn begin_anew(&mut self) {
        *self = Self::default();
    }

    /// Keeps as many bytes as may contain the beginning of a needle of this length.
    fn keep(&mut self, needle: usize) {
        let old = (self.tail.len() + 1).saturating_sub(needle);
        self.tail.drain(..old);
    }
}

/// Returns the end of the needle's first occurrence. An empty needle occurs in everything and ends where the bytes end.
fn end_of(needle: &[u8], bytes: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(bytes.len());
    }
    bytes.windows(needle.len()).position(|window| window == needle).map(|start| start + needle.len())
}
