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
    /// On one node and on a cluster.
    hashes: [OnceLock<String>; 2],
}

/// Which text of a script it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edition {
    /// How far the clock is moved on, in microseconds.
    pub(crate) moved: u64,
    /// Whether the server is a cluster, whose slots may be on their way to another node.
    pub(crate) clustered: bool,
}

/// The head of a script that changes something: it is refused as a whole where memory is short or the server only
/// reads.
pub(crate) const CHANGES: &str = "#!lua\n";
/// The head of a script that only reads. A server that is a replica by now refuses it too, since what it has may be
/// old; one that is short of memory does not.
pub(crate) const READS: &str = "#!lua flags=allow-oom\n";

pub(crate) const CLOCK: &str = include_str!("../lua/lib/clock.lua");

const SLOT: &str = include_str!("../lua/lib/slot.lua");
const EPOCH: &str = include_str!("../lua/lib/epoch.lua");
const WRITE: &str = include_str!("../lua/lib/write.lua");
const ANSWER: &str = include_str!("../lua/lib/answer.lua");

impl Script {
    pub(crate) const fn new(name: &'static str, head: &'static str, clock: &'static str, rest: &'static str) -> Self {
        Self { name, head, clock, rest, hashes: [OnceLock::new(), OnceLock::new()] }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn changes(&self) -> bool {
        self.head == CHANGES
    }

    /// The whole text.
    pub(crate) fn text(&self, edition: Edition) -> String {
        let Self { head, clock, rest, .. } = self;
        let slot = if edition.clustered && self.changes() { SLOT } else { "" };
        let moved = edition.moved;
        format!("{head}local MOVED = {moved}\n{slot}{WRITE}{EPOCH}local function script()\n{clock}{rest}end\n{ANSWER}")
    }

    pub(crate) fn hash(&self, edition: Edition) -> Cow<'_, str> {
        let hash = || redis::Script::new(&self.text(edition)).get_hash().to_owned();
        match edition.moved {
            0 => Cow::Borrowed(self.hashes[usize::from(edition.clustered)].get_or_init(hash)),
            _ => Cow::Owned(hash()),
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
    static LOOK: Script = Script::new("look", READS, "", "return {}\n");

    const PLAIN: Edition = Edition { moved: 0, clustered: false };
    const MOVED: Edition = Edition { moved: 5, clustered: false };
    const CLUSTERED: Edition = Edition { moved: 0, clustered: true };

    #[test]
    fn the_hash_is_that_of_the_text() {
        for edition in [PLAIN, MOVED, CLUSTERED, PLAIN, CLUSTERED] {
            assert_eq!(ONE.hash(edition), redis::Script::new(&ONE.text(edition)).get_hash());
        }
        assert!(ONE.changes() && ONE.text(PLAIN).starts_with("#!lua\n"));
    }

    #[test]
    fn a_clock_that_was_moved_makes_another_script() {
        assert!(ONE.text(MOVED).contains("local MOVED = 5\n"));
        assert_ne!(ONE.hash(MOVED), ONE.hash(PLAIN));
        assert!(ONE.text(PLAIN).contains("local MOVED = 0\n"));
    }

    #[test]
    fn on_a_cluster_what_changes_something_looks_at_its_slot_first() {
        assert!(ONE.text(CLUSTERED).contains(SLOT) && !ONE.text(PLAIN).contains(SLOT));
        assert_eq!(LOOK.text(CLUSTERED), LOOK.text(PLAIN));
    }
}
