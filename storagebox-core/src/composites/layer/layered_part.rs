//! The parts of a backend, with a layer around each call.

use std::fmt;
use std::sync::Arc;

use super::argument::Argument;
use super::call::BoxFuture;
use super::layered::outcome_of;
use super::{Call, Layer, Next, OnePart, Part, Request, Response};
use crate::backend::calls::calls;
use crate::values::error::Result;
use crate::values::value::Namespace;

/// A part of a backend whose calls all go through a [`Layer`].
pub struct LayeredPart<P: ?Sized> {
    inner: Arc<P>,
    layer: Arc<dyn Layer>,
    backend: &'static str,
    part: Part,
    namespace: Option<Namespace>,
    recognises_repeats: Option<Duration>,
}

impl<P: OnePart + ?Sized> LayeredPart<P> {
    /// Wraps the part in the layer.
    pub fn new(inner: Arc<P>, layer: Arc<dyn Layer>) -> Self {
        let (part, recognises_repeats) = (inner.part(), inner.recognises_repeats());
        Self { inner, layer, backend: "", part, namespace: None, recognises_repeats }
    }

    pub(super) fn named(self, backend: &'static str, namespace: &Namespace) -> Self {
        Self { backend, namespace: Some(namespace.clone()), ..self }
    }
}

impl<P: ?Sized> fmt::Debug for LayeredPart<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, namespace, layer, .. } = self;
        let mut shown = f.debug_struct("LayeredPart");
        shown.field("part", part).field("namespace", namespace).field("layer", layer).finish_non_exhaustive()
    }
}

impl<P: ?Sized> LayeredPart<P> {
    fn call<'a>(&'a self, request: Request<'a>) -> Call<'a> {
        let repeats = self.recognises_repeats;
        Call { part: self.part, namespace: self.namespace.as_ref(), ..Call::new(self.backend, request, repeats) }
    }
}

/// Implements the trait of each part for `LayeredPart`.
macro_rules! layered {
    ($($part:ident $($tell:ident -> $told:ty)? {
        $($kind:ident $name:ident = $method:ident<$($life:lifetime),*>($($arg:ident: [$($ty:tt)*]),*) -> $out:ty;)*
    })*) => {$(
        impl<P: $part + ?Sized + 'static> $part for LayeredPart<P> {
            $(
                fn $method<'s, $($life,)* 'f>(&'s self, $($arg: $($ty)*),*) -> BoxFuture<'f, Result<$out>>
                where
                    's: 'f,
                    $($life: 'f,)*
                    Self: 'f,
                {
                    Box::pin(async move {
                        let call = self.call(Request::$name { $($arg),* });
                        let make = |_is_any_lost| -> BoxFuture<'_, Result<Response>> {
                            $(let $arg = Argument::after_lost($arg, _is_any_lost);)*
                            Box::pin(async move { self.inner.$method($($arg),*).await.map(Response::$name) })
                        };
                        let detach = |_is_any_lost| -> BoxFuture<'static, Result<Response>> {
                            let inner = Arc::clone(&self.inner);
                            $(let $arg = Argument::own(Argument::after_lost($arg, _is_any_lost));)*
                            Box::pin(async move {
                                inner.$method($(Argument::lend(&$arg)),*).await.map(Response::$name)
                            })
                        };
                        call.through(&*self.layer, Next::new(&call, &make, &detach), outcome_of!($name)).await
                    })
                }
            )*

            $(fn $tell(&self) -> $told {
                self.inner.$tell()
            })?
        }
    )*};
}

calls!(layered);
