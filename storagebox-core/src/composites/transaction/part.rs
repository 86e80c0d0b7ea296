//! A part whose calls run within a transaction.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::{Connection, drive};
use crate::backend::calls::calls;
use crate::values::error::Result;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A part of a store whose calls run within a transaction of the caller.
pub struct TransactionPart<'t, P: ?Sized> {
    inner: Arc<P>,
    connection: Connection<'t>,
}

impl<'t, P: ?Sized> TransactionPart<'t, P> {
    pub(super) fn new(inner: Arc<P>, connection: Connection<'t>) -> Self {
        Self { inner, connection }
    }
}

impl<P: ?Sized> Clone for TransactionPart<'_, P> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), connection: Arc::clone(&self.connection) }
    }
}

impl<P: ?Sized> fmt::Debug for TransactionPart<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransactionPart").finish_non_exhaustive()
    }
}

/// Implements the trait of each part for `TransactionPart`.
macro_rules! in_transaction {
    ($($part:ident $($tell:ident -> $told:ty)? {
        $($kind:ident $name:ident = $method:ident<$($life:lifetime),*>($($arg:ident: [$($ty:tt)*]),*) -> $out:ty;)*
    })*) => {$(
        impl<P: $part + ?Sized> $part for TransactionPart<'_, P> {
            $(
                fn $method<'s, $($life,)* 'f>(&'s self, $($arg: $($ty)*),*) -> BoxFuture<'f, Result<$out>>
                where
                    's: 'f,
                    $($life: 'f,)*
                    Self: 'f,
                {
                    Box::pin(drive(&self.connection, self.inner.$method($($arg),*)))
                }
            )*

            $(fn $tell(&self) -> $told {
                self.inner.$tell()
            })?
        }
    )*};
}

calls!(in_transaction);
