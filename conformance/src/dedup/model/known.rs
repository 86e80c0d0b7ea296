//! The known state of one id, and the replies that it allows.

use std::collections::BTreeMap;
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, Entry, Fingerprint, Forgotten, Lease, LeaseExtended, OpId, Payload, Recorded, Replaced,
    Retention, Version,
};

use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::model::memory;

/// The time of a call, and the factor that lengthens all retentions on a real clock.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) now: Duration,
    pub(super) stretch: u32,
}

impl Moment {
    pub(super) fn stretched(self, retention: Retention) -> Retention {
        match retention {
            Retention::Forever => Retention::Forever,
            Retention::For(duration) => Retention::For(duration * self.stretch),
        }
    }

    fn end_of(self, retention: Retention) -> Option<Duration> {
        match retention {
            Retention::Forever => None,
            Retention::For(duration) => Some(self.now + duration),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    state: State,
    /// The ended operations, and the time until which the store must remember each operation. The store may remember an
    /// operation for longer.
    ended: BTreeMap<OpId, Duration>,
    versions: Vec<Version>,
    leases: Vec<Lease>,
}

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Vacant,
    Leased {
        lease: Lease,
        until: Duration,
        fingerprint: Option<Fingerprint>,
        /// Whether the fingerprint was taken over from an earlier, lapsed lease.
        is_inherited: bool,
    },
    /// The lease was aborted, and the id keeps the fingerprint that the lease had inherited from a lapsed lease.
    /// `since` is the time of the abort.
    Unsettled {
        fingerprint: Fingerprint,
        since: Duration,
    },
    Done(Done),
}

#[derive(Clone, Debug)]
struct Done {
    entry: Entry,
    op: OpId,
    lease: Option<Lease>,
    fingerprint: Option<Fingerprint>,
    replaced_by: Option<(OpId, Version)>,
    until: Option<Duration>,
}

impl Known {
    pub(super) fn expire(&mut self, now: Duration) {
        if let State::Done(Done { op, until: Some(until), .. }) = &self.state
            && *until <= now
        {
            self.ended.insert(op.clone(), *until + memory());
            self.state = State::Vacant;
        }
        if let State::Unsettled { since, .. } = &self.state
            && *since + memory() <= now
        {
            self.state = State::Vacant;
        }
    }

    /// Returns whether the operation has ended. `as_told` says whether the store's answer shows the end.
    fn has_ended(&mut self, op: &OpId, now: Duration, as_told: bool) -> bool {
        let may_forget = self.ended.get(op).is_some_and(|until| *until <= now);
        // An answer without the end shows that the store has forgotten the operation.
        if may_forget && !as_told {
            self.ended.remove(op);
        }
        self.ended.contains_key(op)
    }

    /// Forgets the lease if it lapsed long ago and the reply (`as_told`) shows that the store has forgotten it.
    fn forget_lapsed(&mut self, asked: &Lease, now: Duration, as_told: bool) {
        let may_forget = self.holding(asked).is_some_and(|until| *until + memory() <= now);
        if as_told && may_forget {
            self.state = State::Vacant;
        }
    }

    pub(super) fn entry(&self) -> Option<&Entry> {
        match &self.state {
            State::Done(done) => Some(&done.entry),
            State::Vacant | State::Unsettled { .. } | State::Leased { .. } => None,
        }
    }

    pub(super) fn version(&self, back: usize) -> Option<Version> {
        self.versions.iter().rev().nth(back).copied()
    }

    pub(super) fn lease(&self, back: usize) -> Option<Lease> {
        self.leases.iter().rev().nth(back).cloned()
    }

    fn add_version(&mut self, version: Version) -> Verdict {
        ensure!(!self.versions.contains(&version), "{version:?} was used before");
        self.versions.push(version);
        Ok(())
    }

    fn refuse<T>(&self, found: impl std::fmt::Debug) -> Result<T, Failure> {
        Err(Failure::new(format!("the reply is {found:?}, but the model is {self:#?}")))
    }

