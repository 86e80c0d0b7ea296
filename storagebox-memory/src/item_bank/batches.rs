//! Calls on items by their text: batches, and the state of one item.

use storagebox_core::{Added, Item, ItemState, Restored, Result, Withdrawn};
use tracing::instrument;

use super::claims::Slot;
use super::items::Stripe;
use super::{LockedItems, MemoryBank};
use crate::striped::Striped;
use crate::transaction::each_of;

impl MemoryBank {
    /// Does the same as [`ItemBank::add`](storagebox_core::ItemBank::add), without a future.
    ///
    /// # Errors
    ///
    /// Returns `Contention` if an open transaction has changed one of the items, or `OutcomeUnknown` if others were
    /// added before that.
    #[instrument(name = "add", level = "trace", skip_all)]
    pub fn add_now(&self, items: &[Item]) -> Result<Added> {
        let mut report = Added::default();
        let own = |item: &_| self.entered(item).map(drop);
        self.each(items, own, |item| {
            match self.entered(item)? {
                Some((mut stripe, index)) => {
                    stripe.free(index);
                    report.added += 1;
                }
                None => report.already_present += 1,
            }
            Ok(())
        })?;
        Ok(report)
    }

    #[instrument(name = "holder", level = "trace", skip_all)]
    pub(super) fn holder_now(&self, item: &Item) -> ItemState {
        let (hash, at) = self.place_of(item);
        let stripe = self.items.lock(at);
        let state = |index| stripe.state(index, self.by.as_ref(), self.settings.now());
        stripe.find(item, hash).map_or(ItemState::Unknown, state)
    }

    /// Calls `step` on each distinct item. Within a transaction, calls `own` on all items first.
    fn each(
        &self,
        items: &[Item],
        own: impl Fn(&Item) -> Result<()>,
        step: impl FnMut(&Item) -> Result<()>,
    ) -> Result<()> {
        each_of(self.by.as_ref(), || distinct(items), own, step)
    }

    fn place_of(&self, item: &Item) -> (u64, usize) {
        let hash = self.items.hash(item);
        (hash, Striped::<Stripe>::stripe_of(hash))
    }

    /// Locks the items that share a lock with the new item, and reserves a slot. Returns `None` if the bank has the
    /// item.
    fn entered(&self, item: &Item) -> Result<Option<(LockedItems<'_>, u32)>> {
        let (hash, stripe) = self.place_of(item);
        let mut items = self.items.lock(stripe);
        let index = items.enter(item, hash, |item| self.items.hash(item));
        if !items.is_absent(index, self.by.as_ref()) {
            return Ok(None);
        }
        self.own(&mut items, Slot { stripe: stripe as u8, index })?;
        Ok(Some((items, index)))
    }

    /// Locks the item and returns its slot and state, or `None` if the item is unknown. Reserves the slot if the state
    /// is `from`.
    fn known(&self, item: &Item, from: &ItemState) -> Result<Option<(LockedItems<'_>, u32, ItemState)>> {
        let (hash, stripe) = self.place_of(item);
        let mut items = self.items.lock(stripe);
        let Some(index) = items.find(item, hash) else { return Ok(None) };
        let state = items.state(index, self.by.as_ref(), self.settings.now());
        if state == *from {
            self.own(&mut items, Slot { stripe: stripe as u8, index })?;
        }
        Ok((state != ItemState::Unknown).then_some((items, index, state)))
    }

    /// Calls `change` on each distinct item in the state `from`. For any other item, calls `other` with the state of
    /// the item.
    fn change_each(
        &self,
        items: &[Item],
        from: &ItemState,
        mut change: impl FnMut(&mut Stripe, u32),
        mut other: impl FnMut(ItemState),
    ) -> Result<()> {
        let own = |item: &_| self.known(item, from).map(drop);
        self.each(items, own, |item| {
            match self.known(item, from)? {
                Some((mut stripe, index, state)) if state == *from => change(&mut stripe, index),
                known => other(known.map_or(ItemState::Unknown, |(.., state)| state)),
            }
            Ok(())
        })
    }

    #[instrument(name = "withdraw", level = "trace", skip_all)]
    pub(super) fn withdraw_now(&self, items: &[Item]) -> Result<Withdrawn> {
        let (mut report, mut withdrawn) = (Withdrawn::default(), 0);
        let withdraw = |stripe: &mut Stripe, index| {
            stripe.withdraw(index);
            withdrawn += 1;
        };
        self.change_each(items, &ItemState::Free, withdraw, |state| match state {
            ItemState::Unknown => report.unknown += 1,
            ItemState::Withdrawn => report.already_withdrawn += 1,
            _ => report.in_use += 1,
        })?;
        Ok(Withdrawn { withdrawn, ..report })
    }

    #[instrument(name = "restore", level = "trace", skip_all)]
    pub(super) fn restore_now(&self, items: &[Item]) -> Result<Restored> {
        let (mut report, mut restored) = (Restored::default(), 0);
        let restore = |stripe: &mut Stripe, index| {
            stripe.restore(index);
            restored += 1;
        };
        self.change_each(items, &ItemState::Withdrawn, restore, |state| match state {
            ItemState::Unknown => report.unknown += 1,
            _ => report.not_withdrawn += 1,
        })?;
        Ok(Restored { restored, ..report })
    }
}

/// Returns each item once, in the order of the first occurrences.
fn distinct(items: &[Item]) -> impl Iterator<Item = &Item> {
    let mut seen = hashbrown::HashSet::with_capacity_and_hasher(items.len(), std::hash::RandomState::new());
    items.iter().filter(move |item| seen.insert(*item))
}
