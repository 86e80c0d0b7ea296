//! Connections that are cut.

use super::calls::calls;
use super::{Kind, by_strategy};
use crate::case::Verdict;
use crate::repeatable::cut_everywhere;
use crate::world::World;

by_strategy! { a_cut_connection_counts_once:
    Marker marker_a_cut_connection_counts_once,
    Window window_a_cut_connection_counts_once,
    Sharded sharded_a_cut_connection_counts_once,
    Optimistic optimistic_a_cut_connection_counts_once,
    History history_a_cut_connection_counts_once,
    Token token_a_cut_connection_counts_once,
    Ledger ledger_a_cut_connection_counts_once,
    Set set_a_cut_connection_counts_once
}

async fn a_cut_connection_counts_once(world: &World, kind: Kind) -> Verdict {
    cut_everywhere(world, &calls(kind)).await
}
