//! Nothing is left of a program that was killed.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::patience::wait_until;

const KINDS: [&str; 4] = ["postgres", "dynamodb", "redis", "nats"];

/// A program that has a server for as long as its standard input is open.
struct Holder {
    program: Child,
    /// Where its server's folder may be: in memory, or where temporary files are.
    folders: [PathBuf; 2],
}

impl Holder {
    fn of(kind: &str) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_storagebox-testkit"));
        program.arg(kind).env("STORAGEBOX_TEST_SERVERS", "local");
        for kind in ["POSTGRES", "DYNAMO", "REDIS", "NATS", "RABBITMQ"] {
            program.env_remove(format!("STORAGEBOX_TEST_{kind}_URL"));
        }
        // As a shell starts it, which sends signals to all of the group.
        program.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let program = program.spawn().unwrap();
        let name = format!("storagebox-{kind}-{}-0", program.id());
        let folders = [Path::new("/dev/shm"), &env::temp_dir()].map(|parent| parent.join(&name));
        Self { program, folders }
    }

    /// Its server's folder, once there is one.
    fn folder(&self) -> &Path {
        self.folders.iter().find(|folder| folder.exists()).unwrap()
    }

    fn is_gone(&self) -> bool {
        self.folders.iter().all(|folder| !folder.exists() && !ending(folder).exists())
    }

    /// Where its server listens, once it does.
    fn address(&mut self) -> String {
        let lines: Vec<_> = BufReader::new(self.program.stdout.take().unwrap()).lines().take(2).collect();
        let url = lines[1].as_ref().unwrap();
        let (_, rest) = url.split_once("127.0.0.1:").unwrap();
        let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!("127.0.0.1:{port}")
    }

    /// It and whatever else is in its group.
    fn kill(&mut self, signal: &str) {
        send(signal, &format!("-{}", self.program.id()));
        self.program.wait().unwrap();
    }

    /// The folder goes last: it has another name while its server is being ended.
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

/// The shell that would remove the folder.
fn keeper_of(folder: &Path) -> String {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_its = |process: &fs::DirEntry| {
        let line = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        line.split('\0').skip(3).eq(["keeper", folder.to_str().unwrap(), ""])
    };
    processes.filter(is_its).map(|process| process.file_name().into_string().unwrap()).next().unwrap()
}

#[test]
fn a_server_ends_with_a_program_that_was_killed() {
    for (kind, signal) in KINDS.into_iter().zip(["KILL", "TERM", "INT"].into_iter().cycle()) {
        let mut holder = Holder::of(kind);
        let address = holder.address();
        assert!(TcpStream::connect(&address).is_ok(), "{address}");
        holder.kill(signal);
        holder.wait_until_gone();
        assert!(TcpStream::connect(&address).is_err(), "{kind}");
    }
}

/// As when everything of one user or of one session is killed, and the servers happen to be left.
#[test]
fn a_server_whose_program_and_keeper_were_killed_ends_with_the_next_program() {
    for kind in KINDS {
        let mut holder = Holder::of(kind);
        let address = holder.address();
        send("KILL", &keeper_of(holder.folder()));
        holder.kill("KILL");
        let mut next = Holder::of("redis");
        next.address();
        // Another test's program may have been the next one, and be at it.
        holder.wait_until_gone();
        assert!(TcpStream::connect(&address).is_err(), "{kind}");
        drop(next.program.stdin.take());
        assert!(next.program.wait().unwrap().success());
    }
}

/// One that a test had stopped when it was killed: its processes go on, or they would stay for ever.
#[test]
fn a_stopped_server_ends_with_a_program_that_was_killed() {
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

/// What a process's line says of it after its name: its state, and its parent.
fn said_of(process: &str) -> Option<(String, String)> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut words = line.rsplit_once(')')?.1.split_whitespace();
    Some((words.next()?.to_owned(), words.next()?.to_owned()))
}

fn children_of(parent: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|process| process.file_name().into_string().unwrap());
    processes.filter(|process| said_of(process).is_some_and(|(_, of)| of == parent)).collect()
}

/// One that nobody has asked after yet is gone.
fn is_there(process: &str) -> bool {
    said_of(process).is_some_and(|(state, _)| state != "Z")
}

#[test]
fn a_cluster_goes_with_a_program_that_was_killed_while_it_was_made() {
    let mut holder = Holder::of("postgres");
    wait_until(|| holder.folders.iter().any(|folder| folder.join("data").exists()));
    holder.kill("KILL");
    holder.wait_until_gone();
}

#[test]
fn a_server_ends_with_a_program_that_ends_by_itself() {
    let mut holder = Holder::of("postgres");
    drop(holder.program.stdin.take());
    assert!(holder.program.wait().unwrap().success());
    assert!(holder.is_gone());
}
