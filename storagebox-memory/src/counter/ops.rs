//! The operations of one counter, by id and by age.

use std::collections::{HashMap, VecDeque};

use storagebox_core::{OpId, Remember};

use crate::clock::Time;

#[derive(Clone, Debug, Default)]
pub(super) struct Ops {
    by_id: HashMap<OpId, Known>,
    /// The operations, each with the time at which it was added, the oldest first.
    by_age: VecDeque<(Time, OpId)>,
}

#[derive(Clone, Debug)]
pub(super) enum Known {
    Applied { delta: i64, value: Option<i64> },
    Cancelled,
}

impl Ops {
    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub(super) fn find(&self, op: &OpId) -> Option<&Known> {
        self.by_id.get(op)
    }

    pub(super) fn insert(&mut self, op: OpId, known: Known, now: Time) {
        self.by_age.push_back((now, op.clone()));
        self.by_id.insert(op, known);
    }

    pub(super) fn is_full(&self, capacity: Option<u32>) -> bool {
        capacity.is_some_and(|capacity| self.by_id.len() >= capacity as usize)
    }

    pub(super) fn forget_up_to(&mut self, most: usize, memory: Remember, now: Time) -> usize {
        let mut forgotten = 0;
        while forgotten < most && self.forgets_the_oldest(memory, now) {
            forgotten += 1;
        }
        forgotten
    }

    fn forgets_the_oldest(&mut self, memory: Remember, now: Time) -> bool {
        let count = self.by_age.len();
        let is_past = |since: Time| match memory {
            Remember::None => true,
            Remember::For(duration) => since.after(duration) <= now,
            Remember::Writers(last) => count > last.into(),
            Remember::Forever => false,
        };
        let oldest = self.by_age.pop_front_if(|(since, _)| is_past(*since));
        oldest.is_some_and(|(_, op)| self.by_id.remove(&op).is_some())
    }
}
