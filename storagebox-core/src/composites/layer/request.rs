//! Requests with their arguments, and responses: one variant per operation of each part.

use std::fmt;

use super::Kind;
use crate::backend::calls::calls;

/// Expands to the type of an argument, in which `$new` replaces the lifetime.
macro_rules! argument {
    ($new:lifetime, & $life:lifetime $($of:tt)*) => { &$new $($of)* };
    ($new:lifetime, Option<& $life:lifetime $of:ty>) => { Option<&$new $of> };
    ($new:lifetime, $small:ty) => { $small };
}

macro_rules! requests {
    ($($part:ident $($tell:ident -> $told:ty)? {
        $($kind:ident $name:ident = $method:ident<$($life:lifetime),*>($($arg:ident: [$($ty:tt)*]),*) -> $out:ty;)*
    })*) => {
        /// An operation with its arguments.
        ///
        /// Ids may be names or addresses of people. `Debug` shows only the operation, and a log should show no more.
        #[derive(Clone, Copy)]
        #[non_exhaustive]
        pub enum Request<'a> {
            /// [`Backend::setup`](crate::Backend::setup)
            Setup,
            /// [`Backend::ping`](crate::Backend::ping)
            Ping,
            /// [`Backend::maintain`](crate::Backend::maintain)
            Maintain {
                /// The argument `max_entries`.
                max_entries: usize,
            },
            /// [`Backend::close`](crate::Backend::close)
            Close,
            $($(
                #[doc = concat!("[`", stringify!($part), "::", stringify!($method), "`](crate::", stringify!($part),
                    "::", stringify!($method), ")")]
                #[non_exhaustive]
                $name { $(
                    #[doc = concat!("The argument `", stringify!($arg), "`.")]
                    $arg: argument!('a, $($ty)*),
                )* },
            )*)*
        }

        impl Request<'_> {
            /// Returns the operation, such as `take`: the name of the trait's method, without `attempt_`.
            pub fn operation(&self) -> &'static str {
                match self {
                    Self::Setup => "setup",
                    Self::Ping => "ping",
                    Self::Maintain { .. } => "maintain",
                    Self::Close => "close",
                    $($(Self::$name { .. } => operation_of(stringify!($method)),)*)*
                }
            }

            /// Returns what the operation may do.
            pub fn kind(&self) -> Kind {
                match self {
                    Self::Ping => Kind::Read,
                    Self::Setup | Self::Maintain { .. } | Self::Close => Kind::Batch,
                    $($(Self::$name { .. } => Kind::$kind,)*)*
                }
            }
        }

        /// The outcome of an operation, on its way back through the layers.
        #[derive(Clone, Debug)]
        #[must_use = "the operation may have failed"]
        #[non_exhaustive]
        pub enum Response {
            /// The outcome of [`Request::Setup`].
            Setup(()),
            /// The outcome of [`Request::Ping`].
            Ping(()),
            /// The outcome of [`Request::Maintain`].
            Maintain(Maintained),
            /// The outcome of [`Request::Close`].
            Close(()),
            $($(
                #[doc = concat!("The outcome of [`Request::", stringify!($name), "`].")]
                $name($out),
            )*)*
        }
    };
}

calls!(requests);

impl Request<'_> {
    /// Returns whether the caller made the call before, with an unknown outcome.
    pub(super) fn is_repeated(&self) -> bool {
        match self {
            Self::Take { attempt, .. }
            | Self::ExtendClaim { attempt, .. }
            | Self::Confirm { attempt, .. }
            | Self::Retire { attempt, .. }
            | Self::Apply { attempt, .. } => attempt.is_repeated(),
            _ => false,
        }
    }
}

fn operation_of(method: &'static str) -> &'static str {
    method.strip_prefix("attempt_").unwrap_or(method)
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation())
    }
}
