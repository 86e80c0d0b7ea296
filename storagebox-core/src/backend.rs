//! For authors of backends: the parts that are the same for every store. Callers of a backend do not need them.

mod attempts;
pub(crate) mod calls;
pub(crate) mod combine;
mod deadline;
pub(crate) mod fields;
mod format;
mod forward;
mod kinds;
mod micros;
mod nameless;
mod namespaces;
mod page_request;
pub(crate) mod race;
pub(crate) mod retry;
pub mod rules;
mod single_flight;
mod store_options;
pub mod url;

pub use crate::contract::backend::Backend;
pub use crate::contract::promises::{Maintained, Promise, Promises};
pub use attempts::Attempts;
pub use deadline::in_time;
pub use format::StoreFormat;
pub use kinds::NamespaceKind;
pub use micros::{micros, micros_of, retention_of};
pub use nameless::is_nameless;
pub use namespaces::OpenNamespaces;
pub use page_request::PageRequest;
pub use retry::{Backoff, pauses, repeat};
pub use rules::counters::CounterRules;
pub use rules::ordered::OrderedRules;
pub use single_flight::{Flight, SingleFlight};
pub use store_options::StoreOptions;
