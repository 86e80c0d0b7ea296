//! `dedup`, `token`, `counter` and `ordered` on persistent stores: every command, in its own process.

use serde_json::{Value, json};

use crate::stores::{Store, tests_on};
use crate::support::Place;

tests_on! {
    [dynamo postgres redis sqlite]:
        records_are_remembered,
        tokens_are_consumed_once,
        operations_are_counted_once,
        the_newest_value_is_kept,
        promises_and_demo_run_on_every_store;
    [dynamo]:
        a_ledger_is_listed_and_merged;
    [postgres redis sqlite]:
        an_unsupported_strategy_names_an_alternative;
}

struct Namespaces(Place);

impl Namespaces {
    #[track_caller]
    fn says(&self, args: &[&str], code: i32) -> String {
        self.0.run(args).exits(code).stdout
    }

    /// Runs a command, and returns these fields of its answer.
    #[track_caller]
    fn answers<const N: usize>(&self, args: &[&str], code: i32, facts: [&str; N]) -> [Value; N] {
        let answer = self.0.run(&[args, &["--json"]].concat()).exits(code).json();
        facts.map(|fact| answer[fact].clone())
    }
}

fn records_are_remembered<S: Store>() {
    let store = S::ready();
    let here = Namespaces(store.place());
    let record = |value, op| ["dedup", "record", "records", "order-7", value, "--op", op];
    let told = ["outcome", "value"];
    assert_eq!(here.answers(&record("paid", "ada"), 0, told), ["new", "paid"]);
    assert_eq!(here.answers(&record("paid", "ada"), 0, told), ["again", "paid"]);
    assert_eq!(here.answers(&record("refused", "bob"), 1, told), ["existing", "paid"]);
    assert_eq!(here.answers(&["dedup", "get", "records", "order-7"], 0, told), ["recorded", "paid"]);
    assert_eq!(here.answers(&["dedup", "get", "records", "order-8"], 1, ["outcome"]), ["absent"]);
    here.0.write("value", b"\xFF\0\n");
    let odd = ["dedup", "record", "records", "odd", "--file", "value", "--op", "ada", "--keep", "forever"];
    assert_eq!(here.answers(&odd, 0, ["value_base64"]), ["/wAK"]);
    let output = here.0.command(&["dedup", "get", "records", "odd", "--out", "-"]).output().unwrap();
    assert_eq!(output.stdout, b"\xFF\0\n");
    let listed = here.says(&["dedup", "list", "records", "--json"], 0);
    let mut ids: Vec<_> = listed.lines().map(|line| fact(line, "id").to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["\"odd\"", "\"order-7\""]);
    assert_eq!(here.answers(&["dedup", "forget", "records", "order-7"], 0, ["outcome"]), ["forgotten"]);
    assert_eq!(here.answers(&["dedup", "forget", "records", "order-7"], 1, ["outcome"]), ["absent"]);
    assert_eq!(here.answers(&record("paid", "ada"), 1, ["outcome"]), ["fenced"]);
    // Ended operations are remembered for a week.
    assert_eq!(here.answers(&["maintain"], 0, ["deleted"]), [0]);
}

fn tokens_are_consumed_once<S: Store>() {
    let store = S::ready();
    let here = Namespaces(store.place());
    let input: String = (0..1_500).map(|number| format!("m-{number}\n")).collect();
    let create = ["token", "create", "tokens", "--file", "-", "--json"];
    for (created, already_live) in [(1_500, 0), (0, 1_500)] {
        let answer = here.0.run_with_input(&create, input.as_bytes()).exits(0).json();
        assert_eq!([&answer["created"], &answer["already_live"]], [created, already_live]);
    }
    let consume = |op| ["token", "consume", "tokens", "m-7", "--op", op];
    assert_eq!(
        here.says(&["token", "exists", "tokens", "m-7"], 0),
        "namespace tokens\ntoken     m-7\noutcome   live\n"
    );
    assert_eq!(here.answers(&consume("ada"), 0, ["outcome"]), ["now"]);
    assert_eq!(here.answers(&consume("ada"), 0, ["outcome"]), ["again"]);
    assert_eq!(here.answers(&consume("bob"), 1, ["outcome"]), ["already_gone"]);
    assert_eq!(here.answers(&["token", "exists", "tokens", "m-7"], 1, ["outcome"]), ["absent"]);
    assert_eq!(here.answers(&["token", "create", "tokens", "m-7", "new"], 1, ["created", "gone"]), [1, 1]);
}

/// Uses the default strategy, and then the strategy `window`.
fn operations_are_counted_once<S: Store>() {
    let store = S::ready();
    let here = Namespaces(store.place());
    let sell = |op| ["counter", "add", "counters", "shoes", "-1", "--op", op, "--min", "0"];
    assert_eq!(here.answers(&sell("order-1"), 1, ["outcome"]), ["out_of_bounds"]);
    let fill = ["counter", "add", "counters", "shoes", "1", "--op", "delivery"];
    assert_eq!(here.answers(&fill, 0, ["outcome"]), ["applied"]);
    assert_eq!(here.answers(&fill, 0, ["outcome"]), ["already_applied"]);
    assert_eq!(here.answers(&sell("order-1"), 0, ["outcome"]), ["applied"]);
    assert_eq!(here.answers(&sell("order-1"), 0, ["outcome"]), ["already_applied"]);
    assert_eq!(here.answers(&sell("order-2"), 1, ["outcome"]), ["out_of_bounds"]);
    assert_eq!(here.answers(&["counter", "get", "counters", "shoes"], 0, ["value"]), [0]);
    let other = here.0.run(&["counter", "get", "counters", "shoes", "--strategy", "atomic"]).exits(2);
    assert!(other.stderr.contains("\nhelp: "), "{}", other.stderr);
    let within = ["--strategy", "window:1h:2"];
    for (op, code, outcome) in [("a", 0, "applied"), ("b", 0, "applied"), ("c", 1, "full")] {
        let add = [&["counter", "add", "window", "shoes", "5", "--op", op][..], &within].concat();
        assert_eq!(here.answers(&add, code, ["outcome"]), [outcome]);
    }
}

