//! What the promises cost.
