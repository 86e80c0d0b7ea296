//! The search for a needle in the bytes that clients send.

use super::Cut;

/// A cut that the proxy makes when a client sends the text `needle`.
pub(super) struct Trap {
    cut: Cut,
    needle: Vec<u8>,
    passing: usize,
    /// The number of requests that pass before the next strike, or `None` if the trap strikes once.
    then_passing: Option<usize>,
}

/// The last bytes that a client sent, which may contain the beginning of the needle of a [`Trap`].
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

    /// If the trap strikes, returns the cut and the number of bytes of the chunk that may pass without completing the
    /// request.
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
    /// Starts a new request, after the server has answered the last request.
    pub(super) fn begin_anew(&mut self) {
        *self = Self::default();
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
