//! Commands that a signal ends while a call is in flight: the advice is that of a call whose reply was lost.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Ended, Place};

/// Runs a command on a server that never answers, and interrupts its first call. Returns the error.
fn interrupted(args: &[&str]) -> Value {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let place = Place::new().on(&format!("redis://{}", silent.local_addr().unwrap()));
    let mut command = place.command(&[args, &["--json"]].concat());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _in_flight = connected(&silent, &mut child);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ended = Ended::from(child.wait_with_output().unwrap()).exits(130);
    serde_json::from_str(&ended.stderr).unwrap()
}

/// Waits for the connection of the first call.
fn connected(silent: &TcpListener, child: &mut Child) -> TcpStream {
    loop {
        match silent.accept() {
            Ok((stream, _)) => return stream,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        assert_eq!(child.try_wait().unwrap(), None, "the command ended without a call");
        thread::yield_now();
    }
}

#[test]
fn the_advice_after_a_signal_depends_on_what_was_in_flight() {
    let sale = ["counter", "add", "stock", "shoes", "-1", "--op", "sale"];
    for (args, certainty, help) in [
        (&[&sale[..], &["--strategy", "atomic"]].concat()[..], "Unknown", "read the value first"),
        (&sale, "Unknown", "run the same command again, which does nothing twice"),
        (&["dedup", "forget", "records", "order", "--version", "7"], "Unknown", "with --version 7"),
        (&["bank", "counts", "b"], "NotApplied", "nothing was changed"),
    ] {
        let told = interrupted(args);
        assert_eq!((&told["error"], &told["certainty"]), (&"interrupted".into(), &certainty.into()), "{told}");
        assert!(told["help"].as_str().unwrap().contains(help), "{told}");
    }
}
