//! All keys of a place, byte for byte.

use std::collections::BTreeMap;

use redis::aio::MultiplexedConnection as Admin;
use redis::{Cmd, cmd};
use storagebox_core::Result;

use crate::support::failed;

/// The server's dump of each key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State(BTreeMap<String, Vec<u8>>);

impl State {
    pub(super) async fn of(admin: &mut Admin, prefix: &str) -> Result<Self> {
        let all = if prefix.is_empty() { "*".to_owned() } else { format!("{prefix}:*") };
        let keys: Vec<String> = cmd("KEYS").arg(all).query_async(admin).await.map_err(failed)?;
        if keys.is_empty() {
            return Ok(Self(BTreeMap::new()));
        }
        let mut dumps = redis::pipe();
        for key in &keys {
            dumps.cmd("DUMP").arg(key);
        }
        let dumped: Vec<Vec<u8>> = dumps.query_async(admin).await.map_err(failed)?;
        Ok(Self(keys.into_iter().zip(dumped).collect()))
    }

    /// Returns the keys that differ from those of the other state.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let all = self.0.keys().chain(other.0.keys());
        let mut changed: Vec<_> = all.filter(|key| self.0.get(*key) != other.0.get(*key)).cloned().collect();
        changed.dedup();
        changed
    }

    pub(super) async fn restore(&self, admin: &mut Admin, prefix: &str) -> Result<()> {
        let changed = Self::of(admin, prefix).await?.differences(self);
        if changed.is_empty() {
            return Ok(());
        }
        let mut restore = redis::pipe();
        for key in changed {
            restore.add_command(Cmd::del(&key)).ignore();
            if let Some(dump) = self.0.get(&key) {
                restore.cmd("RESTORE").arg(key).arg(0).arg(dump).ignore();
            }
        }
        restore.exec_async(admin).await.map_err(failed)
    }
}
