//! The model of records and leases, for one caller.

mod known;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use storagebox_core::{Backend, DedupId, DedupRepo, Entry, Fingerprint, LeaseRepo, OpId, Payload, Result, Retention};

use self::known::{Known, Moment};
use super::Repos;
use crate::failure::{Verdict, ensure_eq};
use crate::model::{self, compare, minutes};
use crate::pages::after;
use crate::world::World;

pub(super) async fn random_calls_match_the_model(world: &World) -> Verdict {
    // On a clock that the suite cannot move, nothing may expire during a sequence, however slow the store is.
    let stretch = if world.can_travel() { 1 } else { 100_000 };
    compare(world, Records { now: Duration::ZERO, stretch, ids: BTreeMap::new() }).await
}

/// The index of a version or lease of an id. The newest has the index 0.
type Back = usize;

#[derive(Clone, Debug)]
enum Call {
    Record(DedupId, Payload, OpId, Retention),
    Get(DedupId),
    Replace(DedupId, Back, Payload, OpId),
    Forget(DedupId, Back),
    List(usize),
    Begin(DedupId, OpId, Duration, Option<Fingerprint>),
    Complete(DedupId, Back, Payload, Retention),
    Abort(DedupId, Back),
    Extend(DedupId, Back, Duration),
}

#[derive(Clone, Debug)]
struct Records {
    now: Duration,
    stretch: u32,
    ids: BTreeMap<DedupId, Known>,
}

impl Records {
    fn known(&mut self, id: &DedupId) -> (&mut Known, Moment) {
        let moment = Moment { now: self.now, stretch: self.stretch };
        let known = self.ids.entry(id.clone()).or_default();
        known.expire(self.now);
        (known, moment)
    }

    fn entries(&mut self) -> BTreeMap<DedupId, Entry> {
        let now = self.now;
        let live = self.ids.iter_mut().filter_map(|(id, known)| {
            known.expire(now);
            Some((id.clone(), known.entry()?.clone()))
        });
        live.collect()
    }

    async fn list(&mut self, repos: &Repos, limit: usize) -> Verdict {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = repos.records.list(cursor.as_ref(), limit).await?;
            found.extend(page.entries.into_iter().map(|listed| (listed.id, listed.entry)));
            cursor = after(cursor.as_ref(), page.next)?;
            if cursor.is_none() {
                break;
            }
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        ensure_eq!(found, self.entries().into_iter().collect::<Vec<_>>(), "the records listed by {limit}");
        Ok(())
    }

    async fn on_record(&mut self, repos: &Repos, call: &Call) -> Verdict {
        match call {
            Call::Record(id, value, op, retention) => {
                let (known, moment) = self.known(id);
                let retention = moment.stretched(*retention);
                known.record(moment, value, op, retention, repos.records.record(id, value, op, retention).await?)
            }
            Call::Get(id) => {
                let found = repos.records.get(id).await?;
                ensure_eq!(found.as_ref(), self.known(id).0.entry(), "the record");
                Ok(())
            }
            Call::Replace(id, back, value, op) => {
                let (known, _) = self.known(id);
                let Some(version) = known.version(*back) else { return Ok(()) };
                known.replace(version, value, op, repos.records.replace(id, version, value, op).await?)
            }
            Call::Forget(id, back) => {
                let (known, moment) = self.known(id);
                let Some(version) = known.version(*back) else { return Ok(()) };
                known.forget(moment, version, repos.records.forget(id, version).await?)
            }
            Call::List(limit) => self.list(repos, *limit).await,
            _ => Ok(()),
        }
    }

    async fn on_lease(&mut self, repos: &Repos, call: &Call) -> Verdict {
        match call {
            Call::Begin(id, op, duration, fingerprint) => {
                let (known, moment) = self.known(id);
                let duration = *duration * moment.stretch;
                let begun = repos.leases.begin(id, op, duration, fingerprint.as_ref()).await?;
                known.begin(moment, op, duration, fingerprint.as_ref(), begun)
            }
            Call::Complete(id, back, value, retention) => {
                let (known, moment) = self.known(id);
                let Some(lease) = known.lease(*back) else { return Ok(()) };
                let retention = moment.stretched(*retention);
                let completed = repos.leases.complete(&lease, value, retention).await?;
                known.complete(moment, &lease, value, retention, completed)
            }
            Call::Abort(id, back) => {
                let (known, moment) = self.known(id);
                let Some(lease) = known.lease(*back) else { return Ok(()) };
                known.abort(moment, &lease, repos.leases.abort(&lease).await?)
            }
            Call::Extend(id, back, duration) => {
                let (known, moment) = self.known(id);
                let Some(lease) = known.lease(*back) else { return Ok(()) };
                let duration = *duration * moment.stretch;
                known.extend(moment, &lease, duration, repos.leases.extend(&lease, duration).await?)
            }
            _ => Ok(()),
        }
    }
}

impl model::Model for Records {
    type Call = Call;
    type Namespaces = Repos;

    fn calls() -> BoxedStrategy<Call> {
        let id = || "[ab]".prop_map(|text| DedupId::new(text).expect("one letter"));
        let op = || "[p-s]".prop_map(|text| OpId::new(text).expect("one letter"));
        let value = || "[0-9]".prop_map(|text| Payload::new(text).expect("one digit"));
        let back = || prop_oneof![4 => Just(0_usize), 2 => Just(1), 1 => Just(2)];
        let time = || prop_oneof![Just(minutes(3)), Just(minutes(10))];
        let retention = || prop_oneof![2 => Just(Retention::Forever), 1 => time().prop_map(Retention::For)];
        let print = || prop_oneof![2 => Just(None), 1 => "[xy]".prop_map(|text| Fingerprint::new(text).ok())];
        prop_oneof![
            4 => (id(), value(), op(), retention()).prop_map(|(id, value, op, keep)| Call::Record(id, value, op, keep)),
            2 => id().prop_map(Call::Get),
            3 => (id(), back(), value(), op()).prop_map(|(id, back, value, op)| Call::Replace(id, back, value, op)),
            3 => (id(), back()).prop_map(|(id, back)| Call::Forget(id, back)),
            1 => prop_oneof![Just(1), Just(100)].prop_map(Call::List),
            5 => (id(), op(), time(), print()).prop_map(|(id, op, time, print)| Call::Begin(id, op, time, print)),
            3 => (id(), back(), value(), retention())
                .prop_map(|(id, back, value, keep)| Call::Complete(id, back, value, keep)),
            2 => (id(), back()).prop_map(|(id, back)| Call::Abort(id, back)),
            2 => (id(), back(), time()).prop_map(|(id, back, time)| Call::Extend(id, back, time)),
        ]
        .boxed()
    }

    fn open(&self, store: &Arc<dyn Backend>) -> Result<Self::Namespaces> {
        let name = "records".parse()?;
        Ok(Repos { records: store.dedup_repo(&name)?, leases: store.lease_repo(&name)? })
    }

    async fn step(&mut self, repos: &Repos, call: &Call) -> Verdict {
        self.on_record(repos, call).await?;
        self.on_lease(repos, call).await
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
    }
}