#[cfg(feature = "dynamo")]
fn a_ledger_is_listed_and_merged<S: Store>() {
    let store = S::ready();
    let here = Namespaces(store.place());
    for (op, delta) in [("deposit", "30"), ("withdrawal", "-5")] {
        let add = ["counter", "add", "counters", "ada", delta, "--op", op, "--strategy", "ledger"];
        assert_eq!(here.answers(&add, 0, ["outcome"]), ["applied"]);
    }
    let log = here.says(&["counter", "log", "counters", "ada", "--json"], 0);
    let ops: Vec<_> = log.lines().map(|line| fact(line, "op")).collect();
    assert_eq!(ops, ["deposit", "withdrawal"]);
    let compact = ["counter", "compact", "counters", "ada", "--older-than", "0s"];
    assert_eq!(here.answers(&compact, 0, ["merged"]), [2]);
    let log = here.says(&["counter", "log", "counters", "ada", "--json"], 0);
    assert_eq!(log.lines().map(|line| fact(line, "delta")).collect::<Vec<_>>(), [25]);
    let get = ["counter", "get", "counters", "ada", "--strategy", "ledger"];
    assert_eq!(here.answers(&get, 0, ["value"]), [25]);
}

/// A backend without the strategy `ledger` advises another strategy.
#[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
fn an_unsupported_strategy_names_an_alternative<S: Store>() {
    let store = S::ready();
    let here = Namespaces(store.place());
    for args in
        [&["counter", "log", "counters", "ada"][..], &["counter", "get", "counters", "ada", "--strategy", "ledger"]]
    {
        let refused = here.0.run(args).exits(2);
        let lines: Vec<_> = refused.stderr.lines().collect();
        assert!(lines[0].contains("not supported; use "), "{}", refused.stderr);
        assert!(lines[1].starts_with("help: "), "{}", refused.stderr);
    }
}

fn the_newest_value_is_kept<S: Store>() {
    let store = S::ready();
    let here = Namespaces(store.place());
    let put = |value, at, writer| {
        ["ordered", "put", "values", "movie/a", value, "--at", at, "--writer", writer, "--stamps", "sequence"]
    };
    assert_eq!(here.answers(&put("5", "20", "phone"), 0, ["outcome"]), ["applied"]);
    assert_eq!(here.answers(&put("5", "20", "phone"), 0, ["outcome"]), ["duplicate"]);
    let stale = here.answers(&put("3", "10", "laptop"), 1, ["outcome", "at", "writer"]);
    assert_eq!(stale, [json!("stale"), json!(20), json!("phone")]);
    let of = |command: &[&'static str]| {
        [&["ordered", command[0], "values"], &command[1..], &["--stamps", "sequence"]].concat()
    };
    assert_eq!(here.answers(&of(&["get", "movie/a"]), 0, ["value"]), ["5"]);
    assert_eq!(here.says(&of(&["get", "movie/a", "--out", "-"]), 0), "5");
    let list = of(&["list", "--prefix", "movie/"]);
    assert_eq!(here.says(&list, 0), "key,at,writer,value\nmovie/a,20,phone,5\n");
    let delete = of(&["delete", "movie/a", "--at", "30", "--writer", "phone"]);
    assert_eq!(here.answers(&delete, 0, ["outcome"]), ["applied"]);
    assert_eq!(here.answers(&of(&["get", "movie/a"]), 1, ["outcome"]), ["absent"]);
    assert_eq!(here.answers(&of(&["purge", "--older-than", "0s"]), 0, ["purged"]), [1]);
    let times = here.0.run(&["ordered", "get", "values", "movie/a"]).exits(2);
    assert!(times.stderr.contains("\nhelp: "), "{}", times.stderr);
}

/// `demo` must pass, and must name the bank that it leaves.
fn promises_and_demo_run_on_every_store<S: Store>() {
    let store = S::ready();
    let here = Namespaces(store.place());
    let promises = here.0.run(&["promises", "--json"]).exits(0).json();
    assert!(promises["promises"].as_array().unwrap().len() > 3, "{promises}");
    let demo = here.0.run(&["demo", "--people", "20", "--json"]).exits(0);
    let told = demo.json();
    assert_eq!([&told["audit"], &told["given"]], [&json!("ok"), &json!(20)]);
    assert!(demo.stderr.contains("stays in the store"), "{}", demo.stderr);
}

fn fact(line: &str, fact: &str) -> Value {
    serde_json::from_str::<Value>(line).unwrap()[fact].clone()
}
