//! Nothing is left of a program that was killed.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::patience::wait_until;

fn holder() -> Child {
    let mut holder = Command::new(env!("CARGO_BIN_EXE_storagebox-testkit"));
    holder.env("STORAGEBOX_TEST_SERVERS", "local").env_remove("STORAGEBOX_TEST_POSTGRES_URL");
    holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn folder_of(holder: &Child) -> PathBuf {
    env::temp_dir().join(format!("storagebox-postgres-{}-0", holder.id()))
}

fn kill(holder: &mut Child) {
    holder.kill().unwrap();
    holder.wait().unwrap();
}

/// The folder goes last: it has another name while its server is being ended.
fn wait_until_gone(folder: &Path) {
    let ending = folder.with_extension("ending");
    wait_until(|| !folder.exists() && !ending.exists());
}

#[test]
fn a_server_ends_with_a_program_that_was_killed() {
    let mut holder = holder();
    let lines: Vec<_> = BufReader::new(holder.stdout.take().unwrap()).lines().take(2).collect();
    let url = lines[1].as_ref().unwrap();
    let port = url.rsplit_once(':').and_then(|(_, rest)| rest.strip_suffix("/postgres")).unwrap();
    let address = format!("127.0.0.1:{port}");
    assert!(TcpStream::connect(&address).is_ok(), "{address}");
    assert!(folder_of(&holder).join("postgres.pid").exists());
    kill(&mut holder);
    wait_until_gone(&folder_of(&holder));
    assert!(TcpStream::connect(&address).is_err());
}

#[test]
fn a_cluster_goes_with_a_program_that_was_killed_while_it_was_made() {
    let mut holder = holder();
    let folder = folder_of(&holder);
    wait_until(|| folder.join("data").exists());
    kill(&mut holder);
    wait_until_gone(&folder);
}

#[test]
fn a_server_ends_with_a_program_that_ends_by_itself() {
    let mut holder = holder();
    let folder = folder_of(&holder);
    drop(holder.stdin.take());
    assert!(holder.wait_with_output().unwrap().status.success());
    assert!(!folder.exists() && !folder.with_extension("ending").exists());
}
