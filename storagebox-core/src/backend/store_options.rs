//! The options that every store over a network or a file has.

use std::time::Duration;

use crate::values::error::{Error, Result};
use crate::values::time::{Retention, checked_duration};

/// The options that the builders of all stores share. [`store_options!`](crate::store_options) gives a builder their
/// setters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// How long ended claims, gone tokens and ended operations must be remembered; `None` accepts the time that the
    /// store was created with.
    pub remember: Option<Retention>,
    /// How long a call may take.
    pub call_timeout: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { remember: None, call_timeout: Duration::from_secs(10) }
    }
}

impl StoreOptions {
    /// Checks the durations.
    ///
    /// # Errors
    ///
    /// `Misconfigured` if a duration is below one millisecond or above a hundred years.
    pub fn checked(&self) -> Result<()> {
        self.remember.unwrap_or(Retention::DEFAULT).checked().map_err(Error::of_configuration)?;
        checked_duration("call timeout", self.call_timeout).map_err(Error::of_configuration).map(drop)
    }
}

/// Writes the setters `remember` and `call_timeout` of a builder that has its
/// [`StoreOptions`](crate::backend::StoreOptions) in `self.settings.options`.
///
/// The first argument is the word for the object, such as a table, that stores the time for which a store remembers. A
/// comment on `call_timeout` is added to the documentation that all stores share.
///
/// ```
/// use storagebox_core::backend::StoreOptions;
///
/// #[derive(Default)]
/// struct Settings {
///     options: StoreOptions,
/// }
///
/// /// Builds a store.
/// #[derive(Default)]
/// pub struct Builder {
///     settings: Settings,
/// }
///
/// impl Builder {
///     storagebox_core::store_options! {
///         "table",
///         /// The time includes the wait for other processes.
///         call_timeout
///     }
/// }
///
/// let builder = Builder::default().call_timeout(std::time::Duration::from_secs(1));
/// assert_eq!(builder.settings.options.remember, None);
/// ```
#[macro_export]
macro_rules! store_options {
    ($keeper:literal, $(#[$more:meta])* call_timeout) => {
        /// Sets how long ended claims, gone tokens and ended operations are remembered. Defaults to 7 days.
        ///
        #[doc = concat!("A ", $keeper, " keeps the value that it was created with, and every call uses that value,")]
        #[doc = concat!("upkeep included. A program that does not set this opens a ", $keeper, " with any value.")]
        #[doc = concat!("A program that sets another value than the ", $keeper, " has gets `Misconfigured`.")]
        #[must_use]
        pub fn remember(mut self, retention: $crate::Retention) -> Self {
            self.settings.options.remember = Some(retention);
            self
        }

        /// Sets how long a call may take, its retries included. Defaults to 10 seconds. A call that takes longer
        /// returns `OutcomeUnknown`.
        $(#[$more])*
        #[must_use]
        pub fn call_timeout(mut self, timeout: ::std::time::Duration) -> Self {
            self.settings.options.call_timeout = timeout;
            self
        }
    };
}
