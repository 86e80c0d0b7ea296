//! The namespace that a command works in: the first argument of every command of every part.

use clap::Args;
use storagebox::{Error, MAX_ID_BYTES, Namespace};

#[derive(Clone, Debug, Args)]
pub(crate) struct OfNamespace {
    /// Namespace: the name of a bank, or of a set of records, tokens, counters or values
    #[arg(value_name = "NAMESPACE", value_parser = namespace)]
    pub name: Namespace,
}

/// Why a text is no namespace.
#[derive(Debug, thiserror::Error)]
#[error("a namespace has 1 to {MAX_ID_BYTES} bytes, and no U+0000")]
pub(super) struct NoNamespace(#[source] Error);

pub(super) fn namespace(text: &str) -> Result<Namespace, NoNamespace> {
    Namespace::new(text).map_err(NoNamespace)
}
