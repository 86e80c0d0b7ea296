//! The decision table of records and leases.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Begun, DedupId, DedupRepo, Fingerprint, Lease, LeaseRepo, OpId, Payload, Retention, async_trait,
};

use super::Age::{self, LongAgo, Recent};
use super::{Cell, IMPOSSIBLE, ROUNDS, Scene, Table, brief};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

const TEN: Option<&str> = Some("ten");

/// The duration of a lease that does not expire during the case.
const LONG: Duration = Duration::from_secs(3_600);

/// The duration of a lease that outlasts the memory of ended operations.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);

const NONE: &str = IMPOSSIBLE;

pub(super) const TABLE: Table = Table {
    title: "An id of records and leases",
    about: "The calls are of the operation `ada`; `complete`, `abort` and `extend` have the last lease of `ada`. Every \
            lease names one fingerprint, if nothing\nelse is said, and `begin` names the same; `begin another request` \
            names another fingerprint.",
    calls: &["record", "begin", "begin another request", "complete", "abort", "extend", "get"],
    rows: &[
        ("nothing is there", &["New", "Started", "Started", NONE, NONE, NONE, "None"]),
        ("`ada` recorded it", &["Again", "Done", "Done", NONE, NONE, NONE, "Some"]),
        ("another recorded it", &["Existing", "Done", "Done", NONE, NONE, NONE, "Some"]),
        ("`ada` has a lease", &["InFlight", "Started", "Mismatch", "Completed", "Aborted", "Extended", "None"]),
        ("another has a lease", &["InFlight", "InFlight", "Mismatch", NONE, NONE, NONE, "None"]),
        ("the lease of `ada` lapsed", &["New", "Started", "Mismatch", "Completed", "Aborted", "Extended", "None"]),
        (
            "it lapsed, and another began without a fingerprint",
            &["InFlight", "InFlight", "Mismatch", "Fenced", "Fenced", "Fenced", "None"],
        ),
        ("the lease of another lapsed", &["New", "Started", "Mismatch", NONE, NONE, NONE, "None"]),
        (
            "it lapsed, and a third operation began and aborted",
            &["New", "Started", "Mismatch", NONE, NONE, NONE, "None"],
        ),
        ("the lease of another lapsed without a fingerprint", &["New", "Started", "Started", NONE, NONE, NONE, "None"]),
        ("`ada` completed its lease", &["Again", "Done", "Mismatch", "Again", "Fenced", "Fenced", "Some"]),
        ("`ada` aborted its lease", &["Fenced", "Fenced", "Fenced", "Fenced", "Aborted", "Fenced", "None"]),
        ("another aborted its lease", &["New", "Started", "Started", NONE, NONE, NONE, "None"]),
        ("the record of `ada` was forgotten", &["Fenced", "Fenced", "Fenced", NONE, NONE, NONE, "None"]),
        ("the result of another was forgotten", &["New", "Started", "Started", NONE, NONE, NONE, "None"]),
        ("the record of `ada` has expired", &["Fenced", "Fenced", "Fenced", NONE, NONE, NONE, "None"]),
        (
            "the lease of `ada` lapsed long ago",
            &["New", "Started", "Started", "Completed|Fenced", "Aborted|Fenced", "Extended|Fenced", "None"],
        ),
        ("the lease of another lapsed long ago", &["New", "Started", "Started", NONE, NONE, NONE, "None"]),
        (
            "`ada` aborted its lease long ago",
            &["New|Fenced", "Started|Fenced", "Started|Fenced", "Fenced", "Aborted|Fenced", "Fenced", "None"],
        ),
        (
            "the record of `ada` was forgotten long ago",
            &["New|Fenced", "Started|Fenced", "Started|Fenced", NONE, NONE, NONE, "None"],
        ),
        (
            "the record of `ada` expired long ago",
            &["New|Fenced", "Started|Fenced", "Started|Fenced", NONE, NONE, NONE, "None"],
        ),
    ],
};

const STATES: [(State, Age); 21] = [
    (State::Absent, Recent),
    (State::Recorded, Recent),
    (State::RecordedByAnother, Recent),
    (State::Leased, Recent),
    (State::LeasedByAnother, Recent),
    (State::Lapsed, Recent),
    (State::Overtaken, Recent),
    (State::LapsedOfAnother, Recent),
    (State::LapsedAndAborted, Recent),
    (State::LapsedUnnamed, Recent),
    (State::Completed, Recent),
    (State::Aborted, Recent),
    (State::AbortedByAnother, Recent),
    (State::Forgotten, Recent),
    (State::ForgottenResult, Recent),
    (State::Expired, Recent),
    (State::Lapsed, LongAgo),
    (State::LapsedOfAnother, LongAgo),
    (State::Aborted, LongAgo),
    (State::Forgotten, LongAgo),
    (State::Expired, LongAgo),
];

