//! All calls on one id, concurrently: some order of them explains every answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fastrand::Rng;
use storagebox_core::{
    Aborted, Begun, Completed, DedupId, DedupRepo, Entry, Forgotten, Lease, LeaseRepo, OpId, Payload, Recorded,
    Replaced, Retention, Version,
};

use super::one_id::{Call, OneId, Op, Reply};
use super::race_on;
use crate::dedup::{LONG, Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::history::{Limits, Recorder, check};
use crate::race::recorded;
use crate::world::World;

/// The values that callers have read, by version.
#[derive(Default)]
struct Versions(Mutex<BTreeMap<Version, Op>>);

impl Versions {
    fn note(&self, version: Version, value: Op) -> Verdict {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = *seen.entry(version).or_insert(value);
        ensure_eq!(value, first, "the value at {version:?}");
        Ok(())
    }
}

struct Caller {
    repos: Repos,
    place: DedupId,
    number: u16,
    turn: u16,
    rng: Rng,
    versions: Arc<Versions>,
    seen: Option<(Op, Version)>,
    lease: Option<(Op, Lease)>,
    last: Option<Call>,
}

fn name(number: Op) -> Result<OpId, Failure> {
    op(&format!("op-{number}"))
}

fn payload(number: Op) -> Result<Payload, Failure> {
    text(&number.to_string())
}

impl Caller {
    /// Chooses the next call, which may be a retry of the last call.
    fn choose(&mut self) -> Call {
        self.turn += 1;
        let op = self.number * 100 + self.turn;
        let choice = self.rng.u8(..10);
        let call = match (choice, self.last, self.seen, &self.lease) {
            (0, Some(last), ..) => last,
            (1, ..) => Call::Get,
            (2 | 3, _, Some((from, _)), _) => Call::Replace { from, op },
            (4, _, Some((from, _)), _) => Call::Forget { from },
            (5 | 6, .., Some((held, _))) => Call::Complete(*held),
            (7, .., Some((held, _))) => Call::Abort(*held),
            (5..=8, ..) => Call::Begin(op),
            _ => Call::Record(op),
        };
        self.last = Some(call);
        call
    }

    fn saw(&mut self, entry: &Entry) -> Result<Op, Failure> {
        let shown = String::from_utf8_lossy(entry.value.as_bytes()).into_owned();
        let value = shown.parse().map_err(|_| Failure::new(format!("no caller wrote the value {shown:?}")))?;
        self.put(value, entry.version)?;
        Ok(value)
    }

    fn put(&mut self, value: Op, version: Version) -> Verdict {
        self.versions.note(version, value)?;
        self.seen = Some((value, version));
        Ok(())
    }

    fn saw_any(&mut self, entry: Option<&Entry>) -> Result<Option<Op>, Failure> {
        entry.map(|entry| self.saw(entry)).transpose()
    }

    fn version_of(&self, value: Op) -> Result<Version, Failure> {
        let seen = self.versions.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = seen.iter().find(|(_, noted)| **noted == value).map(|(version, _)| *version);
        found.ok_or_else(|| Failure::new(format!("no caller saw the value {value}")))
    }

    /// Makes the call. Returns `None` if its outcome is unknown.
    async fn make(&mut self, call: Call) -> Result<Option<Reply>, Failure> {
        match call {
            Call::Record(op) => self.record(op).await,
            Call::Get => self.get().await,
            Call::Replace { from, op } => self.replace(from, op).await,
            Call::Forget { from } => self.forget(from).await,
            Call::Begin(op) => self.begin(op).await,
            Call::Complete(op) => self.complete(op).await,
            Call::Abort(op) => self.abort(op).await,
        }
    }

    async fn get(&mut self) -> Result<Option<Reply>, Failure> {
        let Some(entry) = recorded(|| self.repos.records.get(&self.place)).await? else { return Ok(None) };
        Ok(Some(Reply::Read(self.saw_any(entry.as_ref())?)))
    }

    async fn record(&mut self, op: Op) -> Result<Option<Reply>, Failure> {
        let (value, who) = (payload(op)?, name(op)?);
        let call = || self.repos.records.record(&self.place, &value, &who, Retention::Forever);
        let Some(recorded) = recorded(call).await? else { return Ok(None) };
        Ok(Some(match recorded {
            Recorded::New(version) => self.put(op, version).map(|()| Reply::New)?,
            Recorded::Again(entry) => Reply::Again(self.saw(&entry)?),
            Recorded::Existing(entry) => Reply::Existing(self.saw(&entry)?),
            Recorded::InFlight { .. } => Reply::InFlight,
            Recorded::Fenced => Reply::Fenced,
        }))
    }

    async fn replace(&mut self, from: Op, op: Op) -> Result<Option<Reply>, Failure> {
        let version = self.version_of(from)?;
        let (value, who) = (payload(op)?, name(op)?);
        let call = || self.repos.records.replace(&self.place, version, &value, &who);
        let Some(replaced) = recorded(call).await? else { return Ok(None) };
        Ok(Some(match replaced {
            Replaced::Replaced(version) => self.put(op, version).map(|()| Reply::Replaced)?,
            Replaced::Again(version) => self.put(op, version).map(|()| Reply::ReplacedBefore(op))?,
            Replaced::Stale(entry) => Reply::Stale(self.saw_any(entry.as_ref())?),
        }))
    }

    async fn forget(&mut self, from: Op) -> Result<Option<Reply>, Failure> {
        let version = self.version_of(from)?;
        let call = || self.repos.records.forget(&self.place, version);
        let Some(forgotten) = recorded(call).await? else { return Ok(None) };
        Ok(Some(match forgotten {
            Forgotten::Forgotten => Reply::Forgotten,
            Forgotten::Absent => Reply::Stale(None),
            Forgotten::Stale(entry) => Reply::Stale(Some(self.saw(&entry)?)),
        }))
    }

    async fn begin(&mut self, op: Op) -> Result<Option<Reply>, Failure> {
        let who = name(op)?;
        let call = || self.repos.leases.begin(&self.place, &who, LONG, None);
        let Some(begun) = recorded(call).await? else { return Ok(None) };
        Ok(Some(match begun {
            Begun::Started(lease) => {
                let same = self.lease.as_ref().is_none_or(|(held, known)| *held != op || *known == lease);
                ensure!(same, "one op was given the lease {lease:?} after {:?}", self.lease);
                self.lease = Some((op, lease));
                Reply::Started
            }
            Begun::InFlight { .. } => Reply::InFlight,
            Begun::Done(entry) => Reply::Existing(self.saw(&entry)?),
            Begun::Fenced => Reply::Fenced,
            Begun::Mismatch => return Err(Failure::new("a mismatch without fingerprints")),
        }))
    }

    fn lease(&self, op: Op) -> Result<Lease, Failure> {
        let lease = self.lease.clone().filter(|(held, _)| *held == op).map(|(_, lease)| lease);
        lease.ok_or_else(|| Failure::new("the caller has no lease of this operation"))
    }

    async fn complete(&mut self, op: Op) -> Result<Option<Reply>, Failure> {
        let (lease, result) = (self.lease(op)?, payload(op)?);
        let call = || self.repos.leases.complete(&lease, &result, Retention::Forever);
        let Some(completed) = recorded(call).await? else { return Ok(None) };
        Ok(Some(match completed {
            Completed::Completed(entry) => {
                ensure_eq!(self.saw(&entry)?, op, "the result that was recorded");
                Reply::Completed
            }
            Completed::Again(entry) => Reply::Again(self.saw(&entry)?),
            Completed::Fenced => Reply::Fenced,
        }))
    }

    async fn abort(&self, op: Op) -> Result<Option<Reply>, Failure> {
        let lease = self.lease(op)?;
        let aborted = recorded(|| self.repos.leases.abort(&lease)).await?;
        Ok(aborted.map(|aborted| match aborted {
            Aborted::Aborted => Reply::Aborted,
            Aborted::Fenced => Reply::Fenced,
        }))
    }
}

pub(in crate::dedup) async fn racing_calls_are_linearizable(world: &World) -> Verdict {
    for round in 0..world.profile().rounds * 4 {
        let (place, recorder) = (id(&format!("place-{round}"))?, Arc::new(Recorder::new()));
        let (versions, seed) = (Arc::<Versions>::default(), world.rng().u64(..));
        race_on(world, 6, |number, repos| {
            let number = u16::try_from(number).unwrap_or_default();
            let rng = Rng::with_seed(seed.wrapping_add(number.into()));
            let (place, versions) = (place.clone(), Arc::clone(&versions));
            let caller = Caller { repos, place, number, turn: 0, rng, versions, seen: None, lease: None, last: None };
            call_often(caller, Arc::clone(&recorder))
        })
        .await?;
        let verdict = check(&OneId, &recorder.history(), Limits::default());
        ensure!(verdict.is_linearizable(), "in round {round}: {verdict}");
    }
    Ok(())
}

async fn call_often(mut caller: Caller, recorder: Arc<Recorder<Call, Reply>>) -> Verdict {
    for _ in 0..8 {
        let call = caller.choose();
        let pending = recorder.invoke(caller.number.into(), call);
        // Without a reply the attempt may have had an effect or not, and stays pending.
        if let Some(reply) = caller.make(call).await? {
            pending.respond(reply);
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}
