//! Erlang's port mapper, which RabbitMQ needs to start. Each broker has its own port mapper instead of the machine's.

use std::net::TcpStream;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::{INSTALL, NAME};
use crate::failure::Failure;
use crate::port;
use crate::process::{Process, Signal};
use crate::programs::in_path;
use crate::scratch::Scratch;

/// The name of the program, its log and its `.pid` file. Must follow `broker` in the alphabet, because servers are
/// ended in this order.
const SERVER: &str = "epmd";

/// A port mapper, which runs until this value is dropped, even while its broker is down.
#[derive(Debug)]
pub(super) struct Epmd {
    process: Mutex<Process>,
    port: u16,
}

impl Epmd {
    pub(super) fn start(scratch: &Scratch) -> Result<Self, Failure> {
        let program = in_path(SERVER).ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })?;
        port::with_free(|port| {
            let mut server = Command::new(&program);
            server.args(["-port", &port.to_string(), "-address", "127.0.0.1"]);
            let process = Process::start(scratch, SERVER, &server)?;
            let process = process.started(NAME, || TcpStream::connect(("127.0.0.1", port)).is_ok())?;
            Ok(Self { process: Mutex::new(process), port })
        })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Epmd {
    fn drop(&mut self) {
        // The port mapper keeps no data. If it has ended, there is nothing to end.
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = process.end(Signal::Kill);
    }
}
