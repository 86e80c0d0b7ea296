//! The answers that callers got, which no later answer may contradict.

use std::collections::BTreeSet;

use storagebox_core::{OpId, Payload, Peeked, TokenLease};

#[derive(Debug, Default)]
pub(crate) struct Told {
    known: Known,
    /// The operations that certainly have a lease: they have not ended, and the clock has not advanced since they
    /// began.
    holders: BTreeSet<OpId>,
    works: usize,
    /// The results whose commits returned `Fenced`.
    fenced: BTreeSet<String>,
    /// Whether the time to replay results has ended.
    was_over: bool,
    pub(crate) broken: Option<String>,
}

/// The facts that the callers and the store know at the beginning of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The result that callers got, or `None` if no caller got a result.
    result: Option<String>,
    /// Whether any caller got the answer that the token is gone.
    is_gone: bool,
    /// Whether the store has a result.
    is_recorded: bool,
    /// The number of times that the clock has advanced.
    moments: usize,
}

impl Told {
    pub(crate) fn known(&self, is_recorded: bool) -> Known {
        Known { is_recorded, ..self.known.clone() }
    }

    pub(crate) fn result(&self) -> Option<String> {
        self.known.result.clone()
    }

    /// Returns a new result, which contains the caller's name.
    pub(crate) fn work(&mut self, caller: &str) -> String {
        self.works += 1;
        format!("{caller} by work {}", self.works)
    }

    pub(crate) fn begun(&mut self, lease: &TokenLease, known: &Known) {
        self.is_to_be_had("a call begins", "OT-2", known);
        // A lease may lapse before its holder gets the answer.
        if known.moments == self.known.moments {
            self.holders.insert(lease.op.clone());
        }
        if self.holders.len() > 1 {
            self.breaks("OT-2: two calls have a lease at once".to_owned());
        }
    }

    pub(crate) fn in_use(&mut self, known: &Known) {
        self.is_to_be_had("the token is in use", "OT-3", known);
    }

    pub(crate) fn ended(&mut self, lease: &TokenLease) {
        self.holders.remove(&lease.op);
    }

    /// Records that all leases have lapsed. `is_over` says whether the time to replay results has ended too.
    pub(crate) fn passed(&mut self, is_over: bool) {
        self.was_over |= is_over;
        self.known.moments += 1;
        self.holders.clear();
    }

    pub(crate) fn fenced(&mut self, result: String) {
        self.fenced.extend((!self.was_over).then_some(result));
    }

    pub(crate) fn gone(&mut self) {
        self.known.is_gone = true;
    }

    pub(crate) fn peeked(&mut self, peeked: Peeked, known: &Known) {
        match peeked {
            Peeked::Live => self.is_to_be_had("the token looks live", "OT-1", known),
            Peeked::Gone => self.gone(),
        }
    }

    pub(crate) fn told(&mut self, caller: &str, result: &Payload) {
        let result = String::from_utf8_lossy(result.as_bytes()).into_owned();
        if !result.starts_with(caller) {
            self.breaks(format!("OT-3: {caller} got {result:?}, the result of another caller"));
        }
        if self.fenced.contains(&result) {
            self.breaks(format!("OT-3: a caller got {result:?}, whose commit returned `Fenced`"));
        }
        if let Some(before) = self.known.result.replace(result.clone()).filter(|before| *before != result) {
            self.breaks(format!("OT-2: a caller got {result:?} after {before:?}"));
        }
    }

    fn is_to_be_had(&mut self, what: &str, clause: &str, known: &Known) {
        if let Some(result) = &known.result {
            self.breaks(format!("{clause}: {what} although a caller got {result:?} before"));
        } else if known.is_recorded {
            self.breaks(format!("{clause}: {what} although a result was recorded before"));
        } else if known.is_gone {
            self.breaks(format!("{clause}: {what} although the token was gone before"));
        }
    }

    fn breaks(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }
}
