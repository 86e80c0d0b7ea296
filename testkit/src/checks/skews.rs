//! A namespace of ordered values whose stored options contain the skew, as earlier versions stored them.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, ErrorKind, Key, OrderedOptions, OrderedStore, Payload, Result, Stamp, Stamping, WriterId,
};

use super::HOUR;

/// The options of a namespace as earlier versions stored them: stamps at most an hour ahead, and tombstones for seven
/// days.
pub const STORED_BEFORE: &str = "time stamps at most 3600000000 us ahead, tombstones for 604800000000 us";

fn within(max_skew: Option<Duration>) -> OrderedOptions {
    OrderedOptions { stamping: Stamping::Time { max_skew }, ..OrderedOptions::time() }
}

async fn look(store: &dyn Backend, options: OrderedOptions) -> Result<()> {
    store.ordered_store(&"skews".parse()?, options)?.get(&Key::new("key")?).await.map(drop)
}

/// Checks that a namespace of an earlier version opens with any skew, and that the handle uses this skew. Checks that
/// it does not open with other options that differ. `age` turns the namespace `skews` into one of an earlier version.
pub async fn stored_before(
    open: impl AsyncFn() -> Result<Arc<dyn Backend>>,
    age: impl AsyncFnOnce() -> Result<()>,
) -> Result<()> {
    look(&*open().await?, OrderedOptions::time()).await?;
    age().await?;
    let (store, key, value) = (open().await?, Key::new("key")?, Payload::try_from("value")?);
    let far = Stamp::new(i64::MAX, WriterId::new("writer")?);
    for skew in [Some(HOUR), Some(OrderedOptions::MAX_SKEW), None] {
        look(&*store, within(skew)).await?;
        let put = store.ordered_store(&"skews".parse()?, within(skew))?.put(&key, &value, &far).await;
        assert_eq!(put.is_ok(), skew.is_none(), "{skew:?}: {put:?}");
    }
    for other in [OrderedOptions::sequence(), OrderedOptions { tombstone_age: HOUR, ..within(Some(HOUR)) }] {
        let error = look(&*open().await?, other).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    }
    Ok(())
}
