//! A program that is killed leaves no server and no folder behind.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::patience::wait_until;

const KINDS: [&str; 4] = ["postgres", "dynamodb", "redis", "nats"];

/// A program that runs a server until its standard input is closed.
struct Holder {
    program: Child,
    /// The folders in memory and for temporary files, one of which contains the folder of the server.
    folders: [PathBuf; 2],
}

impl Holder {
    fn of(kind: &str) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_storagebox-testkit"));
        program.arg(kind).env("STORAGEBOX_TEST_SERVERS", "local");
        for kind in ["POSTGRES", "DYNAMO", "REDIS", "NATS", "RABBITMQ"] {
            program.env_remove(format!("STORAGEBOX_TEST_{kind}_URL"));
        }
        // The program has its own process group, as if a shell had started it.
        program.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let program = program.spawn().unwrap();
        let name = format!("storagebox-{kind}-{}-0", program.id());
        let folders = [Path::new("/dev/shm"), &env::temp_dir()].map(|parent| parent.join(&name));
        Self { program, folders }
    }

    /// Returns the server's folder, which must exist.
    fn folder(&self) -> &Path {
        self.folders.iter().find(|folder| folder.exists()).unwrap()
    }

    fn is_gone(&self) -> bool {
        // While the server is being ended, its folder has another name.
        self.folders.iter().all(|folder| !folder.exists() && !ending(folder).exists())
    }

    /// Waits until the server listens, and returns its address.
    fn address(&mut self) -> String {
        let lines: Vec<_> = BufReader::new(self.program.stdout.take().unwrap()).lines().take(2).collect();
        let url = lines[1].as_ref().unwrap();
        let (_, rest) = url.split_once("127.0.0.1:").unwrap();
        let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!("127.0.0.1:{port}")
    }

    /// Sends the signal to the program and to its process group, and waits for the program's end.
    fn kill(&mut self, signal: &str) {
        send(signal, &format!("-{}", self.program.id()));
        self.program.wait().unwrap();
    }

    /// Waits until the folder of the server is removed.
    fn wait_until_gone(&self) {
        wait_until(|| self.is_gone());
    }
}

fn ending(folder: &Path) -> PathBuf {
    folder.with_extension("ending")
}

fn send(signal: &str, to: &str) {
    let mut shell = Command::new("/bin/sh");
    assert!(shell.args(["-c", "kill -s \"$0\" -- \"$1\"", signal, to]).status().unwrap().success());
}

/// Returns the process number of the keeper, which is the shell that removes the folder.
fn keeper_of(folder: &Path) -> String {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_its = |process: &fs::DirEntry| {
        let line = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        line.split('\0').skip(3).eq(["keeper", folder.to_str().unwrap(), ""])
    };
    processes.filter(is_its).map(|process| process.file_name().into_string().unwrap()).next().unwrap()
}

#[test]
fn a_server_ends_when_its_program_is_killed() {
    for (kind, signal) in KINDS.into_iter().zip(["KILL", "TERM", "INT"].into_iter().cycle()) {
        let mut holder = Holder::of(kind);
        let address = holder.address();
        assert!(TcpStream::connect(&address).is_ok(), "{address}");
        holder.kill(signal);
        holder.wait_until_gone();
        assert!(TcpStream::connect(&address).is_err(), "{kind}");
    }
}

/// The keeper and the program are killed, but the server still runs. The next program must end the server.
#[test]
fn the_next_program_ends_a_server_whose_keeper_was_killed() {
    for kind in KINDS {
        let mut holder = Holder::of(kind);
        let address = holder.address();
        send("KILL", &keeper_of(holder.folder()));
        holder.kill("KILL");
        let mut next = Holder::of("redis");
        next.address();
        // The next program may be that of another test, which may still be ending the server.
        holder.wait_until_gone();
        assert!(TcpStream::connect(&address).is_err(), "{kind}");
        drop(next.program.stdin.take());
        assert!(next.program.wait().unwrap().success());
    }
}

/// The processes of the server are paused when the program is killed. The keeper must continue them, so that they end.
#[test]
fn a_paused_server_ends_when_its_program_is_killed() {
    let mut holder = Holder::of("postgres");
    holder.address();
    let server = fs::read_to_string(holder.folder().join("postgres.pid")).unwrap().trim().to_owned();
    send("STOP", &server);
    let children = children_of(&server);
    assert!(children.len() > 2, "{children:?}");
    children.iter().for_each(|child| send("STOP", child));
    holder.kill("KILL");
    holder.wait_until_gone();
    wait_until(|| children.iter().all(|child| !is_there(child)));
}

/// Returns the state and the parent of a process.
fn said_of(process: &str) -> Option<(String, String)> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The state and the parent are after the name of the process.
    let mut words = line.rsplit_once(')')?.1.split_whitespace();
    Some((words.next()?.to_owned(), words.next()?.to_owned()))
}

fn children_of(parent: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|process| process.file_name().into_string().unwrap());
    processes.filter(|process| said_of(process).is_some_and(|(_, of)| of == parent)).collect()
}

/// Returns whether the process runs. Returns false for a zombie.
fn is_there(process: &str) -> bool {
    said_of(process).is_some_and(|(state, _)| state != "Z")
}

#[test]
fn an_unfinished_cluster_is_removed_when_its_program_is_killed() {
    let mut holder = Holder::of("postgres");
    wait_until(|| holder.folders.iter().any(|folder| folder.join("data").exists()));
    holder.kill("KILL");
    holder.wait_until_gone();
}

#[test]
fn a_server_ends_when_its_program_ends_normally() {
    let mut holder = Holder::of("postgres");
    drop(holder.program.stdin.take());
    assert!(holder.program.wait().unwrap().success());
    assert!(holder.is_gone());
}
