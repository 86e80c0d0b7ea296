//! `hand-out` on a database whose server dies.

use storagebox_testkit::postgres::{Postgres, Settings};

use super::Database;
use crate::stores::Store;

#[test]
fn hand_out_after_a_server_crash_gives_each_id_one_item() {
    let server = Postgres::start(&Settings::durable()).unwrap();
    let database = Database::on(&server.url()).set_up();
    Database::CROWD.meets_a_crash(database.place(), || server.kill().unwrap(), || server.start_again().unwrap());
}
