//! What a worker's call has learned so far.

use std::collections::BTreeSet;

use storagebox_core::layer::Response;
use storagebox_core::{Entry, Recorded, Replaced, Taken};

use crate::call::Call;
use crate::record::{Written, nonce_of};

/// The store answers that can still affect a call of the deduplicator.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The version and the value of the record when the call last saw the record.
    pub(crate) met: Option<(u64, Written)>,
    /// The listed records that a recovery processes: id, version and value.
    pub(crate) listed: Vec<(String, u64, Written)>,
    /// The nonce of the last intent that the call wrote or tried to write.
    pub(crate) offered: Option<String>,
    /// For each bank that gave no item: the bank, whether this call wrote the intent of the claim, and whether the
    /// claim had ended.
    pub(crate) refused: BTreeSet<(String, bool, bool)>,
}

impl Memory {
    pub(crate) fn of(conversation: &[(Call, Response)]) -> Self {
        let mut memory = Self::default();
        for (call, reply) in conversation {
            memory.add(call, reply);
        }
        memory
    }

    fn add(&mut self, call: &Call, reply: &Response) {
        self.offer(call);
        match (call, reply) {
            (Call::Record { value, .. } | Call::Replace { value, .. }, _) => {
                self.met = met(&Written::read(value), reply);
            }
            (Call::Take { bank, claim }, Response::Take(Taken::Empty | Taken::Ended(_))) => {
                let own = self.offered.as_deref() == Some(nonce_of(claim.as_str()));
                let ended = matches!(reply, Response::Take(Taken::Ended(_)));
                self.refused.insert((bank.as_str().to_owned(), own, ended));
            }
            (_, Response::ListRecords(page)) => {
                let listed = page.entries.iter();
                self.listed = listed.map(|listed| with_id(listed.id.as_str(), &listed.entry)).collect();
            }
            _ => {}
        }
    }

    fn offer(&mut self, call: &Call) {
        if let Call::Record { value, .. } | Call::Replace { value, .. } = call
            && let Written::Intent(intent) = Written::read(value)
        {
            self.offered = Some(intent.nonce);
        }
    }
}

/// Returns the version and the value of the record after a call that tried to write `value`.
fn met(value: &Written, reply: &Response) -> Option<(u64, Written)> {
    match reply {
        Response::Record(Recorded::New(version))
        | Response::Replace(Replaced::Replaced(version) | Replaced::Again(version)) => {
            Some((version.number(), value.clone()))
        }
        Response::Record(Recorded::Again(entry) | Recorded::Existing(entry))
        | Response::Replace(Replaced::Stale(Some(entry))) => Some(read(entry)),
        _ => None,
    }
}

fn read(entry: &Entry) -> (u64, Written) {
    (entry.version.number(), Written::read(&entry.value))
}

fn with_id(id: &str, entry: &Entry) -> (String, u64, Written) {
    let (version, written) = read(entry);
    (id.to_owned(), version, written)
}
