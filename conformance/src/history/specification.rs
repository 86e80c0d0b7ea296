//! The behaviour of an object whose calls are made one at a time.

use std::fmt::Debug;
use std::hash::Hash;

/// The sequential specification of an object: the possible outcomes of each operation in each state.
pub trait Specification {
    /// Everything about the object that affects later replies.
    type State: Clone + Eq + Hash + Debug;
    /// A client's call, with its arguments.
    type Op: Debug;
    /// The reply to a call.
    type Reply: Eq + Debug;

    /// Returns the state before the first invocation.
    fn initial(&self) -> Self::State;

    /// Returns every possible outcome of `op` in `state`: the next state and the reply.
    ///
    /// Several outcomes make the operation nondeterministic. An empty list forbids the operation in this state.
    fn step(&self, state: &Self::State, op: &Self::Op) -> Vec<(Self::State, Self::Reply)>;
}