#[derive(Clone, Copy)]
enum State {
    Absent,
    Recorded,
    RecordedByAnother,
    Leased,
    LeasedByAnother,
    Lapsed,
    Overtaken,
    LapsedOfAnother,
    LapsedAndAborted,
    LapsedUnnamed,
    Completed,
    Aborted,
    AbortedByAnother,
    Forgotten,
    ForgottenResult,
    Expired,
}

struct Id {
    short: Duration,
    cell: Cell,
    records: Arc<dyn DedupRepo>,
    leases: Arc<dyn LeaseRepo>,
    id: DedupId,
    ada: OpId,
    kim: OpId,
    lease: Option<Lease>,
}

pub(crate) async fn an_id_is_answered_by_its_table(world: &World) -> Verdict {
    let others = Others::put(world).await?;
    for round in ROUNDS {
        let ids: Vec<Id> = TABLE.ask(world, round, |state| STATES[state].1).await?;
        ensure_listed(&ids).await?;
        others.ensure_there(world).await?;
    }
    Ok(())
}

/// Ids that the calls under test must not change.
struct Others {
    recorded: DedupId,
    leased: Lease,
}

impl Others {
    async fn put(world: &World) -> Result<Self, Failure> {
        let (recorded, leased) = (DedupId::new("recorded")?, DedupId::new("leased")?);
        let _ = world.dedup()?.record(&recorded, &value()?, &"kim".parse()?, Retention::Forever).await?;
        let begun = world.leases()?.begin(&leased, &"kim".parse()?, YEAR, None).await?;
        Ok(Self { recorded, leased: ensure_matches!(begun, Begun::Started(lease) => lease, "beginning") })
    }

    async fn ensure_there(&self, world: &World) -> Verdict {
        ensure!(world.dedup()?.get(&self.recorded).await?.is_some(), "another id's record is gone");
        let begun = world.leases()?.begin(&self.leased.id, &self.leased.op, YEAR, None).await?;
        ensure_eq!(begun, Begun::Started(self.leased.clone()), "another id's lease");
        Ok(())
    }
}

/// Checks that a listing shows exactly the ids that have a record.
async fn ensure_listed(ids: &[Id]) -> Verdict {
    let Some(Id { records, .. }) = ids.first() else { return Ok(()) };
    let page = records.list(None, 1_000).await?;
    let listed: BTreeSet<_> = page.entries.into_iter().map(|entry| entry.id).collect();
    for Id { id, cell, .. } in ids {
        let is_there = records.get(id).await?.is_some();
        ensure_eq!(listed.contains(id), is_there, "whether an id is listed where {}", TABLE.rows[cell.state].0);
    }
    Ok(())
}

#[async_trait]
impl Scene for Id {
    async fn begun(world: &World, cell: Cell) -> Result<Self, Failure> {
        let (id, ada, kim) = (DedupId::new(cell.name.as_str())?, OpId::new("ada")?, OpId::new("kim")?);
        let (records, leases) = (world.dedup()?, world.leases()?);
        let mut scene = Self { short: world.short(), cell, records, leases, id, ada, kim, lease: None };
        scene.begin_state().await?;
        Ok(scene)
    }

    async fn completed(&mut self) -> Verdict {
        match STATES[self.cell.state].0 {
            State::Overtaken => drop(self.begin(&self.kim, LONG, None).await?),
            State::LapsedAndAborted => self.abort(&self.begin(&OpId::new("joe")?, LONG, TEN).await?).await?,
            _ => {}
        }
        Ok(())
    }

    async fn ask(&self) -> Verdict {
        let before = self.records.get(&self.id).await?;
        let (answer, begun) = self.answer().await?;
        TABLE.ensure(self.cell.place(), &answer)?;
        self.ensure_fence(begun.as_ref())?;
        let (again, begun_again) = self.answer().await?;
        let expected = if matches!(answer.as_str(), "New" | "Completed") { "Again" } else { &answer };
        TABLE.ensure_after(self.cell.place(), "the same call", &again, expected)?;
        TABLE.ensure_after(self.cell.place(), "the lease", &format!("{begun_again:?}"), &format!("{begun:?}"))?;
        let after = self.records.get(&self.id).await?.map(|entry| entry.value);
        let expected = match answer.as_str() {
            "New" | "Completed" => Some(value()?),
            _ => before.map(|entry| entry.value),
        };
        TABLE.ensure_after(self.cell.place(), "the value", &format!("{after:?}"), &format!("{expected:?}"))
    }
}

