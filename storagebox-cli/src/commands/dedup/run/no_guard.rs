//! No guard: on Windows the console ends a command with its runner.

#[derive(Debug)]
pub(super) enum Guard {}

impl Guard {
    pub(super) fn start() -> Option<Self> {
        None
    }

    pub(super) fn guards(&self, (): ()) {}
}
