//! A write, planned for a transaction of the caller.

use storagebox_core::{Key, Payload, Result, Stamp, Written};

use super::{DynamoOrderedStore, judge};
use crate::client::Tag;
use crate::error::contention;
use crate::parts::Planned;

impl DynamoOrderedStore {
    /// Plans a put of the value; without a value, plans a delete.
    pub(crate) async fn plan(
        &self,
        key: &Key,
        stamp: &Stamp,
        value: Option<&Payload>,
        tag: &Tag,
    ) -> Result<Planned<Written>> {
        let (key, now) = (self.key(key).await?, self.client().now().0);
        if let Some(refused) = self.rules.refused(stamp, now) {
            return Err(refused);
        }
        let known = judge(self.client().get(&key).await?.as_ref(), stamp, value)?;
        let horizon = self.rules.horizon(now).filter(|horizon| stamp.at < *horizon);
        if let Some(known) = known.or(horizon.map(|horizon| Written::TooOld { horizon })) {
            return Ok(Planned::answer(known));
        }
        let writes = vec![self.writing(&key, stamp, value, tag)];
        let (stamp, value) = (stamp.clone(), value.cloned());
        Ok(Planned::by_first(Written::Applied, writes, move |row| {
            judge(row.as_ref(), &stamp, value.as_ref())?.ok_or_else(contention)
        }))
    }
}
