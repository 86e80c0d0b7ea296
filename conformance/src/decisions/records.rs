//! Records and leases.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Begun, DedupId, DedupRepo, Lease, LeaseRepo, OpId, Payload, Retention};

use super::{IMPOSSIBLE, Table, brief};
use crate::failure::{Failure, Verdict};
use crate::world::World;

/// A lease that does not lapse.
const LONG: Duration = Duration::from_secs(3_600);

pub(super) const TABLE: Table = Table {
    title: "An id of records and leases",
    about: "The calls are of the operation `ada`; `complete`, `abort` and `extend` have the last lease of `ada`.",
    calls: &["record", "begin", "complete", "abort", "extend", "get"],
    rows: &[
        ("nothing is there", &["New", "Started", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "None"]),
        ("`ada` recorded it", &["Again", "Done", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "Some"]),
        ("another recorded it", &["Existing", "Done", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "Some"]),
        ("`ada` has a lease", &["InFlight", "Started", "Completed", "Aborted", "Extended", "None"]),
        ("another has a lease", &["InFlight", "InFlight", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "None"]),
        ("the lease of `ada` lapsed", &["New", "Started", "Completed", "Aborted", "Extended", "None"]),
        ("it lapsed, and another began", &["InFlight", "InFlight", "Fenced", "Fenced", "Fenced", "None"]),
        ("the lease of another lapsed", &["New", "Started", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "None"]),
        ("`ada` completed its lease", &["Again", "Done", "Again", "Fenced", "Fenced", "Some"]),
        ("`ada` aborted its lease", &["Fenced", "Fenced", "Fenced", "Aborted", "Fenced", "None"]),
        ("the record of `ada` was forgotten", &["Fenced", "Fenced", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "None"]),
        ("the record of `ada` has expired", &["Fenced", "Fenced", IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, "None"]),
    ],
};

/// The states of the table, in its order.
const STATES: [State; 12] = [
    State::Absent,
    State::Recorded,
    State::RecordedByAnother,
    State::Leased,
    State::LeasedByAnother,
    State::Lapsed,
    State::Overtaken,
    State::LapsedOfAnother,
    State::Completed,
    State::Aborted,
    State::Forgotten,
    State::Expired,
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
    Completed,
    Aborted,
    Forgotten,
    Expired,
}

/// An id, the two who call, and the lease of `ada`.
struct Scene<'a> {
    world: &'a World,
    records: Arc<dyn DedupRepo>,
    leases: Arc<dyn LeaseRepo>,
    id: DedupId,
    ada: OpId,
    kim: OpId,
    lease: Option<Lease>,
}

pub(crate) async fn an_id_is_answered_by_its_table(world: &World) -> Verdict {
    for (state, call) in TABLE.asked() {
        let (records, leases) = (world.dedup()?, world.leases()?);
        let (id, ada, kim) = (DedupId::new(format!("id-{state}-{call}"))?, OpId::new("ada")?, OpId::new("kim")?);
        let mut scene = Scene { world, records, leases, id, ada, kim, lease: None };
        scene.reach(STATES[state]).await?;
        TABLE.ensure((state, call), &scene.answer(call).await?)?;
    }
    Ok(())
}

impl Scene<'_> {
    async fn reach(&mut self, state: State) -> Verdict {
        let (ada, kim, short) = (self.ada.clone(), self.kim.clone(), self.world.short());
        match state {
            State::Absent => {}
            State::Recorded => drop(self.record(&ada, Retention::Forever).await?),
            State::RecordedByAnother => drop(self.record(&kim, Retention::Forever).await?),
            State::Leased => self.lease = self.begin(&ada, LONG).await?,
            State::LeasedByAnother => drop(self.begin(&kim, LONG).await?),
            State::Lapsed => self.lapse().await?,
            State::Overtaken => {
                self.lapse().await?;
                self.begin(&kim, LONG).await?;
            }
            State::LapsedOfAnother => {
                self.begin(&kim, short).await?;
                self.world.pass(short).await;
            }
            State::Completed => {
                self.lease = self.begin(&ada, LONG).await?;
                let _ = self.leases.complete(self.own()?, &value()?, Retention::Forever).await?;
            }
            State::Aborted => {
                self.lease = self.begin(&ada, LONG).await?;
                let _ = self.leases.abort(self.own()?).await?;
            }
            State::Forgotten => self.forget().await?,
            State::Expired => {
                self.record(&ada, Retention::For(short)).await?;
                self.world.pass(short).await;
            }
        }
        Ok(())
    }

    async fn answer(&self, call: usize) -> Result<String, Failure> {
        Ok(match TABLE.calls[call] {
            "record" => self.record(&self.ada, Retention::Forever).await?,
            "begin" => brief(&self.leases.begin(&self.id, &self.ada, LONG, None).await?),
            "complete" => brief(&self.leases.complete(self.own()?, &value()?, Retention::Forever).await?),
            "abort" => brief(&self.leases.abort(self.own()?).await?),
            "extend" => brief(&self.leases.extend(self.own()?, LONG).await?),
            _ => brief(&self.records.get(&self.id).await?),
        })
    }

    async fn record(&self, op: &OpId, retention: Retention) -> Result<String, Failure> {
        Ok(brief(&self.records.record(&self.id, &value()?, op, retention).await?))
    }

    async fn begin(&self, op: &OpId, term: Duration) -> Result<Option<Lease>, Failure> {
        match self.leases.begin(&self.id, op, term, None).await? {
            Begun::Started(lease) => Ok(Some(lease)),
            other => Err(Failure::new(format!("{op} begins a vacant id: {other:?}"))),
        }
    }

    async fn lapse(&mut self) -> Verdict {
        self.lease = self.begin(&self.ada, self.world.short()).await?;
        self.world.pass(self.world.short()).await;
        Ok(())
    }

    async fn forget(&self) -> Verdict {
        self.record(&self.ada, Retention::Forever).await?;
        let entry = self.records.get(&self.id).await?.ok_or_else(|| Failure::new("a record is not there"))?;
        let _ = self.records.forget(&self.id, entry.version).await?;
        Ok(())
    }

    fn own(&self) -> Result<&Lease, Failure> {
        self.lease.as_ref().ok_or_else(|| Failure::new("the table asks for a lease that nobody has"))
    }
}

fn value() -> Result<Payload, Failure> {
    Ok(Payload::try_from("value")?)
}
