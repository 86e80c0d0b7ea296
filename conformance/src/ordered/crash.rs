//! A server that is killed and restarted.

use storagebox_core::{Backend, OrderedStore, Stamp, Written};

use super::{SEQUENCE, delete_new, ensure_stale, put_new, shown};
use crate::failure::{Verdict, ensure_eq};
use crate::harness::Restart;
use crate::world::World;

pub(super) async fn what_was_acknowledged_survives_a_restart(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "value", 10).await?;
    delete_new(&*store, "gone", 10).await?;
    for how in [Restart::Clean, Restart::Kill] {
        world.restart(how).await?;
        let store = world.client().await?.ordered_store(&"ordered".parse()?, SEQUENCE)?;
        ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), 10)), "the value after {how:?}");
        ensure_eq!(
            store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(10, "w".parse()?)).await?,
            Written::Duplicate,
            "the put again after {how:?}"
        );
        let older = store.put(&"gone".parse()?, &"value".try_into()?, &Stamp::new(9, "w".parse()?)).await?;
        ensure_stale(&older, 10, format_args!("a put older than the tombstone after {how:?}"))?;
        ensure_eq!(shown(&*store, "gone").await?, None, "the deleted key after {how:?}");
    }
    Ok(())
}
