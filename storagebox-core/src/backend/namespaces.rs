//! The open namespaces of a backend.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::values::error::Result;
use crate::values::value::Namespace;

/// The open namespaces of a backend. All handles with the same name share one object, so that their calls of one kind
/// can be combined.
///
/// A program may open a namespace for each of its tenants, so a namespace is dropped when it has no handle left. Only
/// the namespaces opened last stay open without a handle, for a program that opens its namespace for each call.
#[derive(Default)]
pub struct OpenNamespaces(Mutex<Namespaces>);

#[derive(Default)]
struct Namespaces {
    known: HashMap<Named, Weak<dyn Any + Send + Sync>>,
    /// The namespaces that were opened last, which stay open even without a handle.
    last: VecDeque<Arc<dyn Any + Send + Sync>>,
    /// When `known` has this many entries, the entries of closed namespaces are removed.
    sweep_at: usize,
}

/// The kind, the name and the options of an open namespace. A namespace that is opened with two sets of options has two
/// objects.
type Named = (&'static str, Namespace, String);

/// The number of namespaces that stay open without a handle.
const STAY: usize = 64;

impl OpenNamespaces {
    /// Returns the namespace with this kind, name and options. Creates it if no handle to it exists.
    ///
    /// # Errors
    ///
    /// The errors of `create`.
    pub fn open<T: Send + Sync + 'static>(
        &self,
        kind: &'static str,
        name: &Namespace,
        options: String,
        create: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let mut namespaces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (kind, name.clone(), options);
        if let Some(known) = namespaces.get(&key) {
            return Ok(known);
        }
        let created = Arc::new(create()?);
        namespaces.remember(key, &created);
        Ok(created)
    }
}

impl Namespaces {
    fn get<T: Send + Sync + 'static>(&self, key: &Named) -> Option<Arc<T>> {
        self.known.get(key)?.upgrade()?.downcast().ok()
    }

    fn remember<T: Send + Sync + 'static>(&mut self, key: Named, created: &Arc<T>) {
        // The map is swept each time its size has doubled, so that the cost per namespace does not grow with the size.
        if self.known.len() >= self.sweep_at.max(2 * STAY) {
            self.known.retain(|_, known| known.strong_count() > 0);
            self.sweep_at = self.known.len() * 2;
        }
        let place: Weak<T> = Arc::downgrade(created);
        self.known.insert(key, place);
        self.last.push_back(Arc::clone(created) as _);
        if self.last.len() > STAY {
            self.last.pop_front();
        }
    }
}

impl fmt::Debug for OpenNamespaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenNamespaces").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tenant;

    fn open(namespaces: &OpenNamespaces, name: &str) -> Arc<Tenant> {
        let name = Namespace::new(name).unwrap();
        namespaces.open("bank", &name, String::new(), || Ok(Tenant)).unwrap()
    }

    fn known(namespaces: &OpenNamespaces) -> usize {
        namespaces.0.lock().unwrap().known.len()
    }

    #[test]
    fn namespaces_without_a_handle_are_forgotten() {
        let namespaces = OpenNamespaces::default();
        let kept: Vec<_> = (0..100).map(|number| open(&namespaces, &format!("kept-{number}"))).collect();
        let first = Arc::downgrade(&open(&namespaces, "tenant"));
        for number in 0..10_000 {
            open(&namespaces, &format!("tenant-{number}"));
        }
        assert!(first.upgrade().is_none(), "a namespace without a handle is kept");
        let most = 2 * (kept.len() + STAY);
        assert!(known(&namespaces) <= most, "{} namespaces are known", known(&namespaces));
        for (number, kept) in kept.iter().enumerate() {
            assert!(Arc::ptr_eq(kept, &open(&namespaces, &format!("kept-{number}"))), "{number} has two places");
        }
    }

    #[test]
    fn namespace_that_is_opened_for_each_call_is_created_once() {
        let (namespaces, mut made) = (OpenNamespaces::default(), 0);
        let name = Namespace::new("vouchers").unwrap();
        for _ in 0..10 {
            let create = || {
                made += 1;
                Ok(Tenant)
            };
            namespaces.open("bank", &name, String::new(), create).unwrap();
        }
        assert_eq!(made, 1);
    }
}
