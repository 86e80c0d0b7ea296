//! A call that can be made again and again.

use std::pin::Pin;

use storagebox_core::Result;

/// What fills a namespace.
pub(super) type Filling<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

type Making = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// A call with its arguments.
pub(super) struct Call {
    pub(super) name: String,
    /// How many round trips it takes where nothing is damaged.
    pub(super) trips: usize,
    make: Box<dyn Fn() -> Making + Send + Sync>,
}

impl Call {
    pub(super) fn new(name: impl Into<String>, make: impl Fn() -> Making + Send + Sync + 'static) -> Self {
        Self { name: name.into(), trips: 0, make: Box::new(make) }
    }

    pub(super) fn make(&self) -> Making {
        (self.make)()
    }
}

/// A call by its name, what it is made of, and itself.
macro_rules! call {
    ($name:expr, [$($part:ident),*], $call:expr) => {{
        $(let $part = $part.clone();)*
        $crate::corruption::call::Call::new($name, move || {
            $(#[allow(unused_variables, reason = "the name of a call may be all that it is for")]
            let $part = $part.clone();)*
            Box::pin(async move { $call.await.map(drop) })
        })
    }};
}

pub(super) use call;