impl Id {
    async fn begin_state(&mut self) -> Verdict {
        let (ada, kim, short) = (self.ada.clone(), self.kim.clone(), self.short);
        match STATES[self.cell.state].0 {
            State::Absent => {}
            State::Recorded => drop(self.record(&ada, Retention::Forever).await?),
            State::RecordedByAnother => drop(self.record(&kim, Retention::Forever).await?),
            State::Leased => self.lease = Some(self.begin(&ada, LONG, TEN).await?),
            State::LeasedByAnother => drop(self.begin(&kim, LONG, TEN).await?),
            State::Lapsed | State::Overtaken => self.lease = Some(self.begin(&ada, short, TEN).await?),
            State::LapsedOfAnother | State::LapsedAndAborted => drop(self.begin(&kim, short, TEN).await?),
            State::LapsedUnnamed => drop(self.begin(&kim, short, None).await?),
            State::Completed => self.lease = Some(self.complete(&ada).await?),
            State::Aborted => {
                self.lease = Some(self.begin(&ada, LONG, TEN).await?);
                self.abort(self.own()?).await?;
            }
            State::AbortedByAnother => self.abort(&self.begin(&kim, LONG, TEN).await?).await?,
            State::Forgotten => {
                self.record(&ada, Retention::Forever).await?;
                self.forget().await?;
            }
            State::ForgottenResult => {
                self.complete(&kim).await?;
                self.forget().await?;
            }
            State::Expired => drop(self.record(&ada, Retention::For(short)).await?),
        }
        Ok(())
    }

    /// Checks that the call returned the lease that the id already had, or a lease with a greater fence.
    fn ensure_fence(&self, begun: Option<&Lease>) -> Verdict {
        if let (Some(begun), Some(own)) = (begun, &self.lease) {
            let is_own = matches!(STATES[self.cell.state].0, State::Leased);
            ensure!(
                if is_own { begun == own } else { begun.fence > own.fence },
                "{:?} after {:?}",
                begun.fence,
                own.fence
            );
        }
        Ok(())
    }

    /// Makes the call of the cell, and returns its answer and the lease in the answer, if any.
    async fn answer(&self) -> Result<(String, Option<Lease>), Failure> {
        let print = match TABLE.calls[self.cell.call] {
            "begin" => TEN,
            "begin another request" => Some("eleven"),
            other => return Ok((self.answer_of(other).await?, None)),
        };
        let begun = self.ask_for_lease(&self.ada, LONG, print).await?;
        let answer = brief(&begun);
        Ok((answer, if let Begun::Started(lease) = begun { Some(lease) } else { None }))
    }

    async fn answer_of(&self, call: &str) -> Result<String, Failure> {
        Ok(match call {
            "record" => self.record(&self.ada, Retention::Forever).await?,
            "complete" => brief(&self.leases.complete(self.own()?, &value()?, Retention::Forever).await?),
            "abort" => brief(&self.leases.abort(self.own()?).await?),
            "extend" => brief(&self.leases.extend(self.own()?, LONG).await?),
            _ => brief(&self.records.get(&self.id).await?),
        })
    }

    async fn record(&self, op: &OpId, retention: Retention) -> Result<String, Failure> {
        Ok(brief(&self.records.record(&self.id, &value()?, op, retention).await?))
    }

    async fn ask_for_lease(&self, op: &OpId, term: Duration, fingerprint: Option<&str>) -> Result<Begun, Failure> {
        let fingerprint = fingerprint.map(Fingerprint::new).transpose()?;
        Ok(self.leases.begin(&self.id, op, term, fingerprint.as_ref()).await?)
    }

    async fn begin(&self, op: &OpId, term: Duration, fingerprint: Option<&str>) -> Result<Lease, Failure> {
        match self.ask_for_lease(op, term, fingerprint).await? {
            Begun::Started(lease) => Ok(lease),
            other => Err(Failure::new(format!("{op} begins a vacant id: {other:?}"))),
        }
    }

    async fn abort(&self, lease: &Lease) -> Verdict {
        let _ = self.leases.abort(lease).await?;
        Ok(())
    }

    async fn complete(&self, op: &OpId) -> Result<Lease, Failure> {
        let lease = self.begin(op, LONG, TEN).await?;
        let _ = self.leases.complete(&lease, &value()?, Retention::Forever).await?;
        Ok(lease)
    }

    async fn forget(&self) -> Verdict {
        let entry = self.records.get(&self.id).await?.ok_or_else(|| Failure::new("a record is not there"))?;
        let _ = self.records.forget(&self.id, entry.version).await?;
        Ok(())
    }

    fn own(&self) -> Result<&Lease, Failure> {
        self.lease.as_ref().ok_or_else(|| Failure::new("the call needs a lease, and no caller has one in this state"))
    }
}

fn value() -> Result<Payload, Failure> {
    Ok(Payload::try_from("value")?)
}
