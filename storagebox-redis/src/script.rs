//! Scripts, assembled at build time and called by their hash.

use std::borrow::Cow;
use std::sync::{Mutex, OnceLock, PoisonError};

#[derive(Debug)]
pub(crate) struct Script {
    name: &'static str,
    head: &'static str,
    clock: &'static str,
    rest: &'static str,
    /// Whether the script begins by checking the rights to the commands of all scripts. Otherwise the script checks the
    /// rights to its own commands, at its first write.
    asks_for_all: bool,
    rights: OnceLock<String>,
    /// The hashes of the script's text: for one node, and for a cluster.
    hashes: [OnceLock<String>; 2],
    /// The last `Edition` with a clock that a test moved, and the hash of its text.
    moved: Mutex<Option<(Edition, String)>>,
}

/// What the text of a script depends on: the kind of server, and how far the clock is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edition {
    /// How far the clock is moved forward, in microseconds.
    pub(crate) moved: u64,
    /// Whether the server is a cluster, whose slots may be moving to another node.
    pub(crate) clustered: bool,
}

/// The first line of a script that changes data. A read-only server, or a server without free memory, refuses the
/// script.
pub(crate) const CHANGES: &str = "#!lua\n";
/// The first line of a script that only reads. A server without free memory runs the script. A replica refuses the
/// script.
pub(crate) const READS: &str = "#!lua flags=allow-oom\n";

pub(crate) const CLOCK: &str = include_str!("../lua/lib/clock.lua");

const SLOT: &str = include_str!("../lua/lib/slot.lua");
const EPOCH: &str = include_str!("../lua/lib/epoch.lua");
const WRITE: &str = include_str!("../lua/lib/write.lua");
const RIGHTS: &str = include_str!("../lua/lib/rights.lua");
const ANSWER: &str = include_str!("../lua/lib/answer.lua");

/// The commands of all scripts, one per line with its arguments. The user needs the rights to all these commands.
const COMMANDS: &str = include_str!("../lua/commands.txt");

fn commands() -> impl Iterator<Item = (&'static str, usize)> {
    COMMANDS.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.count()))
    })
}

/// Returns the Lua expression that checks the right to one command.
fn ask(command: &str, arguments: usize) -> String {
    // Newer servers check a command only with a number of arguments that the command takes.
    let command = command.to_ascii_uppercase();
    match arguments {
        0 => format!("ask('{command}')"),
        _ => format!("ask('{command}', key{})", ", ''".repeat(arguments - 1)),
    }
}

impl Script {
    pub(crate) const fn new(name: &'static str, head: &'static str, clock: &'static str, rest: &'static str) -> Self {
        let hashes = [OnceLock::new(), OnceLock::new()];
        let moved = Mutex::new(None);
        Self { name, head, clock, rest, asks_for_all: false, rights: OnceLock::new(), hashes, moved }
    }

    /// Makes the script begin by checking the rights to the commands of all scripts.
    pub(crate) const fn asking_for_all(mut self) -> Self {
        self.asks_for_all = true;
        self
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn changes(&self) -> bool {
        self.head == CHANGES
    }

    pub(crate) fn text(&self, edition: Edition) -> String {
        let Self { head, clock, rest, .. } = self;
        let slot = if edition.clustered && self.changes() { SLOT } else { "" };
        let moved = edition.moved;
        let rights = self.rights.get_or_init(|| self.rights());
        let demand = if self.asks_for_all { "demand_rights()\n" } else { "" };
        format!(
            "{head}local MOVED = {moved}\n{slot}{rights}{RIGHTS}{WRITE}{EPOCH}local function script()\n{demand}{clock}{rest}end\n{ANSWER}"
        )
    }

    /// Returns the Lua function that checks the rights to the commands in this script's text.
    fn rights(&self) -> String {
        let texts = [WRITE, EPOCH, self.clock, self.rest];
        let is_used = |command: &str| {
            let command = command.to_ascii_uppercase();
            ["call", "write"].iter().any(|by| texts.iter().any(|text| text.contains(&format!("{by}('{command}'"))))
        };
        let needed = commands().filter(|(command, _)| self.asks_for_all || is_used(command));
        let asks: Vec<_> = needed.map(|(command, arguments)| ask(command, arguments)).collect();
        let all = if asks.is_empty() { "true".to_owned() } else { asks.join(" and ") };
        format!("local function rights(ask, key) return {all} end\n")
    }

    pub(crate) fn hash(&self, edition: Edition) -> Cow<'_, str> {
        let hash = || redis::Script::new(&self.text(edition)).get_hash().to_owned();
        if edition.moved == 0 {
            return Cow::Borrowed(self.hashes[usize::from(edition.clustered)].get_or_init(hash));
        }
        let mut last = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, hash)) if *known == edition => Cow::Owned(hash.clone()),
            _ => Cow::Owned(last.insert((edition, hash())).1.clone()),
        }
    }
}

/// Builds a script from Lua files: the libraries in brackets, then the script. `timed` adds the code that reads the
/// server's clock.
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
    fn a_hash_matches_the_text_of_its_edition() {
        for edition in [PLAIN, MOVED, CLUSTERED, PLAIN, CLUSTERED] {
            assert_eq!(ONE.hash(edition), redis::Script::new(&ONE.text(edition)).get_hash());
        }
        assert!(ONE.changes() && ONE.text(PLAIN).starts_with("#!lua\n"));
    }

    #[test]
    fn a_moved_clock_changes_the_text_of_a_script() {
        assert!(ONE.text(MOVED).contains("local MOVED = 5\n"));
        assert_ne!(ONE.hash(MOVED), ONE.hash(PLAIN));
        assert!(ONE.text(PLAIN).contains("local MOVED = 0\n"));
    }

    #[test]
    fn a_script_checks_the_rights_to_its_own_commands() {
        static WRITES: Script = Script::new("writes", CHANGES, CLOCK, "write('HSET', redis.pcall('LPOP', 'key'), 1)\n");
        let rights = "local function rights(ask, key) return ask('HMGET', key, '') and ask('HSET', key, '', '') and ask('LPOP', key) \
             and ask('TIME') end\n";
        assert_eq!(WRITES.rights(), rights);
        assert!(!WRITES.text(PLAIN).contains("demand_rights()\nlocal moment"));
        static ALL: Script = Script::new("all", READS, "", "return {}\n").asking_for_all();
        assert_eq!(ALL.rights().matches("ask('").count(), COMMANDS.lines().count());
        assert!(ALL.text(PLAIN).contains("demand_rights()\nreturn {}"));
    }

    #[test]
    fn a_writing_script_on_a_cluster_checks_its_slot_first() {
        assert!(ONE.text(CLUSTERED).contains(SLOT) && !ONE.text(PLAIN).contains(SLOT));
        assert_eq!(LOOK.text(CLUSTERED), LOOK.text(PLAIN));
    }
}
