//! The spans of calls and their fields.

use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A subscriber that records each span with the name `call`.
#[derive(Clone, Default)]
pub(crate) struct Spans(Arc<Mutex<Vec<String>>>);

impl Spans {
    pub(crate) fn told(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A visitor that collects, as text, the fields that the tests check.
struct Told<'a>(&'a mut String);

impl Visit for Told<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "operation" => self.0.push_str(format!("{value:?}").trim_matches('"')),
            "namespace" => self.0.push_str(&format!(" in {value:?}, attempts")),
            "attempts" => self.0.push_str(&format!(" {value:?}")),
            _ => {}
        }
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.name() == "call"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut spans = self.0.lock().unwrap();
        let mut told = String::new();
        attributes.record(&mut Told(&mut told));
        spans.push(told);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut spans = self.0.lock().unwrap();
        let number = usize::try_from(id.into_u64()).unwrap();
        values.record(&mut Told(&mut spans[number - 1]));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
