//! Many concurrent callers.

pub(super) mod leases;
pub(super) mod linearizable;
mod one_id;
pub(super) mod records;

use std::future::Future;

use super::Repos;
use crate::failure::Failure;
use crate::race::race;
use crate::world::World;

/// Makes `count` calls concurrently, half of them with a second client.
async fn race_on<T, Fut>(
    world: &World,
    count: usize,
    call: impl Fn(usize, Repos) -> Fut + Send + Sync,
) -> Result<Vec<T>, Failure>
where
    T: Send + 'static,
    Fut: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let clients = Repos::pair(world).await?;
    race(count, |number| call(number, clients[number % 2].clone())).await
}
