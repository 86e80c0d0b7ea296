//! No process tree: Windows has no signals. The console notifies all its programs. Dropping a command ends only the
//! command's first process.

use tokio::process::Command;

use crate::interrupt::Signal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tree;

pub(in crate::commands::dedup) fn adopt_orphans() {}

pub(super) fn set_apart(_: &mut Command) -> bool {
    false
}

impl Tree {
    pub(super) fn of(leader: Option<u32>, _: bool) -> Option<Self> {
        leader.map(|_| Self)
    }

    pub(super) fn without_leader(self) -> Self {
        self
    }

    pub(super) fn pass_on(self, _: Signal) {}

    pub(super) fn kill(self) {}

    pub(super) async fn end(self, _: impl Fn() -> bool) -> bool {
        true
    }

    pub(super) fn group(self) -> Option<()> {
        None
    }

    pub(super) fn reap(self) {}
}
