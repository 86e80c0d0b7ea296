//! The store itself, and boxes that are opened.
