//! The parts of a backend, with a layer around each call.

use std::sync::{Arc, Mutex, PoisonError};

use super::next::BoxFuture;
use super::{Answered, Call, Kind, Layer, Next, Part};
use crate::backend::Maintained;
use crate::calls::calls;
use crate::error::{Error, Result};
use crate::settles::Settles;
use crate::value::BoxName;

/// A part with a layer around it.
pub(super) struct Around<P: ?Sized> {
    inner: Arc<P>,
    layer: Arc<dyn Layer>,
    backend: &'static str,
    part: Part,
    namespace: BoxName,
    recognises_repeats: bool,
}

impl<P: ?Sized> Around<P> {
    pub(super) fn new(
        inner: Arc<P>,
        layer: Arc<dyn Layer>,
        backend: &'static str,
        part: Part,
        namespace: BoxName,
    ) -> Self {
        Self { inner, layer, backend, part, namespace, recognises_repeats: true }
    }

    /// The same; `false` for a part that does not know a change again.
    pub(super) fn recognising_repeats(self, recognises_repeats: bool) -> Self {
        Self { recognises_repeats, ..self }
    }

    fn call(&self, operation: &'static str, kind: Kind) -> Call<'_> {
        Call {
            backend: self.backend,
            part: self.part,
            operation,
            namespace: Some(&self.namespace),
            kind,
            repeatable: self.recognises_repeats || kind != Kind::Change,
        }
    }
}

/// Makes the call through the layer. The outcome waits beside the layer, which has but the proof that there is one.
pub(super) async fn around<'a, T: Send + 'a>(
    layer: &dyn Layer,
    call: Call<'a>,
    settles: fn(&T) -> bool,
    make: impl Fn() -> BoxFuture<'a, Result<T>> + Send + Sync + 'a,
) -> Result<T> {
    let outcome = Mutex::new(None);
    let attempt = || -> BoxFuture<'_, Result<Answered>> {
        Box::pin(async {
            let found = make().await?;
            let answered = Answered::new(settles(&found));
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            Ok(answered)
        })
    };
    let _proof = layer.around(&call, Next::new(&call, &attempt)).await.map_err(|error| call.failed(error))?;
    let found = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    found.ok_or_else(|| call.failed(Error::unknown("a layer answered with the proof of another call")))
}

/// Whether an outcome of a call of this kind settles an earlier attempt. A batch says what it left and did.
macro_rules! settles {
    (Change) => {
        Settles::settles
    };
    ($other:ident) => {
        |_| true
    };
}

/// As in [`forward`](crate::forward), the lifetimes are those of `async_trait`.
macro_rules! layered {
    ($part:ident {
        $($kind:ident $method:ident<$($life:lifetime),*>($($arg:ident: $ty:ty),*) -> $out:ty;)*
    } $($tell:ident -> $told:ty)?) => {
        impl<P: $part + ?Sized> $part for Around<P> {
            $(
                fn $method<'s, $($life,)* 'f>(&'s self, $($arg: $ty),*) -> BoxFuture<'f, Result<$out>>
                where
                    's: 'f,
                    $($life: 'f,)*
                    Self: 'f,
                {
                    let call = self.call(stringify!($method), Kind::$kind);
                    let make = move || self.inner.$method($($arg),*);
                    Box::pin(around(&*self.layer, call, settles!($kind), make))
                }
            )*

            $(fn $tell(&self) -> $told {
                self.inner.$tell()
            })?
        }
    };
}

calls!(layered);
