//! Implements each trait for `Arc<dyn Trait>`, so a handle can be used wherever an implementation can, and `Debug` for
//! `dyn Trait`, so a struct that holds a handle can derive it.
//!
//! The methods return the inner future as it is. An `async fn` would box each future a second time.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;

use crate::backend::calls::calls;
use crate::composites::transaction::InTransaction;
use crate::contract::backend::Backend;
use crate::contract::ordered_store::OrderedOptions;
use crate::contract::promises::Promises;
use crate::contract::strategy::Strategy;
use crate::values::error::Result;
use crate::values::value::Namespace;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

macro_rules! forward {
    ($($part:ident $($tell:ident -> $told:ty)? {
        $($kind:ident $name:ident = $method:ident<$($life:lifetime),*>($($arg:ident: [$($ty:tt)*]),*) -> $out:ty;)*
    })*) => {$(
        /// Shows only the name of the trait, because an implementation holds items and connections.
        impl fmt::Debug for dyn $part + '_ {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($part))
            }
        }

        impl<T: $part + ?Sized> $part for Arc<T> {
            $(
                fn $method<'s, $($life,)* 'f>(&'s self, $($arg: $($ty)*),*) -> BoxFuture<'f, Result<$out>>
                where
                    's: 'f,
                    $($life: 'f,)*
                    Self: 'f,
                {
                    (**self).$method($($arg),*)
                }
            )*

            $(fn $tell(&self) -> $told {
                (**self).$tell()
            })?
        }
    )*};
}

calls!(forward);

#[async_trait]
impl<T: Backend + ?Sized> Backend for Arc<T> {
    fn backend(&self) -> &'static str {
        (**self).backend()
    }

    async fn setup(&self) -> Result<()> {
        (**self).setup().await
    }

    async fn ping(&self) -> Result<()> {
        (**self).ping().await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        (**self).maintain(max_entries).await
    }

    async fn close(&self) -> Result<()> {
        (**self).close().await
    }

    fn promises(&self) -> Promises {
        (**self).promises()
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        (**self).item_bank(name)
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        (**self).dedup_repo(name)
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        (**self).lease_repo(name)
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        (**self).token_store(name)
    }

    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        (**self).entity_ledger(name, joins)
    }

    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        (**self).counter(name, strategy)
    }

    fn ledger(&self, name: &Namespace) -> Result<Arc<dyn Ledger>> {
        (**self).ledger(name)
    }

    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        (**self).ordered_store(name, options)
    }

    fn within<'t>(&self, connection: &'t mut (dyn Any + Send)) -> Result<InTransaction<'t>> {
        (**self).within(connection)
    }
}
