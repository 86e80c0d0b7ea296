//! The number of inputs that are tried, and the faults that they find.

use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox_fuzz::{INPUTS, Value, bytes, texts, values};

fn add(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn every_input_is_tried_and_some_inputs_are_the_known_text() {
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
fn edits_include_a_text_that_breaks_a_parser() {
    texts(&["a=1&b=2"], |text| assert!(!text.contains('"'), "a quote in it"));
}

#[test]
#[should_panic(expected = "test failed")]
fn edits_include_bytes_that_are_not_utf8() {
    bytes(&["text"], |bytes| assert!(std::str::from_utf8(bytes).is_ok(), "no UTF-8"));
}

#[test]
#[should_panic(expected = "test failed")]
fn edits_include_a_list_without_its_last_value() {
    let list = Value::texts(&["word", "7"]);
    values(vec![list], |value| assert!(!matches!(value, Value::List(list) if list.len() < 2), "too short"));
}

#[test]
#[should_panic(expected = "test failed")]
fn edits_include_the_largest_number_within_a_map() {
    let map = Value::map([("count", Value::Number(1))]);
    let is_end = |value: &Value| *value == Value::Number(i64::MAX);
    values(vec![map], |value| {
        let Value::Map(map) = value else { return };
        assert!(!map.iter().any(|(_, value)| is_end(value)), "another number");
    });
}
