//! The whole system at one moment: the stores, the workers, and the requests still in flight.

use crate::protocol::{Call, Progress, Protocol};
use crate::stores::{CLAIMS, Claim, Condition, Holding, IDS, Id, Items, Record, Reply, Request, Stores, Version};
use crate::symbol::Name;

pub(crate) const WORKERS: usize = 3;
pub(crate) const IN_FLIGHT: usize = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Worker {
    pub(crate) call: Option<Call>,
    pub(crate) name: Name,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) stores: Stores,
    pub(crate) workers: [Worker; WORKERS],
    pub(crate) in_flight: [Option<Request>; IN_FLIGHT],
    /// For each id, the items that callers have got.
    pub(crate) answers: [Items; IDS],
    id_names: [Name; IDS],
    claims_known: u8,
    claims_drawn: Name,
}

impl State {
    pub(crate) fn new() -> Self {
        let mut state = Self::default();
        for (worker, number) in state.workers.iter_mut().zip(0..) {
            worker.name = Name(number);
        }
        for (name, number) in state.id_names.iter_mut().zip(0..) {
            *name = Name(number);
        }
        state
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        (0..).zip(self.id_names).map(|(index, name)| Id { index, name })
    }

    /// Returns the calls in progress, with the numbers of their workers.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (usize, Call)> {
        self.workers.iter().enumerate().filter_map(|(worker, Worker { call, .. })| Some((worker, (*call)?)))
    }

    pub(crate) fn draw_nonce(&mut self) -> Claim {
        let claim = Claim { index: self.claims_known, name: self.claims_drawn };
        self.claims_known += 1;
        self.claims_drawn = Name(self.claims_drawn.0.wrapping_add(1));
        claim
    }

    pub(crate) fn perform(&mut self, request: Request, choice: u8) -> Reply {
        let reply = self.stores.perform(request, choice);
        if let (Request::Write(id, ..), Reply::Won(_)) = (request, reply) {
            self.supersede(id);
        }
        reply
    }

    fn supersede(&mut self, changed: Id) {
        for call in self.workers.iter_mut().filter_map(|worker| worker.call.as_mut()) {
            if call.id == changed {
                call.met = Version::Superseded;
            }
        }
        for request in self.in_flight.iter_mut().flatten() {
            if let Request::Write(id, Condition::Unchanged(version), _) = request
                && *id == changed
            {
                *version = Version::Superseded;
            }
        }
    }

    pub(crate) fn advance(&mut self, worker: usize, id: Id, progress: Progress) {
        self.workers[worker].call = match progress {
            Progress::Next(call) => Some(call),
            Progress::Answer(answer) => {
                if let Some(item) = answer {
                    self.answers[id.slot()].insert(item);
                }
                None
            }
        };
    }

    pub(crate) fn launch(&mut self, request: Request) {
        if let Some(slot) = self.in_flight.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some(request);
        }
    }

    /// Removes facts that have no effect on the future, so that equivalent states become equal.
    pub(crate) fn canonical(mut self, protocol: Protocol) -> Self {
        self.watch_stock();
        self.forget_spent_requests();
        self.simplify_calls(protocol);
        self.forget_former_intents();
        self.order_ids();
        self.order_parties();
        self.renumber_claims();
        self.order_parties();
        self
    }

    /// Marks the calls in progress whose requested bank is empty now.
    fn watch_stock(&mut self) {
        let free = self.stores.free;
        for call in self.workers.iter_mut().filter_map(|worker| worker.call.as_mut()) {
            call.always_stocked &= call.wish.is_none_or(|bank| free.of_bank(bank).len() > 0);
        }
    }

    fn forget_spent_requests(&mut self) {
        let stores = &self.stores;
        for slot in &mut self.in_flight {
            *slot = slot.filter(|request| stores.can_change(*request));
        }
    }

    fn simplify_calls(&mut self, protocol: Protocol) {
        for call in self.workers.iter_mut().filter_map(|worker| worker.call.as_mut()) {
            *call = call.simplified(protocol, self.stores.record(call.id));
        }
    }

    fn forget_former_intents(&mut self) {
        for call in self.workers.iter_mut().filter_map(|worker| worker.call.as_mut()) {
            let recorded = |own| self.stores.record(call.id).is_intent_of(own);
            let in_flight = |own| self.in_flight.iter().flatten().any(|request| request.writes_intent_of(own));
            call.wrote = call.wrote.filter(|own| call.relies_on(*own, recorded(*own) || in_flight(*own)));
        }
    }

    /// Orders the two ids by their records, the larger record first.
    fn order_ids(&mut self) {
        let [first, second] = self.stores.records;
        if first >= second {
            return;
        }
        self.stores.records.swap(0, 1);
        self.answers.swap(0, 1);
        self.id_names.swap(0, 1);
        self.for_each_id(|id| id.index = 1 - id.index);
    }

    fn order_parties(&mut self) {
        self.workers.sort_unstable();
        self.in_flight.sort_unstable();
    }

    /// Numbers claims in a fixed order. Drops claims that hold nothing and that no record, call or request names.
    fn renumber_claims(&mut self) {
        let mut numbering = Numbering::default();
        self.for_each_claim(|claim| claim.index = numbering.number(claim.index));
        let before = std::mem::take(&mut self.stores.claims);
        for (index, holding) in (0..).zip(before) {
            if numbering.knows(index) || matches!(holding, Holding::Held(_)) {
                self.stores.claims[usize::from(numbering.number(index))] = holding;
            }
        }
        self.claims_known = numbering.known;
    }

    fn for_each_id(&mut self, mut visit: impl FnMut(&mut Id)) {
        for call in self.workers.iter_mut().filter_map(|worker| worker.call.as_mut()) {
            visit(&mut call.id);
        }
        self.in_flight.iter_mut().flatten().filter_map(Request::id_mut).for_each(visit);
    }

    fn for_each_claim(&mut self, mut visit: impl FnMut(&mut Claim)) {
        self.stores.records.iter_mut().filter_map(Record::claim_mut).for_each(&mut visit);
        for call in self.workers.iter_mut().filter_map(|worker| worker.call.as_mut()) {
            call.claims_mut().for_each(&mut visit);
        }
        self.in_flight.iter_mut().flatten().filter_map(Request::claim_mut).for_each(visit);
    }
}

#[derive(Default)]
struct Numbering {
    numbers: [Option<u8>; CLAIMS],
    known: u8,
}

impl Numbering {
    fn knows(&self, index: u8) -> bool {
        self.numbers[usize::from(index)].is_some()
    }

    fn number(&mut self, index: u8) -> u8 {
        *self.numbers[usize::from(index)].get_or_insert_with(|| {
            self.known += 1;
            self.known - 1
        })
    }
}
