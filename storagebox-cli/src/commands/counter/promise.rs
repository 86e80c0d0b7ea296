//! `storagebox counter promise`: what a strategy promises.

use storagebox::counters::{CounterPromise, Remember};

use crate::answer::{Answer, Field};
use crate::cli::Promise;
use crate::exit::Exit;

pub(super) fn answer(args: &Promise, promise: CounterPromise) -> Answer {
    let answer = Answer::new(Exit::Done)
        .text("namespace", &args.of.name)
        .text("remembers", remembers(promise.remember))
        .with("recognises_repeats", Field::Flag(promise.recognises_repeats()))
        .with("bounds_per_change", Field::Flag(promise.bounds_per_change))
        .with("answers_value", Field::Flag(promise.answers_value))
        .with("tells_mismatch", Field::Flag(promise.tells_mismatch))
        .with("snapshot", Field::Flag(promise.snapshot));
    match promise.capacity {
        Some(capacity) => answer.figure("capacity", capacity.into()),
        None => answer,
    }
}

fn remembers(memory: Remember) -> String {
    match memory {
        Remember::None => "nothing".to_owned(),
        Remember::For(time) => humantime::format_duration(time).to_string(),
        Remember::Writers(writers) => format!("the last {writers} operations"),
        Remember::Forever => "forever".to_owned(),
    }
}
