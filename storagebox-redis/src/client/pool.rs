//! An optional pool: each connection carries one call at a time, in place of one connection that all calls share.

use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Manager, Metrics, Object, PoolError, RecycleResult, Timeouts};
use storagebox_core::{Error, ErrorKind, Result};

use super::slot::{Slot, closed};
use crate::error::bad;

/// A slot for one connection, which the pool lends to one call at a time.
pub(super) type Pooled = Object<Slots>;

pub(super) struct Pool(managed::Pool<Slots>);

/// The most connections of a pool, which allocates room for all of them at once. One client address cannot open more
/// connections to a server.
const MOST: usize = 65_535;

#[derive(Debug)]
pub(super) struct Slots;

impl Pool {
    pub(super) fn new(connections: usize, patience: Duration) -> Result<Self> {
        if !(1..=MOST).contains(&connections) {
            return Err(bad("pool", format_args!("must be from 1 to {MOST}")));
        }
        let wait = Some(patience);
        let pool = managed::Pool::builder(Slots).max_size(connections);
        let pool = pool.timeouts(Timeouts { wait, create: wait, recycle: None }).runtime(Runtime::Tokio1);
        pool.build().map(Self).map_err(|_| bad("pool", "could not be created"))
    }

    pub(super) async fn get(&self) -> Result<Pooled> {
        self.0.get().await.map_err(|error| match error {
            PoolError::Closed => closed(),
            _ => Error::new(ErrorKind::Contention, "no connection of the pool was free in time").on("redis"),
        })
    }

    pub(super) fn close(&self) {
        self.0.close();
    }
}

impl Manager for Slots {
    type Type = Slot;
    type Error = Error;

    async fn create(&self) -> Result<Slot> {
        Ok(Slot::default())
    }

    async fn recycle(&self, _: &mut Slot, _: &Metrics) -> RecycleResult<Error> {
        Ok(())
    }
}
