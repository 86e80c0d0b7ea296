//! `hand-out` on a SQLite file: a crowd, and a run that is killed.

use super::File;
use crate::stores::Store;

#[test]
fn a_run_that_is_killed_half_way_costs_nobody_an_item() {
    let file = File::ready();
    File::CROWD.is_left_half_way(file.place());
}
