//! Boxes that were opened.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::value::BoxName;

/// Boxes that were opened, so that handles of one name share one place, and calls of one kind can go together.
#[derive(Default)]
pub struct OpenBoxes(Mutex<HashMap<Named, Arc<dyn Any + Send + Sync>>>);

/// The kind of a box, its name, and how it was opened: another way is another handle, which the store will refuse.
type Named = (&'static str, BoxName, String);

impl OpenBoxes {
    /// The box of this kind, name and options; created if it was not opened before.
    ///
    /// # Errors
    ///
    /// Those of `create`.
    pub fn open<T: Send + Sync + 'static>(
        &self,
        kind: &'static str,
        name: &BoxName,
        options: String,
        create: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (kind, name.clone(), options);
        if let Some(known) = boxes.get(&key).and_then(|known| Arc::clone(known).downcast().ok()) {
            return Ok(known);
        }
        let created = Arc::new(create()?);
        boxes.insert(key, Arc::clone(&created) as _);
        Ok(created)
    }
}

impl fmt::Debug for OpenBoxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenBoxes").finish_non_exhaustive()
    }
}
