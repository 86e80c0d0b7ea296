//! The values that calls of all parts take and return: texts and bytes, times, pages, messages and errors.

pub(crate) mod attempt;
pub(crate) mod clock;
pub(crate) mod error;
pub(crate) mod ids;
pub(crate) mod message;
pub(crate) mod page;
pub(crate) mod time;
pub(crate) mod value;
