//! The sequential specification of the records and leases of one id.
//!
//! The store chooses versions and fences. A value names the operation that wrote it, so versions are compared by their
//! values, and leases by the operations that began them.

use std::collections::BTreeSet;

use crate::history::Specification;

/// The number of an operation, which the operation also writes as the value.
pub(super) type Op = u16;

#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    Record(Op),
    Get,
    Replace { from: Op, op: Op },
    Forget { from: Op },
    Begin(Op),
    Complete(Op),
    Abort(Op),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    New,
    Again(Op),
    Existing(Op),
    InFlight,
    Fenced,
    Read(Option<Op>),
    Replaced,
    ReplacedBefore(Op),
    Stale(Option<Op>),
    Forgotten,
    Started,
    Completed,
    Aborted,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct State {
    place: Place,
    ended: BTreeSet<Op>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Place {
    #[default]
    Vacant,
    Leased(Op),
    Done {
        op: Op,
        leased: bool,
        value: Op,
        replaced: Option<Op>,
    },
}

impl State {
    fn value(&self) -> Option<Op> {
        match self.place {
            Place::Done { value, .. } => Some(value),
            Place::Vacant | Place::Leased(_) => None,
        }
    }

    fn with(&self, place: Place) -> Self {
        Self { place, ended: self.ended.clone() }
    }

    fn ended_by(&self, op: Op) -> Self {
        let mut next = self.with(Place::Vacant);
        next.ended.insert(op);
        next
    }

    fn record(&self, op: Op) -> (Self, Reply) {
        let same = |reply| (self.clone(), reply);
        match self.place {
            _ if self.ended.contains(&op) => same(Reply::Fenced),
            Place::Done { op: first, value, .. } if first == op => same(Reply::Again(value)),
            Place::Done { value, .. } => same(Reply::Existing(value)),
            Place::Leased(_) => same(Reply::InFlight),
            Place::Vacant => (self.with(Place::Done { op, leased: false, value: op, replaced: None }), Reply::New),
        }
    }

    fn replace(&self, from: Op, by: Op) -> (Self, Reply) {
        match self.place {
            Place::Done { op, leased, value, .. } if value == from => {
                (self.with(Place::Done { op, leased, value: by, replaced: Some(from) }), Reply::Replaced)
            }
            Place::Done { value, replaced: Some(before), .. } if value == by && before == from => {
                (self.clone(), Reply::ReplacedBefore(by))
            }
            _ => (self.clone(), Reply::Stale(self.value())),
        }
    }

    fn forget(&self, from: Op) -> (Self, Reply) {
        match self.place {
            Place::Done { op, value, .. } if value == from => (self.ended_by(op), Reply::Forgotten),
            _ => (self.clone(), Reply::Stale(self.value())),
        }
    }

    fn begin(&self, op: Op) -> (Self, Reply) {
        let same = |reply| (self.clone(), reply);
        match self.place {
            _ if self.ended.contains(&op) => same(Reply::Fenced),
            Place::Done { value, .. } => same(Reply::Existing(value)),
            Place::Leased(holder) if holder != op => same(Reply::InFlight),
            Place::Leased(_) | Place::Vacant => (self.with(Place::Leased(op)), Reply::Started),
        }
    }

    fn complete(&self, op: Op) -> (Self, Reply) {
        match self.place {
            Place::Leased(holder) if holder == op => {
                (self.with(Place::Done { op, leased: true, value: op, replaced: None }), Reply::Completed)
            }
            Place::Done { op: first, leased: true, value, .. } if first == op => (self.clone(), Reply::Again(value)),
            _ => (self.clone(), Reply::Fenced),
        }
    }

    fn abort(&self, op: Op) -> (Self, Reply) {
        match self.place {
            Place::Leased(holder) if holder == op => (self.ended_by(op), Reply::Aborted),
            _ if self.ended.contains(&op) => (self.clone(), Reply::Aborted),
            _ => (self.clone(), Reply::Fenced),
        }
    }
}

pub(super) struct OneId;

impl Specification for OneId {
    type State = State;
    type Op = Call;
    type Reply = Reply;

    fn initial(&self) -> State {
        State::default()
    }

    fn step(&self, state: &State, call: &Call) -> Vec<(State, Reply)> {
        match *call {
            Call::Record(op) => vec![state.record(op)],
            Call::Get => vec![(state.clone(), Reply::Read(state.value()))],
            Call::Replace { from, op } => vec![state.replace(from, op)],
            Call::Forget { from } => vec![state.forget(from)],
            Call::Begin(op) => vec![state.begin(op)],
            Call::Complete(op) => vec![state.complete(op)],
            Call::Abort(op) => vec![state.abort(op)],
        }
    }
}
