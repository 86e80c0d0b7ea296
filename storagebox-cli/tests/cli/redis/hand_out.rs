//! `hand-out` on a Redis server that dies.

use storagebox_testkit::redis::{Redis, Settings};

use super::Keys;
use crate::stores::Store;

#[test]
fn hand_out_after_a_server_crash_gives_each_id_one_item() {
    let server = Redis::start(&Settings::durable()).unwrap();
    let keys = Keys::on(&server.url()).set_up();
    Keys::CROWD.meets_a_crash(keys.place(), || server.kill().unwrap(), || server.start_again().unwrap());
}
