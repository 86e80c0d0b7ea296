//! Scripts: assembled when the library is built, known to the server by their hash.

use std::borrow::Cow;
use std::sync::OnceLock;

/// One operation. Its pieces stand in `lua/`.
#[derive(Debug)]
pub(crate) struct Script {
    name: &'static str,
    head: &'static str,
    clock: &'static str,
    rest: &'static str,
    hash: OnceLock<String>,
}

/// The head of a script that changes something: it is refused as a whole where memory is short or the server only reads.
pub(crate) const CHANGES: &str = "#!lua\n";
/// The head of a script that only reads.
pub(crate) const READS: &str = "#!lua flags=no-writes\n";

pub(crate) const CLOCK: &str = include_str!("../lua/lib/clock.lua");

impl Script {
    pub(crate) const fn new(
        name: &'static str,
        head: &'static str,
        clock: &'static str,
        rest: &'static str,
    ) -> Self {
        Self { name, head, clock, rest, hash: OnceLock::new() }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn changes(&self) -> bool {
        self.head == CHANGES
    }

    /// The whole text, with the clock moved on by this, in microseconds.
    pub(crate) fn text(&self, moved: u64) -> String {
        let Self { head, clock, rest, .. } = self;
        format!("{head}local MOVED = {moved}\n{clock}{rest}")
    }

    pub(crate) fn hash(&self, moved: u64) -> Cow<'_, str> {
        let hash = |moved| redis::Script::new(&self.text(moved)).get_hash().to_owned();
        match moved {
            0 => Cow::Borrowed(self.hash.get_or_init(|| hash(0))),
            moved => Cow::Owned(hash(moved)),
        }
    }
}

/// A script out of files of `lua/`: those in brackets first. Those that are `timed` begin with the server's clock.
macro_rules! script {
    ($name:literal, $head:ident, timed, [$($lib:literal),*], $file:literal) => {
        $crate::script::script!(@ $name, $head, $crate::script::CLOCK, [$($lib),*], $file)
    };
    ($name:literal, $head:ident, [$($lib:literal),*], $file:literal) => {
        $crate::script::script!(@ $name, $head, "", [$($lib),*], $file)
    };
    (@ $name:literal, $head:ident, $clock:expr, [$($lib:literal),*], $file:literal) => {
        $crate::script::Script::new($name, $crate::script::$head, $clock, concat!(
            $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lua/lib/", $lib, ".lua")),)*
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lua/", $file, ".lua")),
        ))
    };
}

pub(crate) use script;

#[cfg(test)]
mod tests {
    use super::*;

    static ONE: Script = Script::new("one", CHANGES, CLOCK, "return { now() }\n");

    #[test]
    fn the_hash_is_that_of_the_text() {
        assert_eq!(ONE.hash(0), redis::Script::new(&ONE.text(0)).get_hash());
        assert!(ONE.changes() && ONE.text(0).starts_with("#!lua\n"));
    }

    #[test]
    fn a_clock_that_was_moved_makes_another_script() {
        assert!(ONE.text(5).contains("local MOVED = 5\n"));
        assert_ne!(ONE.hash(5), ONE.hash(0));
        assert!(ONE.text(0).contains("local MOVED = 0\n"));
    }
}
