//! Reasons where there is no log to show them: nothing is dropped in silence.

use storagebox_core::{ErrorKind, Reason};

use super::{Kind, Subject, by_strategy};
use crate::case::Verdict;
use crate::failure::{Failure, ensure, ensure_eq};
use crate::world::World;

by_strategy! { reasons_are_unsupported:
    Atomic atomic_reasons_are_unsupported,
    Marker marker_reasons_are_unsupported,
    Window window_reasons_are_unsupported,
    Sharded sharded_reasons_are_unsupported,
    Optimistic optimistic_reasons_are_unsupported,
    History history_reasons_are_unsupported,
    Token token_reasons_are_unsupported,
    Set set_reasons_are_unsupported
}

async fn reasons_are_unsupported(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let change = counter.change("op", 5)?.because(Reason::new("delivered")?);
    let refused = counter.counter.apply(&counter.key, &change).await;
    let error = refused.err().ok_or_else(|| Failure::new(format!("a reason was taken by {kind:?}")))?;
    ensure_eq!(error.kind(), ErrorKind::Unsupported, "the kind of {error}");
    ensure!(error.to_string().contains("Ledger"), "no strategy with a log is named: {error}");
    ensure!(!error.to_string().contains("delivered"), "the reason is shown: {error}");
    ensure_eq!(counter.value().await?, 0, "the value after it");
    ensure_eq!(counter.apply("op", 5).await?, counter.applied(5), "the operation without a reason");
    Ok(())
}
