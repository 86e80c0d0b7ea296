//! What all handles have in common: a handle has a part and its name, and accepts everything that converts into a
//! value.

mod add;
mod bank;
mod counters;
mod dedup;
mod ordered_values;
mod processors;
mod run;
mod tokens;
mod unfinished;

use storagebox_core::{Error, Result};

pub use add::Add;
pub use bank::Bank;
pub use counters::Counters;
pub use dedup::Dedup;
pub use ordered_values::OrderedValues;
pub use processors::ProcessorBuilder;
pub use run::{Run, RunToEnd};
pub use tokens::Tokens;
pub use unfinished::{Begin, Operation, Record, StampedWrite, Timed, Write};

/// Defines a handle type that has a part and its name, with `Clone` and `Debug`.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident of $part:ident) => {
        $(#[$doc])*
        ///
        /// Cheap to clone: clones share one part. Calls are retried and have a deadline, as [`Store`](crate::Store)
        /// describes; [within a transaction](crate::Within) they are made once.
        pub struct $name<P: ?Sized = dyn $part> {
            part: std::sync::Arc<P>,
            name: storagebox_core::Namespace,
        }

        impl<P: ?Sized> $name<P> {
            pub(crate) fn new(name: storagebox_core::Namespace, part: std::sync::Arc<P>) -> Self {
                Self { part, name }
            }
        }

        impl<P: ?Sized> Clone for $name<P> {
            fn clone(&self) -> Self {
                Self::new(self.name.clone(), std::sync::Arc::clone(&self.part))
            }
        }

        impl<P: ?Sized> std::fmt::Debug for $name<P> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("name", &self.name).finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use handle;

/// Converts into a value of storagebox: from the value itself, and from everything that [`TryInto`] converts, such as a
/// text.
///
/// Each type of a value lists its conversions. A text that breaks a limit of its type makes the call return
/// `InvalidInput` before any I/O.
pub trait IntoValue<V> {
    /// Returns the value.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` or `TooLarge` if the text or the bytes break a limit of the type.
    fn into_value(self) -> Result<V>;
}

impl<T: TryInto<V, Error: Into<Error>>, V> IntoValue<V> for T {
    fn into_value(self) -> Result<V> {
        self.try_into().map_err(Into::into)
    }
}

/// Converts each value. Fails if a value breaks a limit of its type.
pub(crate) fn all<V>(values: impl IntoIterator<Item: IntoValue<V>>) -> Result<Vec<V>> {
    values.into_iter().map(IntoValue::into_value).collect()
}
