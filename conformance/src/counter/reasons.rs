//! Reasons on counters without a log: none is dropped silently.

use storagebox_core::{ErrorKind, Reason};

use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::world::World;

pub(super) async fn reasons_are_unsupported(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let change = counter.change("op", 5)?.because(Reason::new("delivered")?);
    let refused = counter.counter.apply(&counter.key, &change).await;
    let error = refused.err().ok_or_else(|| Failure::new(format!("{kind:?} accepted a reason")))?;
    ensure_eq!(error.kind(), ErrorKind::Unsupported, "the kind of {error}");
    ensure!(error.to_string().contains("Ledger"), "the error does not name a strategy with a log: {error}");
    ensure!(!error.to_string().contains("delivered"), "the error shows the reason: {error}");
    ensure_eq!(counter.value().await?, 0, "the value after it");
    ensure_eq!(counter.apply("op", 5).await?, counter.applied(5), "the operation without a reason");
    Ok(())
}
