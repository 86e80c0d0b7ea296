//! The number of inputs that are tried, and that faults are found.

use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox_fuzz::{INPUTS, Value, bytes, texts, values};

fn add(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn as_many_are_tried_as_are_said_and_what_is_known_is_one_of_them() {
    let (all, known) = (AtomicUsize::new(0), AtomicUsize::new(0));
    texts(&["known", "other"], |text| {
        add(&all);
        if text == "known" {
            add(&known);
        }
    });
    let (all, known) = (all.into_inner(), known.into_inner());
    assert!(all >= INPUTS && known > 0 && known < all / 2, "{known} of {all}");
}

#[test]
#[should_panic(expected = "test failed")]
fn a_text_that_a_reader_does_not_stand_is_found() {
    texts(&["a=1&b=2"], |text| assert!(!text.contains('"'), "a quote in it"));
}

#[test]
#[should_panic(expected = "test failed")]
fn bytes_that_are_no_text_are_found() {
    bytes(&["text"], |bytes| assert!(std::str::from_utf8(bytes).is_ok(), "no UTF-8"));
}

#[test]
#[should_panic(expected = "test failed")]
fn a_list_that_lacks_its_last_part_is_found() {
    let list = Value::texts(&["word", "7"]);
    values(vec![list], |value| assert!(!matches!(value, Value::List(list) if list.len() < 2), "too short"));
}

#[test]
#[should_panic(expected = "test failed")]
fn a_number_at_its_end_is_found_within_a_map() {
    let map = Value::map([("count", Value::Number(1))]);
    let is_end = |value: &Value| *value == Value::Number(i64::MAX);
    values(vec![map], |value| {
        let Value::Map(map) = value else { return };
        assert!(!map.iter().any(|(_, value)| is_end(value)), "another number");
    });
}
