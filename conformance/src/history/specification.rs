//! What an object does when its calls come one at a time.

use std::fmt::Debug;
use std::hash::Hash;

/// The sequential specification of an object: what each operation may do in each state.
pub trait Specification {
    /// Everything about the object that decides later replies.
    type State: Clone + Eq + Hash + Debug;
    /// What a client calls, with its arguments.
    type Op: Debug;
    /// What a client is answered.
    type Reply: Eq + Debug;

    /// The state before the first invocation.
    fn initial(&self) -> Self::State;

    /// Every outcome that `op` may have in `state`: the state it leaves and the reply it gives.
    ///
    /// Several outcomes make the operation nondeterministic; none forbids it in this state.
    fn step(&self, state: &Self::State, op: &Self::Op) -> Vec<(Self::State, Self::Reply)>;
}
