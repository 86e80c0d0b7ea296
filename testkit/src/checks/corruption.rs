//! Checks of a namespace that was changed without the library: repeatable calls, the calls of each part, and the damage
//! that no call notices.

pub mod bank;
pub mod counters;
pub mod entities;
pub mod ordered;
pub mod records;
pub mod rows;
pub mod tokens;

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;

use storagebox_core::Result;

pub use crate::call;

/// A future that fills a namespace.
pub type Filling<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

type Making = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// A call with its arguments.
pub struct Call {
    /// The name of the call, and of the item, id or key that the call is about.
    pub name: String,
    /// The number of round trips that the call makes on undamaged data.
    pub trips: usize,
    make: Box<dyn Fn() -> Making + Send + Sync>,
}

impl Call {
    /// Creates a call with this name. `make` makes the call.
    pub fn new(name: impl Into<String>, make: impl Fn() -> Making + Send + Sync + 'static) -> Self {
        Self { name: name.into(), trips: 0, make: Box::new(make) }
    }

    /// Makes the call once more.
    pub fn make(&self) -> Making {
        (self.make)()
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Creates a [`Call`] from its name, the values that it needs, and the call itself.
#[macro_export]
macro_rules! call {
    ($name:expr, [$($part:ident),*], $call:expr) => {{
        $(let $part = $part.clone();)*
        $crate::checks::corruption::Call::new($name, move || {
            $(#[allow(unused_variables, reason = "the name of a call may be all that it is for")]
            let $part = $part.clone();)*
            Box::pin(async move { $call.await.map(drop) })
        })
    }};
}

/// Damage that no call notices: the kind of row or key, the field, and the kinds of damage to the field. An empty field
/// stands for the whole row.
pub type Unnoticed = &'static [(&'static str, &'static str, &'static [&'static str])];

/// Returns each kind of damage in the table as a pair: the kind of row or key, and `field: damage`.
pub fn kinds(unnoticed: Unnoticed) -> BTreeSet<(String, String)> {
    let named = |field: &str, what: &str| if field.is_empty() { what.to_owned() } else { format!("{field}: {what}") };
    let of_field = |(row, field, all): &(&'static str, &'static str, &'static [&'static str])| {
        all.iter().map(|what| ((*row).to_owned(), named(field, what))).collect::<Vec<_>>()
    };
    unnoticed.iter().flat_map(of_field).collect()
}
