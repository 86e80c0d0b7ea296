//! The parts that a program supplies to a processor: the handler of messages and their dispatcher.

use std::error::Error as StdError;
use std::sync::Arc;

use async_trait::async_trait;

use crate::values::message::{Decision, Message, Outgoing};
use crate::values::value::Payload;

/// An error of a handler or a dispatcher.
pub type BoxError = Box<dyn StdError + Send + Sync + 'static>;

/// Decides what a message changes and sends.
///
/// A handler has no effect except its decision: it may run several times for one message, at once or after a crash, and
/// at most one of its decisions is stored. It may read anything. To have an effect elsewhere, it sends a message.
///
/// A function or closure that takes the state and the message and returns a future is a handler. Several futures may
/// exist at once, so whatever a future needs from the closure must be cloned for it.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Returns the decision for this message. `state` is the state of the message's entity, or `None` if the entity
    /// does not exist.
    ///
    /// # Errors
    ///
    /// Any error: nothing changes, and the message may come again.
    async fn handle(&self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError>;
}

#[async_trait]
impl<F, Fut> Handler for F
where
    F: Fn(Option<Payload>, Message) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Decision, BoxError>> + Send,
{
    async fn handle(&self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        self(state, message.clone()).await
    }
}

/// Sends messages: a queue, a topic, a table.
///
/// A dispatcher that is itself the last receiver of a message, such as one that calls another system, discards the
/// message's token once that system has the message, because no processor consumes it.
#[async_trait]
pub trait Dispatcher: Send + Sync {
    /// Sends the messages, each with its id and its token.
    ///
    /// # Guarantees
    ///
    /// - P-2, P-3: after `Ok` all messages will be delivered. After an error some messages may be delivered. A message
    ///   may be sent several times.
    ///
    /// # Cancel safety
    ///
    /// The processor sends all messages again.
    ///
    /// # Errors
    ///
    /// Any error: the processor's caller gets it as [`ProcessError::Dispatch`](crate::ProcessError::Dispatch).
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError>;
}

#[async_trait]
impl<D: Dispatcher + ?Sized> Dispatcher for Arc<D> {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        (**self).dispatch(messages).await
    }
}
