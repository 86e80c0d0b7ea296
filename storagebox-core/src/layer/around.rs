//! The parts of a backend, with a layer around each call.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::argument::{Argument, Arguments, offer};
use super::next::BoxFuture;
use super::{Answered, Call, Kind, Layer, Next, OnePart, Part};
use crate::backend::Maintained;
use crate::calls::calls;
use crate::error::{Error, ErrorKind, Result};
use crate::settles::Settles;
use crate::value::Namespace;

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
    fn call<'a>(&'a self, operation: &'static str, kind: Kind, arguments: Arguments<'a>) -> Call<'a> {
        Call {
            backend: self.backend,
            part: self.part,
            operation,
            namespace: self.namespace.as_ref(),
            kind,
            repeatable: self.recognises_repeats.is_some() || kind != Kind::Change,
            remembered: self.recognises_repeats.unwrap_or_default(),
            arguments,
        }
    }
}

/// Makes the call through the layer. `detach` makes it with a copy of its arguments.
pub(super) async fn around<'a, T: Send + 'static>(
    layer: &dyn Layer,
    call: Call<'a>,
    settles: fn(&T) -> bool,
    make: impl Fn() -> BoxFuture<'a, Result<T>> + Send + Sync + 'a,
    detach: impl Fn() -> BoxFuture<'static, Result<T>> + Send + Sync + 'a,
) -> Result<T> {
    let make = || answered(make(), settles);
    let detach = || answered(detach(), settles);
    let answer = layer.around(&call, Next::new(&call, &make, &detach)).await;
    let outcome = answer.map_err(|error| call.failed(error))?.into_outcome();
    outcome.ok_or_else(|| {
        call.failed(Error::new(of_no_answer(call.kind), "a layer answered with the outcome of another call"))
    })
}

/// Returns the kind of the error for a call of this kind whose outcome was not reported.
pub(super) fn of_no_answer(kind: Kind) -> ErrorKind {
    match kind {
        Kind::Read => ErrorKind::Unavailable,
        Kind::Change | Kind::Batch => ErrorKind::OutcomeUnknown,
    }
}

fn answered<'a, T: Send + 'static>(
    made: BoxFuture<'a, Result<T>>,
    settles: fn(&T) -> bool,
) -> BoxFuture<'a, Result<Answered>> {
    Box::pin(async move {
        let outcome = made.await?;
        let settles = settles(&outcome);
        Ok(Answered::of(outcome).settling(settles))
    })
}

/// Returns the function that says whether an outcome settles an earlier attempt. The outcome of a batch always does: it
/// reports what the batch did and what it left.
macro_rules! settles {
    (Change) => {
        Settles::settles
    };
    ($other:ident) => {
        |_| true
    };
}

/// The lifetimes are those of `async_trait`, as in [`forward`](crate::forward).
macro_rules! layered {
    ($part:ident {
        $($kind:ident $method:ident<$($life:lifetime),*>($($arg:ident: $ty:ty),*) -> $out:ty;)*
    } $($tell:ident -> $told:ty)?) => {
        impl<P: $part + ?Sized + 'static> $part for LayeredPart<P> {
            $(
                fn $method<'s, $($life,)* 'f>(&'s self, $($arg: $ty),*) -> BoxFuture<'f, Result<$out>>
                where
                    's: 'f,
                    $($life: 'f,)*
                    Self: 'f,
                {
                    Box::pin(async move {
                        let arguments = move |_place: &mut dyn Any| { $(offer($arg, _place);)* };
                        let call = self.call(stringify!($method), Kind::$kind, Arguments(&arguments));
                        let make = move || self.inner.$method($($arg),*);
                        let detach = move || -> BoxFuture<'static, Result<$out>> {
                            let inner = Arc::clone(&self.inner);
                            $(let $arg = Argument::own($arg);)*
                            Box::pin(async move { inner.$method($(Argument::lend(&$arg)),*).await })
                        };
                        around(&*self.layer, call, settles!($kind), make, detach).await
                    })
                }
            )*

            $(fn $tell(&self) -> $told {
                self.inner.$tell()
            })?
        }
    };
}

calls!(layered);
