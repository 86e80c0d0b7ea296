//! Two kinds of equality of worlds.
//!
//! *Exact*: the stores show the same, and each worker's call has had the same conversation. *By role*: nonces,
//! operations and versions may have other names, because the protocol only compares them, and only the part of a
//! conversation counts that the call can still act upon. Equality by role leaves few enough states to enumerate every
//! order of events. A test compares both kinds.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::call::{Call, Shown};
use crate::memory::Memory;
use crate::record::{Intent, Written, nonce_of};
use crate::stores::Seen;
use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sameness {
    Exact,
    ByRole,
}

impl World {
    pub(crate) fn key(&self, seen: &Seen, sameness: Sameness) -> u64 {
        match sameness {
            Sameness::Exact => Roles::default().exact(self, seen),
            Sameness::ByRole => Roles::default().by_role(self, seen),
        }
    }
}

/// Replaces each name by a number, in the order of first appearance, and hashes the result.
#[derive(Default)]
struct Roles {
    names: HashMap<String, usize>,
    hasher: DefaultHasher,
}

impl Roles {
    fn exact(mut self, world: &World, seen: &Seen) -> u64 {
        self.put(seen);
        for worker in &world.workers {
            self.put(&(worker.standing(), worker.calls()));
            for (call, reply) in worker.conversation() {
                self.put(&format!("{call} -> {}", Shown(reply)));
            }
        }
        self.put(&world.late);
        self.finish(world)
    }

    fn by_role(mut self, world: &World, seen: &Seen) -> u64 {
        for (id, (version, written)) in &seen.records {
            self.record(id, *version, written);
        }
        for worker in &world.workers {
            self.put(&worker.standing());
            self.conversation(worker.asked().as_ref(), &Memory::of(worker.conversation()), seen);
        }
        for late in &world.late {
            self.put(&late.copies);
            self.call(&late.call, seen);
        }
        self.banks(seen);
        self.finish(world)
    }

    fn conversation(&mut self, asked: Option<&Call>, memory: &Memory, seen: &Seen) {
        self.put(&asked.is_some());
        if let Some(call) = asked {
            self.call(call, seen);
        }
        self.put(&(memory.met.is_some(), memory.offered.is_some(), &memory.refused));
        if let Some((version, written)) = &memory.met {
            self.record("", *version, written);
        }
        if let Some(nonce) = &memory.offered {
            self.name(nonce);
        }
        for (id, version, written) in &memory.listed {
            self.record(id, *version, written);
        }
    }

    fn call(&mut self, call: &Call, seen: &Seen) {
        self.put(&std::mem::discriminant(call));
        match call {
            Call::Record { id, value, op } => self.write(id.as_str(), &Written::read(value), op.as_str(), seen),
            Call::Replace { id, version, value, op } => {
                self.version(version.number());
                self.write(id.as_str(), &Written::read(value), op.as_str(), seen);
            }
            Call::Get { id } => self.put(id.as_str()),
            Call::List => {}
            Call::Take { bank, claim } | Call::Release { bank, claim } => {
                self.put(bank.as_str());
                self.claim(claim.as_str());
            }
        }
    }

    /// Hashes a written value, and whether `op` was the first or the last writer of the record.
    fn write(&mut self, id: &str, value: &Written, op: &str, seen: &Seen) {
        self.put(id);
        self.written(value);
        self.name(op);
        self.put(&seen.wrote(id, op));
    }

    fn record(&mut self, id: &str, version: u64, written: &Written) {
        self.put(id);
        self.version(version);
        self.written(written);
    }

    fn written(&mut self, written: &Written) {
        self.put(&std::mem::discriminant(written));
        if let Some(Intent { bank, nonce }) = written.intent() {
            self.put(bank);
            self.name(nonce);
        }
        if let Written::Assigned(_, item) = written {
            self.put(item);
        }
    }

    /// Hashes the banks, and the claims whose nonces already have a number.
    fn banks(&mut self, seen: &Seen) {
        for (name, bank) in &seen.banks {
            self.put(&(name, bank.added, bank.free));
            for (claim, item) in &bank.holders {
                self.put(item);
                self.claim(claim);
            }
        }
        let mut known = seen.claims_by(|claim| self.names.get(nonce_of(claim)).copied());
        known.sort();
        self.put(&known);
    }

    fn claim(&mut self, claim: &str) {
        let (nonce, id) = claim.split_once(':').expect("a claim is nonce:id");
        self.name(nonce);
        self.put(id);
    }

    fn version(&mut self, version: u64) {
        self.name(&format!("version {version}"));
    }

    fn name(&mut self, name: &str) {
        let next = self.names.len();
        let number = *self.names.entry(name.to_owned()).or_insert(next);
        self.put(&number);
    }

    fn put(&mut self, what: &(impl Hash + ?Sized)) {
        what.hash(&mut self.hasher);
    }

    /// Returns the 64-bit hash of all values that were put, and of the answers, refills and remaining faults.
    fn finish(mut self, world: &World) -> u64 {
        self.put(&(&world.answers, &world.refilled, world.faults_left));
        self.hasher.finish()
    }
}
