//! `conform` on each store: the certificate, the cleanup, and what ends a run early.

#[cfg(all(unix, any(feature = "dynamo", feature = "postgres", feature = "redis")))]
mod ends;

use crate::stores::{Store, tests_on};

tests_on! {
    [dynamo postgres redis sqlite]:
        a_server_is_certified_for_a_part_and_nothing_stays;
}

fn a_server_is_certified_for_a_part_and_nothing_stays<S: Store>() {
    let store = S::bare();
    let place = store.place_of_owner();
    let args = ["conform", "--part", "joined-entities", "--profile", "smoke", "--seed", "7", "--json"];
    // The exit code is 1, because a part does not certify the whole store.
    let certificate = place.run(&args).exits(1).json();
    let parts = certificate["parts"].as_array().unwrap();
    let joined = parts.iter().find(|part| part["part"] == "joined_entities").unwrap();
    assert_eq!(joined["level"], 3, "{certificate}");
    let cases = certificate["cases"].as_array().unwrap().iter().filter(|case| case["end"] == "held").count();
    assert!(cases > 15, "{cases} cases held");
    assert_eq!(store.left_by_the_suite(), Vec::<String>::new());
}