    pub(super) fn record(
        &mut self,
        moment: Moment,
        value: &Payload,
        op: &OpId,
        retention: Retention,
        found: Recorded,
    ) -> Verdict {
        if self.has_ended(op, moment.now, found == Recorded::Fenced) {
            ensure_eq!(found, Recorded::Fenced, "recording by an operation that has ended");
            return Ok(());
        }
        match (&self.state, &found) {
            (State::Done(done), Recorded::Again(entry)) if done.op == *op && done.entry == *entry => {
                return Ok(());
            }
            (State::Done(done), Recorded::Existing(entry)) if done.op != *op && done.entry == *entry => {
                return Ok(());
            }
            (State::Leased { until, .. }, Recorded::InFlight { remaining })
                if *until > moment.now && *remaining <= *until - moment.now =>
            {
                return Ok(());
            }
            (State::Vacant | State::Unsettled { .. }, Recorded::New(_)) => {}
            (State::Leased { until, .. }, Recorded::New(_)) if *until <= moment.now => {}
            _ => return self.refuse(found),
        }
        let Recorded::New(version) = found else { return self.refuse(found) };
        self.finish(moment, Entry { value: value.clone(), version }, op, None, retention)
    }

    fn finish(
        &mut self,
        moment: Moment,
        entry: Entry,
        op: &OpId,
        lease: Option<Lease>,
        retention: Retention,
    ) -> Verdict {
        self.add_version(entry.version)?;
        let fingerprint = match std::mem::take(&mut self.state) {
            State::Leased { fingerprint, .. } if lease.is_some() => fingerprint,
            _ => None,
        };
        let until = moment.end_of(retention);
        let op = op.clone();
        self.state = State::Done(Done { entry, op, lease, fingerprint, replaced_by: None, until });
        Ok(())
    }

    pub(super) fn replace(&mut self, version: Version, value: &Payload, op: &OpId, found: Replaced) -> Verdict {
        let State::Done(done) = &mut self.state else {
            ensure_eq!(found, Replaced::Stale(None), "replacing what is absent");
            return Ok(());
        };
        if done.replaced_by == Some((op.clone(), version)) {
            ensure_eq!(found, Replaced::Again(done.entry.version), "replacing again");
            return Ok(());
        }
        if done.entry.version != version {
            ensure_eq!(found, Replaced::Stale(Some(done.entry.clone())), "replacing another version");
            return Ok(());
        }
        let Replaced::Replaced(next) = found else { return self.refuse(found) };
        done.entry = Entry { value: value.clone(), version: next };
        done.replaced_by = Some((op.clone(), version));
        self.add_version(next)
    }

    pub(super) fn forget(&mut self, moment: Moment, version: Version, found: Forgotten) -> Verdict {
        let expected = match &self.state {
            State::Done(done) if done.entry.version == version => Forgotten::Forgotten,
            State::Done(done) => Forgotten::Stale(done.entry.clone()),
            State::Vacant | State::Unsettled { .. } | State::Leased { .. } => Forgotten::Absent,
        };
        ensure_eq!(found, expected, "forgetting {version:?}");
        if let (Forgotten::Forgotten, State::Done(done)) = (found, &self.state) {
            self.ended.insert(done.op.clone(), moment.now + memory());
            self.state = State::Vacant;
        }
        Ok(())
    }

    /// Returns the fingerprint that the id still has.
    fn fingerprint(&self, now: Duration) -> Option<&Fingerprint> {
        match &self.state {
            State::Vacant => None,
            // Upkeep makes no difference to the end of the fingerprint.
            State::Leased { until, .. } if *until + memory() <= now => None,
            State::Leased { fingerprint, .. } => fingerprint.as_ref(),
            State::Unsettled { fingerprint, .. } => Some(fingerprint),
            State::Done(done) => done.fingerprint.as_ref(),
        }
    }

    fn is_of_another(&self, asked: Option<&Fingerprint>, now: Duration) -> bool {
        self.fingerprint(now).zip(asked).is_some_and(|(known, asked)| known != asked)
    }

    fn is_free(&self, now: Duration) -> bool {
        match &self.state {
            State::Vacant | State::Unsettled { .. } => true,
            State::Leased { until, .. } => *until <= now,
            State::Done(_) => false,
        }
    }

