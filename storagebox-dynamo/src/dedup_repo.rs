//! Deduplication records: the first value of an id wins.

use std::sync::Arc;

use storagebox_core::backend::rules::{IdRecord, IdState};
use storagebox_core::{
    Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, OpId, Page, Payload, Recorded, Replaced, Result,
    Retention, Version, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Tag, Write};
use crate::clock::Millis;
use crate::page::Position;
use crate::parts::Planned;
use crate::records::{CURRENT, DONE, ENDED, Record, Records, Step};

#[derive(Debug)]
pub(crate) struct DynamoDedupRepo(pub(crate) Arc<Records>);

impl DynamoDedupRepo {
    fn client(&self) -> &Client {
        self.0.client()
    }

    fn first(&self, record: &Record, value: &Payload, op: &OpId, retention: Retention) -> Step<Recorded> {
        let version = Version::new(self.client().number_after(record.last));
        let entry = Entry { value: value.clone(), version };
        let done = IdRecord::new(entry, op.clone(), self.client().end_of_retention(retention));
        Step::Write(IdState::Done(done), Recorded::New(version))
    }

    pub(crate) async fn plan_record(
        &self,
        (id, op): (&DedupId, &OpId),
        value: &Payload,
        retention: Retention,
        tag: &Tag,
    ) -> Result<Planned<Recorded>> {
        let (retention, asked) = (retention.checked()?, op.clone());
        let known = move |record: &Record, past: Millis| record.state.record(&asked, record.has_ended(&asked), past);
        let first = |record: &Record| self.first(record, value, op, retention);
        self.0.plan((id, op), tag, known, first).await
    }

    fn if_current(&self, write: Write, version: Version) -> Write {
        let past = self.client().surely_past().0;
        write.only_if(CURRENT).value(":done", DONE).value(":version", version.number()).value(":past", past)
    }
}

#[async_trait]
impl DedupRepo for DynamoDedupRepo {
    #[instrument(level = "trace", skip_all)]
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let retention = retention.checked()?;
        let judge = |record: &Record, past: Millis| match record.state.record(op, record.has_ended(op), past) {
            _ if record.is_own => Step::Answer(Recorded::New(Version::new(record.last))),
            Some(answer) => Step::Answer(answer),
            None => self.first(record, value, op, retention),
        };
        self.0.step("record", (id, op), judge).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        self.client().settle("get", || self.0.get(id)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        let change = |key: &_| {
            let next = self.client().number_after(version.number());
            let write = Write::update(key).set("v", value.as_bytes()).set("n", next);
            let write = write.set("r", op.as_str()).set("w", version.number());
            (self.if_current(write, version), Replaced::Replaced(Version::new(next)))
        };
        let refused = |record: &Record| match record.is_own {
            true => Some(Replaced::Replaced(Version::new(record.last))),
            false => record.state.replace(version, op),
        };
        self.0.change("replace", (id, None), change, refused).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        let change = |key: &_| {
            let now = self.client().now();
            let ended = Write::update(key).set("s", ENDED).set("y", now.0);
            let ended = self.0.expiring(ended, Some(now)).remove(&["v", "x", "f", "p", "q", "r", "w"]);
            (self.if_current(ended, version), Forgotten::Forgotten)
        };
        let refused = |record: &Record| match record.is_own {
            true => Some(Forgotten::Forgotten),
            false => record.state.forget(version),
        };
        self.0.change("forget", (id, None), change, refused).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let position = Position::read(cursor, limit)?;
        self.client().settle("list", || self.0.list(&position, limit)).await
    }
}
