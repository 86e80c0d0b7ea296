//! `hand-out` on a SQLite file: a crowd, and a run that is killed.

use super::File;
use crate::stores::Store;

#[test]
fn hand_out_after_a_killed_run_gives_each_id_one_item() {
    let file = File::ready();
    File::CROWD.is_left_half_way(file.place());
}
