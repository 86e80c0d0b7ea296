//! Signals and lost servers during a run of `conform`.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use storagebox_conformance::Proxy;
use tokio::runtime::Runtime;

use crate::stores::{Served, tests_on};
use crate::support::Ended;

tests_on! {
    [dynamo postgres redis]:
        a_run_whose_server_is_gone_ends_without_a_verdict,
        a_run_that_is_interrupted_leaves_nothing;
}

/// The number of round trips after which some cases are running.
const UNDER_WAY: usize = 300;

/// A run of the suite on the server behind a proxy.
struct Run {
    _runtime: Runtime,
    proxy: Proxy,
    child: Child,
}

impl Run {
    fn under_way<S: Served>(store: &S) -> Self {
        let runtime = Runtime::new().unwrap();
        let proxy = runtime.block_on(Proxy::start(store.address().parse().unwrap())).unwrap();
        let far = store.place_of_owner().by(store.address(), proxy.addr());
        let mut command = far.command(&["conform", "--part", "bank", "--profile", "quick", "--threads", "8"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        while proxy.round_trips() < UNDER_WAY {
            sleep(Duration::from_millis(5));
        }
        Self { _runtime: runtime, proxy, child }
    }
}

fn ended(child: Child) -> Ended {
    child.wait_with_output().unwrap().into()
}

fn a_run_whose_server_is_gone_ends_without_a_verdict<S: Served>() {
    let store = S::bare();
    let Run { _runtime, proxy, child } = Run::under_way(&store);
    drop(proxy);
    let ended = ended(child).exits(3);
    for said in
        ["without the server there is no verdict", "cannot certify the server to the end", "what may be left: the "]
    {
        assert!(ended.stderr.contains(said), "{said}?\n{}", ended.stderr);
    }
    assert_eq!(ended.stdout, "");
    assert!(
        !ended.stderr.contains("a call returned an error instead of an answer"),
        "no case is to blame\n{}",
        ended.stderr
    );
}

fn a_run_that_is_interrupted_leaves_nothing<S: Served>() {
    let store = S::bare();
    let Run { _runtime, proxy, child } = Run::under_way(&store);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ended = ended(child).exits(130);
    assert!(ended.stdout.contains("no verdict"), "{}", ended.stdout);
    assert_eq!(store.left_by_the_suite(), Vec::<String>::new());
    drop(proxy);
}
