//! `hand-out` for a crowd on persistent stores: repeated, by several processes at once, and after a crash of the
//! server.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};

use crate::stores::{Store, tests_on};
use crate::support::{Ended, FILES, Given, Place, assert_exactly_once};

tests_on! {
    [dynamo postgres redis sqlite]:
        a_second_run_gives_each_person_the_same_item,
        four_processes_at_once_serve_each_person_once;
}

/// The number of items and the number of people. Each person asks three times.
#[derive(Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) items: usize,
    pub(crate) people: usize,
}

impl Crowd {
    /// Writes the input files of `hand-out`. The first id is the id of the person with the number `first`.
    fn at(self, place: Place, first: usize) -> Place {
        place.write("items.csv", (0..self.items).map(|n| format!("CODE-{n}\n")).collect::<String>());
        place.write("ids.csv", self.ids(first));
        place
    }

    fn ids(self, first: usize) -> String {
        (0..3 * self.people).map(|n| format!("p{}\n", (first + n) % self.people)).collect()
    }

    #[track_caller]
    fn assert_balanced(self, place: &Place) {
        let audit = place.run(&["bank", "audit", "items", "--json"]).exits(0).json();
        assert_eq!(audit["audit"], "ok");
        assert_eq!([&audit["held"], &audit["free"]], [self.people, self.items - self.people]);
    }

    /// Asserts that a second run gives each person the same item.
    pub(crate) fn comes_twice(self, place: Place) {
        let place = self.at(place, 0);
        place.hand_out(&["--alone"]).exits(0);
        let first = place.given("given.csv");
        assert_exactly_once(&first);
        assert_eq!(outcomes(&first), HashMap::from([("new", self.people), ("again", 2 * self.people)]));

        let ended = place.hand_out(&["--alone", "--force"]).exits(0);
        assert_eq!([ended.figure("items added"), ended.figure("already there")], [0, self.items as u64]);
        let second = place.given("given.csv");
        assert_eq!(outcomes(&second), HashMap::from([("again", 3 * self.people)]));
        let items = |given: &[Given]| given.iter().map(|line| line.item.clone()).collect::<Vec<_>>();
        assert_eq!(items(&second), items(&first));
        self.assert_balanced(&place);
    }

    /// Kills the server during a run. Asserts that the run fails and writes no output, and that the next run completes
    /// the work.
    #[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
    pub(crate) fn meets_a_crash(self, place: Place, kill: impl FnOnce(), start_again: impl FnOnce()) {
        let place = self.at(place, 0);
        let (run, mut input, rest) = self.goes_half_way(&place);
        kill();
        // The run may have ended at the first error.
        let _unread = input.write_all(&rest);
        drop(input);
        let failed = Ended::from(run.wait_with_output().unwrap()).exits(3);
        assert!(failed.stderr.contains("\nhelp: "), "{}", failed.stderr);
        assert_eq!(place.read("given.csv"), "old");

        start_again();
        self.carries_on(&place);
    }

    /// Kills a run half-way, and asserts that the next run completes the work.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_left_half_way(self, place: Place) {
        let place = self.at(place, 0);
        let (mut run, _input, _rest) = self.goes_half_way(&place);
        run.kill().unwrap();
        run.wait().unwrap();
        assert_eq!(place.read("given.csv"), "old");
        self.carries_on(&place);
    }

    /// Starts a run, sends the first fifth of its ids, and waits until the run has given an item. Returns the run, its
    /// standard input and the ids that were not sent.
    fn goes_half_way(self, place: &Place) -> (Child, ChildStdin, Vec<u8>) {
        place.write("given.csv", "old");
        let mut run = spawn(place, "-");
        let mut input = run.stdin.take().unwrap();
        let mut ids = self.ids(0).into_bytes();
        let rest = ids.split_off(ids.len() / 5);
        input.write_all(&ids).unwrap();
        while held(place) == 0 {
            assert_eq!(run.try_wait().unwrap(), None, "it waits for more ids");
        }
        (run, input, rest)
    }

    fn carries_on(self, place: &Place) {
        place.hand_out(&["--force"]).exits(0);
        let given = place.given("given.csv");
        assert_exactly_once(&given);
        assert!(outcomes(&given)["new"] < self.people, "the first run gave nobody anything");
        self.assert_balanced(place);
    }
}

fn a_second_run_gives_each_person_the_same_item<S: Store>() {
    let store = S::ready();
    S::CROWD.comes_twice(store.place());
}

fn four_processes_at_once_serve_each_person_once<S: Store>() {
    let (store, crowd) = (S::ready(), S::CROWD);
    let places = [0, 1, 2, 3].map(|quarter| crowd.at(store.place(), quarter * crowd.people / 4));
    let runs: Vec<_> = places.iter().map(|place| spawn(place, "ids.csv")).collect();
    for run in runs {
        Ended::from(run.wait_with_output().unwrap()).exits(0);
    }
    let given: Vec<_> = places.iter().flat_map(|place| place.given("given.csv")).collect();
    assert_exactly_once(&given);
    assert_eq!(outcomes(&given), HashMap::from([("new", crowd.people), ("again", 11 * crowd.people)]));
    crowd.assert_balanced(&places[0]);
}

fn outcomes(given: &[Given]) -> HashMap<&str, usize> {
    let mut outcomes = HashMap::new();
    for line in given {
        *outcomes.entry(line.outcome.as_str()).or_insert(0) += 1;
    }
    outcomes
}

fn spawn(place: &Place, ids: &str) -> Child {
    let mut command =
        place.command(&[&["hand-out", "items", "--force"], &FILES[..2], &["--ids", ids], &FILES[4..]].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn held(place: &Place) -> u64 {
    let counts = place.run(&["bank", "counts", "items", "--json"]).exits(0).json();
    counts["held"].as_u64().unwrap()
}
