//! The namespaces of one kind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storagebox_core::{Namespace, Result};

use crate::transaction::{End, Ending, Open, Touched};

/// The namespaces of one kind of part.
pub(super) struct ByName<T>(Arc<Mutex<Names<T>>>);

struct Names<T>(BTreeMap<Namespace, Named<T>>);

struct Named<T> {
    part: Arc<T>,
    /// The open transaction that created the namespace; `None` after another caller has opened the namespace.
    created_by: Option<Open>,
}

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Names(BTreeMap::new()))))
    }
}

impl<T> ByName<T> {
    fn lock(&self) -> MutexGuard<'_, Names<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, name: &Namespace, create: impl FnOnce() -> T) -> Arc<T> {
        let mut names = self.lock();
        let create = || Named { part: Arc::new(create()), created_by: None };
        Arc::clone(&names.0.entry(name.clone()).or_insert_with(create).part)
    }

    pub(super) fn spend(&self, budget: usize, maintain: impl Fn(&T, usize) -> usize) -> usize {
        let parts: Vec<_> = self.lock().0.values().map(|named| Arc::clone(&named.part)).collect();
        parts.iter().fold(0, |used, part| used + maintain(part, budget - used))
    }
}

impl<T: Send + Sync + 'static> ByName<T> {
    /// Creates the namespace if it does not exist. A rollback of the transaction `by` then removes the namespace,
    /// unless another caller has opened it. Fails if `is_same` refuses the options of an existing namespace.
    pub(super) fn open(
        &self,
        name: &Namespace,
        by: Option<&Open>,
        create: impl FnOnce() -> T,
        is_same: impl Fn(&T) -> Result<()>,
    ) -> Result<Arc<T>> {
        let mut names = self.lock();
        if let Some(known) = names.0.get_mut(name) {
            return known.open(by, is_same);
        }
        by.map_or(Ok(()), |by| by.touch(Touched::whole(&self.0)))?;
        let created = Named { part: Arc::new(create()), created_by: by.cloned() };
        Ok(Arc::clone(&names.0.entry(name.clone()).or_insert(created).part))
    }
}

impl<T> Named<T> {
    fn open(&mut self, by: Option<&Open>, is_same: impl Fn(&T) -> Result<()>) -> Result<Arc<T>> {
        match (self.created_by.take_if(|creator| by.is_none_or(|by| !by.is(creator))), is_same(&self.part)) {
            // The creator may still commit or roll back, so it is undecided whether the namespace keeps these options.
            (Some(creator), Err(_)) => {
                // Opening a part does not wait, so the refusal is not recorded for a call.
                let refused = creator.refuse(None);
                self.created_by = Some(creator);
                Err(refused)
            }
            (_, same) => same.map(|()| Arc::clone(&self.part)),
        }
    }
}

impl<T> Ending for Names<T> {
    const RANK: u8 = 2;

    fn end(&mut self, transaction: &Open, how: End) {
        self.0.retain(|_, named| {
            let is_ended = named.created_by.take_if(|creator| creator.is(transaction)).is_some();
            !(is_ended && how == End::Rollback)
        });
    }
}
