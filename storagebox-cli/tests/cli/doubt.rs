//! Commands whose replies are lost: a change of a counter that is not recognised when it is repeated, and a bank that
//! runs empty.

use std::net::SocketAddr;

use serde_json::{Value, json};
use storagebox_conformance::{Cut, Proxy};
use tokio::runtime::Runtime;

use crate::stores::{Served, tests_on};
use crate::support::{Ended, Place};

tests_on! {
    [dynamo postgres redis]:
        a_change_with_unknown_outcome_is_reported_not_retried, an_empty_bank_is_reported_although_replies_are_lost,
        the_audit_of_a_run_that_is_alone_holds_although_replies_are_lost;
}

/// An upper bound of the number of requests of one change.
const MOST_REQUESTS: usize = 20;

/// A proxy that cuts the connection during a command.
struct Doubt {
    _runtime: Runtime,
    proxy: Proxy,
}

impl Doubt {
    fn before(server: &str) -> Self {
        let server: SocketAddr = server.parse().unwrap();
        let runtime = Runtime::new().unwrap();
        let proxy = runtime.block_on(Proxy::start(server)).unwrap();
        Self { _runtime: runtime, proxy }
    }

    /// Cuts the connection at each request of a change, and counts the cuts after which the outcome was unknown.
    fn doubts(&self, far: &Place, near: &Place, strategy: &str, cut: Cut) -> usize {
        let mut doubts = 0;
        for passing in 0..MOST_REQUESTS {
            let key = format!("key-{cut:?}-{passing}");
            let counter = ["--strategy", strategy, "--json"];
            let add = |delta, op| [&["counter", "add", strategy, &key, delta, "--op", op][..], &counter].concat();
            near.run(&add("1", "before")).exits(0);
            self.proxy.arm(cut, &key, passing);
            let ended = far.run(&add("2", "sale"));
            let was_cut = !self.proxy.disarm();
            let value = near.run(&[&["counter", "get", strategy, &key][..], &counter].concat()).exits(0).json();
            let value = value["value"].as_i64().unwrap();
            doubts += usize::from(is_in_doubt(ended, value));
            if !was_cut {
                return doubts;
            }
        }
        panic!("{strategy} takes more than {MOST_REQUESTS} requests");
    }
}

/// The change is applied at most once, wherever the connection is cut. If the outcome is unknown, the command advises
/// the user to read the value.
fn a_change_with_unknown_outcome_is_reported_not_retried<S: Served>() {
    let store = S::ready();
    let doubt = Doubt::before(store.address());
    let (far, near) = (store.place_by(doubt.proxy.addr()), store.place());
    for strategy in S::FORGETFUL {
        for cut in [Cut::RequestLost, Cut::ReplyLost, Cut::HalfReply] {
            let doubts = doubt.doubts(&far, &near, strategy, cut);
            // A history recognises a repeated change itself.
            assert!(doubts > 0 || *strategy != "atomic", "no doubt with {strategy} and {cut:?}");
        }
    }
}

fn is_in_doubt(ended: Ended, value: i64) -> bool {
    if ended.code == 0 {
        assert_eq!(value, 3, "{}", ended.stdout);
        return false;
    }
    let ended = ended.exits(3);
    let told: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!((&told["certainty"], &told["retryable"]), (&json!("Unknown"), &json!(false)), "{told}");
    assert!(told["help"].as_str().unwrap().contains("read the value first"), "{told}");
    assert!([1, 3].contains(&value), "the value is {value} after 2 on 1");
    true
}

/// Every third reply is lost, and half of the people find an empty bank. The command reports `empty` for each of these
/// people, and no outcome is unknown.
fn an_empty_bank_is_reported_although_replies_are_lost<S: Served>() {
    const PEOPLE: usize = 24;
    let store = S::ready();
    let doubt = Doubt::before(store.address());
    let far = store.place_by(doubt.proxy.addr());
    far.write("items.csv", lines("item", PEOPLE / 2));
    far.write("ids.csv", lines("person", PEOPLE));
    doubt.proxy.arm_every(Cut::ReplyLost, "person-", 3);
    // The exit code is 1, because some people have no item. An unknown outcome would be 3.
    far.hand_out(&["--concurrency", "1"]).exits(1);
    let given = far.read("given.csv");
    let refused = given.lines().filter(|line| line.ends_with(",empty")).count();
    assert_eq!(refused, PEOPLE / 2, "{given}");
    assert!(doubt.proxy.cuts() >= PEOPLE / 3, "{} cuts", doubt.proxy.cuts());
}

/// A backend repeats a call whose reply was lost, and may answer that the item was there, or that the id had it: the
/// command cannot know of it.
fn the_audit_of_a_run_that_is_alone_holds_although_replies_are_lost<S: Served>() {
    const PEOPLE: usize = 12;
    let store = S::ready();
    let doubt = Doubt::before(store.address());
    let far = store.place_by(doubt.proxy.addr());
    far.write("items.csv", lines("item", PEOPLE));
    far.write("ids.csv", lines("person", PEOPLE));
    doubt.proxy.arm(Cut::ReplyLost, "item-", 0);
    far.hand_out(&["--alone"]).exits(0);
    assert!(!doubt.proxy.disarm(), "the reply to the items was not lost");

    far.write("items.csv", lines("thing", PEOPLE));
    far.write("ids.csv", lines("guest", PEOPLE));
    doubt.proxy.arm_every(Cut::ReplyLost, "guest-", 3);
    far.hand_out(&["--alone", "--force", "--concurrency", "1"]).exits(0);
    assert!(doubt.proxy.cuts() > PEOPLE / 3, "{} cuts", doubt.proxy.cuts());
}

fn lines(name: &str, count: usize) -> String {
    (0..count).map(|number| format!("{name}-{number}\n")).collect()
}