    pub(super) fn begin(
        &mut self,
        moment: Moment,
        op: &OpId,
        duration: Duration,
        fingerprint: Option<&Fingerprint>,
        found: Begun,
    ) -> Verdict {
        if self.has_ended(op, moment.now, found == Begun::Fenced) {
            ensure_eq!(found, Begun::Fenced, "an ended op begins");
            return Ok(());
        }
        if self.is_of_another(fingerprint, moment.now) {
            ensure_eq!(found, Begun::Mismatch, "a begin with another fingerprint");
            return Ok(());
        }
        if self.is_free(moment.now) {
            let Begun::Started(lease) = found else { return self.refuse(found) };
            return self.start(lease, op, (moment.now, duration), fingerprint);
        }
        match (&self.state, &found) {
            (State::Done(done), Begun::Done(entry)) if done.entry == *entry => Ok(()),
            (State::Leased { lease, .. }, Begun::Started(same)) if lease == same && lease.op == *op => Ok(()),
            (State::Leased { lease, until, .. }, Begun::InFlight { remaining })
                if lease.op != *op && *remaining <= *until - moment.now =>
            {
                Ok(())
            }
            _ => self.refuse(found),
        }
    }

    fn start(
        &mut self,
        lease: Lease,
        op: &OpId,
        (now, duration): (Duration, Duration),
        asked: Option<&Fingerprint>,
    ) -> Verdict {
        ensure_eq!(lease.op, *op, "whose lease was started");
        let last = self.leases.last().map(|last| last.fence);
        ensure!(last < Some(lease.fence), "the fence {:?} was given after {last:?}", lease.fence);
        self.leases.push(lease.clone());
        let inherited = self.fingerprint(now).cloned();
        let (is_inherited, fingerprint) = (inherited.is_some(), inherited.or_else(|| asked.cloned()));
        self.state = State::Leased { lease, until: now + duration, fingerprint, is_inherited };
        Ok(())
    }

    /// Returns the end of the lease if it is the newest lease of the id and no call has ended it.
    fn holding(&mut self, lease: &Lease) -> Option<&mut Duration> {
        match &mut self.state {
            State::Leased { lease: held, until, .. } if held == lease => Some(until),
            _ => None,
        }
    }

    pub(super) fn complete(
        &mut self,
        moment: Moment,
        lease: &Lease,
        value: &Payload,
        retention: Retention,
        found: Completed,
    ) -> Verdict {
        if let State::Done(done) = &self.state
            && done.lease.as_ref() == Some(lease)
        {
            ensure_eq!(found, Completed::Again(done.entry.clone()), "completing again");
            return Ok(());
        }
        self.forget_lapsed(lease, moment.now, found == Completed::Fenced);
        if self.holding(lease).is_none() {
            ensure_eq!(found, Completed::Fenced, "completing what is over");
            return Ok(());
        }
        let Completed::Completed(entry) = found else { return self.refuse(found) };
        ensure_eq!(entry.value, *value, "the result that was recorded");
        self.finish(moment, entry, &lease.op, Some(lease.clone()), retention)
    }

    /// Expects `Aborted` if the operation has ended, whichever call and lease ended it.
    pub(super) fn abort(&mut self, moment: Moment, lease: &Lease, found: Aborted) -> Verdict {
        self.forget_lapsed(lease, moment.now, found == Aborted::Fenced);
        if self.holding(lease).is_some() {
            self.state = match std::mem::take(&mut self.state) {
                State::Leased { fingerprint: Some(fingerprint), is_inherited: true, .. } => {
                    State::Unsettled { fingerprint, since: moment.now }
                }
                _ => State::Vacant,
            };
            self.ended.insert(lease.op.clone(), moment.now + memory());
        }
        let has_ended = self.has_ended(&lease.op, moment.now, found == Aborted::Aborted);
        let expected = if has_ended { Aborted::Aborted } else { Aborted::Fenced };
        ensure_eq!(found, expected, "aborting {lease:?}");
        Ok(())
    }

    pub(super) fn extend(
        &mut self,
        moment: Moment,
        lease: &Lease,
        duration: Duration,
        found: LeaseExtended,
    ) -> Verdict {
        self.forget_lapsed(lease, moment.now, found == LeaseExtended::Fenced);
        let Some(until) = self.holding(lease) else {
            ensure_eq!(found, LeaseExtended::Fenced, "extending what is over");
            return Ok(());
        };
        *until = (*until).max(moment.now + duration);
        ensure_eq!(found, LeaseExtended::Extended, "extending a lease");
        Ok(())
    }
}
