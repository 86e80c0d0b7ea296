//! Calls that still need an argument, such as an operation id: no such call can be awaited before it has the argument.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use storagebox_core::{
    Begun, DedupId, DedupRepo, Extended, Fingerprint, Hold, LeaseRepo, OpId, Payload, Recorded, Result, Retention,
    Stamp, WriterId,
};

use crate::handles::IntoValue;

pub(crate) type Made<'a, R> = Pin<Box<dyn Future<Output = Result<R>> + Send + 'a>>;

/// Defines a type for a call that needs one more argument. Its `Debug` shows no values.
macro_rules! call {
    ($(#[$doc:meta])* $name:ident of $argument:ty) => {
        $(#[$doc])*
        #[must_use = "the call is made by the step that completes it"]
        pub struct $name<'a, R> {
            call: Box<dyn FnOnce($argument) -> Made<'a, R> + Send + 'a>,
        }

        impl<'a, R> $name<'a, R> {
            pub(crate) fn new(call: impl FnOnce($argument) -> Made<'a, R> + Send + 'a) -> Self {
                Self { call: Box::new(call) }
            }
        }

        impl<R> fmt::Debug for $name<'_, R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

call! {
    /// A call that needs an operation id. [`by`](Operation::by) makes the call.
    Operation of OpId
}

call! {
    /// A call that needs the duration of a hold. [`for_at_most`](Timed::for_at_most) makes the call.
    Timed of Hold
}

call! {
    /// A write that needs its stamp. [`at`](Write::at) sets the time, and then [`by`](StampedWrite::by) makes the
    /// write.
    Write of Stamp
}

impl<R> Operation<'_, R> {
    /// Makes the call under this operation id. After an error or a dropped future, make the same call again with the
    /// same id.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the id breaks its limit, and the errors of the call.
    pub async fn by(self, op: impl IntoValue<OpId>) -> Result<R> {
        (self.call)(op.into_value()?).await
    }
}

impl<R> Timed<'_, R> {
    /// Makes the call. The hold ends by itself after this time. After an error or a dropped future, make the same call
    /// again.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the hold is shorter than 1 ms or longer than a hundred years, and the errors of the
    /// call.
    pub async fn for_at_most(self, time: Duration) -> Result<R> {
        (self.call)(Hold::For(time)).await
    }
}

impl Timed<'_, Extended> {
    /// Makes the hold last until the claim is released. After an error or a dropped future, make the same call again.
    ///
    /// # Errors
    ///
    /// The errors of the call.
    pub async fn forever(self) -> Result<Extended> {
        (self.call)(Hold::Forever).await
    }
}

impl<'a, R> Write<'a, R> {
    /// Sets the time of the write, in milliseconds since 1970, or its sequence number.
    pub fn at(self, at: i64) -> StampedWrite<'a, R> {
        StampedWrite { write: self, at }
    }
}

/// A write that needs its writer. [`by`](StampedWrite::by) makes it.
#[derive(Debug)]
#[must_use = "the call is made by the step that completes it"]
pub struct StampedWrite<'a, R> {
    write: Write<'a, R>,
    at: i64,
}

impl<R> StampedWrite<'_, R> {
    /// Makes the write as this writer's. After an error or a dropped future, make the same write again with the same
    /// stamp.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the writer breaks its limit, and the errors of the call.
    pub async fn by(self, writer: impl IntoValue<WriterId>) -> Result<R> {
        (self.write.call)(Stamp::new(self.at, writer.into_value()?)).await
    }
}

/// A record that needs its operation id. [`by`](Record::by) makes it.
#[must_use = "the call is made by the step that completes it"]
pub struct Record<'a, R: ?Sized = dyn DedupRepo> {
    records: Result<&'a R>,
    of: Result<(DedupId, Payload)>,
    retention: Retention,
}

impl<'a, R: DedupRepo + ?Sized> Record<'a, R> {
    pub(crate) fn new(records: Result<&'a R>, of: Result<(DedupId, Payload)>) -> Self {
        Self { records, of, retention: Retention::DEFAULT }
    }

    /// Sets how long the record is kept. Defaults to 7 days.
    pub fn keep(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Records the value under this operation id. After an error or a dropped future, make the same call again with the
    /// same id.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if an id breaks its limit, or the retention is shorter than 1 ms or longer than a hundred
    /// years.
    pub async fn by(self, op: impl IntoValue<OpId>) -> Result<Recorded> {
        let (id, value) = self.of?;
        self.records?.record(&id, &value, &op.into_value()?, self.retention).await
    }
}

/// The default duration of a lease, also for a run.
const LEASE: Duration = Duration::from_secs(30);

/// The beginning of a lease, which needs its operation id. [`by`](Begin::by) makes it.
#[must_use = "the call is made by the step that completes it"]
pub struct Begin<'a, L: ?Sized = dyn LeaseRepo> {
    leases: Result<&'a L>,
    of: Result<(DedupId, Option<Fingerprint>)>,
    lease: Duration,
}

impl<'a, L: LeaseRepo + ?Sized> Begin<'a, L> {
    pub(crate) fn new(leases: Result<&'a L>, id: Result<DedupId>) -> Self {
        Self { leases, of: id.map(|id| (id, None)), lease: LEASE }
    }

    /// Sets how long the lease lasts without an extension. Defaults to 30 seconds.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets the fingerprint of the request: the same id with another fingerprint returns `Mismatch` (D-6).
    pub fn fingerprint(mut self, fingerprint: impl IntoValue<Fingerprint>) -> Self {
        self.of = self.of.and_then(|(id, _)| Ok((id, Some(fingerprint.into_value()?))));
        self
    }

    /// Begins under this operation id. After an error or a dropped future, make the same call again with the same id.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if an id or the fingerprint breaks its limit, or the lease is shorter than 1 ms or longer
    /// than a hundred years.
    pub async fn by(self, op: impl IntoValue<OpId>) -> Result<Begun> {
        let (id, fingerprint) = self.of?;
        self.leases?.begin(&id, &op.into_value()?, self.lease, fingerprint.as_ref()).await
    }
}

impl<R: ?Sized> fmt::Debug for Record<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("of", &self.of).field("retention", &self.retention).finish_non_exhaustive()
    }
}

impl<L: ?Sized> fmt::Debug for Begin<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begin").field("of", &self.of).field("lease", &self.lease).finish_non_exhaustive()
    }
}
