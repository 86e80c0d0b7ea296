//! What a proxy waits for in the bytes of its clients.

use super::Cut;

/// A cut that is armed.
pub(super) struct Trap {
    cut: Cut,
    needle: Vec<u8>,
    passing: usize,
    /// How many pass before it strikes again; none if it strikes once.
    then_passing: Option<usize>,
}

/// What a client sent of late, as far as a needle may have begun in it.
#[derive(Default)]
pub(super) struct Sent {
    tail: Vec<u8>,
    /// Whether the request that is under way was let pass.
    passed: bool,
}

impl Trap {
    pub(super) fn new(cut: Cut, needle: &[u8], passing: usize) -> Self {
        Self { cut, needle: needle.to_vec(), passing, then_passing: None }
    }

    /// Strikes each time after it let so many pass.
    pub(super) fn again_and_again(cut: Cut, needle: &[u8], passing: usize) -> Self {
        Self { then_passing: Some(passing), ..Self::new(cut, needle, passing) }
    }

    /// The trap after it struck, if it strikes again.
    pub(super) fn anew(self) -> Option<Self> {
        self.then_passing.map(|passing| Self { passing, ..self })
    }

    /// The cut and how much of the chunk is too little for the request to be whole, if the trap strikes.
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
    /// The server has spoken: what comes next is another request.
    pub(super) fn begin_anew(&mut self) {
        *self = Self::default();
    }

    /// Keeps as much as a needle of this length may have begun in.
    fn keep(&mut self, needle: usize) {
        let old = (self.tail.len() + 1).saturating_sub(needle);
        self.tail.drain(..old);
    }
}

/// Where the needle ends; an empty one is in everything, and ends where that ends.
fn end_of(needle: &[u8], bytes: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(bytes.len());
    }
    bytes.windows(needle.len()).position(|window| window == needle).map(|start| start + needle.len())
}
