//! A namespace of ordered values that was stored with its skew, as earlier versions did.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, ErrorKind, Key, OrderedOptions, OrderedStore, Payload, Result, Stamp, Stamping, WriterId,
};

use super::HOUR;

/// The stored options of such a namespace, in the form of most backends: seven days, and an hour ahead.
pub const STORED_BEFORE: &str = "time stamps at most 3600000000 us ahead, tombstones for 604800000000 us";

fn within(max_skew: Option<Duration>) -> OrderedOptions {
    OrderedOptions { stamping: Stamping::Time { max_skew }, ..OrderedOptions::time() }
}

async fn look(store: &dyn Backend, options: OrderedOptions) -> Result<()> {
    store.ordered_store(&"skews".parse()?, options)?.get(&Key::new("key")?).await.map(drop)
}

/// Checks that the namespace `skews` opens with any skew, which its handle then uses, and with nothing else that
/// differs.
/// `age` makes the store believe that an earlier version created it.
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
