//! The namespace that a command works in: the first argument of every command of every part.

use clap::Args;
use storagebox::{BoxName, Error, MAX_ID_BYTES};

#[derive(Clone, Debug, Args)]
pub(crate) struct OfNamespace {
    /// Namespace: the name of a bank, or of a set of records, tokens, counters or values
    #[arg(value_name = "NAMESPACE", value_parser = namespace)]
    pub name: BoxName,
}

/// Why a text is no namespace.
#[derive(Debug, thiserror::Error)]
#[error("a namespace has 1 to {MAX_ID_BYTES} bytes, and no U+0000")]
pub(super) struct NoNamespace(#[source] Error);

pub(super) fn namespace(text: &str) -> Result<BoxName, NoNamespace> {
    BoxName::new(text).map_err(NoNamespace)
}
