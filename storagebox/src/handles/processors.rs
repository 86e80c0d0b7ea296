//! The builder with which a store makes processors.

use std::fmt;
use std::sync::Arc;

use storagebox_core::{Backend, Dispatcher, Handler, Joins, MissingToken, Namespace, Processor, Result, TokenStore};

use crate::handles::IntoValue;
use crate::handles::Tokens;

/// Builds a [`Processor`] over a store: [`Store::processor`](crate::Store::processor).
///
/// By default, the tokens of the messages that the entities receive are in the same store, under the name of the
/// entities. Tokens of the same store change in one step with an entity, which takes fewer calls: see
/// [`split`](ProcessorBuilder::split).
#[must_use = "it makes a processor when it is built"]
pub struct ProcessorBuilder<H> {
    backend: Arc<dyn Backend>,
    entities: Namespace,
    handler: H,
    incoming: TokenPlace,
    outgoing: Option<(TokenPlace, Arc<dyn Dispatcher>)>,
    missing: MissingToken,
    is_split: bool,
}

enum TokenPlace {
    /// A namespace in the store that has the entities.
    Here(Namespace),
    /// A token store, which may be on another backend.
    There(Arc<dyn TokenStore>),
}

impl TokenPlace {
    fn joined(&self) -> Option<Namespace> {
        match self {
            Self::Here(name) => Some(name.clone()),
            Self::There(_) => None,
        }
    }

    fn open(&self, backend: &Arc<dyn Backend>) -> Result<Arc<dyn TokenStore>> {
        match self {
            Self::Here(name) => backend.token_store(name),
            Self::There(tokens) => Ok(Arc::clone(tokens)),
        }
    }
}

impl<H: Handler + 'static> ProcessorBuilder<H> {
    pub(crate) fn new(backend: Arc<dyn Backend>, entities: Namespace, handler: H) -> Self {
        let (incoming, missing) = (TokenPlace::Here(entities.clone()), MissingToken::default());
        Self { backend, entities, handler, incoming, outgoing: None, missing, is_split: false }
    }

    /// Sets the name under which this store has the tokens of received messages.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the name breaks its limit.
    pub fn receives(mut self, tokens: impl IntoValue<Namespace>) -> Result<Self> {
        self.incoming = TokenPlace::Here(tokens.into_value()?);
        Ok(self)
    }

    /// Sets the tokens of received messages, which may be in another store.
    pub fn receives_from(mut self, tokens: &Tokens) -> Self {
        self.incoming = TokenPlace::There(tokens.part());
        self
    }

    /// Sets the destination of messages, and the name under which this store has their tokens. The receiver
    /// looks them up there.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the name breaks its limit.
    pub fn sends(mut self, tokens: impl IntoValue<Namespace>, dispatcher: impl Dispatcher + 'static) -> Result<Self> {
        self.outgoing = Some((TokenPlace::Here(tokens.into_value()?), Arc::new(dispatcher)));
        Ok(self)
    }

    /// Sets the destination of messages, and their tokens, which may be in another store. The receiver looks them
    /// up there.
    pub fn sends_to(mut self, tokens: &Tokens, dispatcher: impl Dispatcher + 'static) -> Self {
        self.outgoing = Some((TokenPlace::There(tokens.part()), Arc::new(dispatcher)));
        self
    }

    /// Sets how a message without a token is handled. Defaults to [`MissingToken::Reject`].
    pub fn without_token(mut self, policy: MissingToken) -> Self {
        self.missing = policy;
        self
    }

    /// Changes tokens in separate steps, even if they are in the store of the entities: seven calls instead of three
    /// for a message that sends others. For a store that cannot change both in one step, such as a Redis cluster.
    pub fn split(mut self) -> Self {
        self.is_split = true;
        self
    }

    /// Builds the processor. It does no I/O.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the backend has no entities or no tokens, or cannot change both in one step.
    pub fn build(self) -> Result<Processor> {
        let outgoing = self.outgoing.as_ref().map(|(place, _)| place);
        let joins = match self.is_split {
            true => Joins::default(),
            false => Joins { incoming: self.incoming.joined(), outgoing: outgoing.and_then(TokenPlace::joined) },
        };
        let entities = self.backend.entity_ledger(&self.entities, &joins)?;
        let incoming = self.incoming.open(&self.backend)?;
        let processor = Processor::new(entities, incoming, self.handler).without_token(self.missing);
        Ok(match self.outgoing {
            Some((place, dispatcher)) => processor.sends(place.open(&self.backend)?, dispatcher),
            None => processor,
        })
    }
}

impl<H> fmt::Debug for ProcessorBuilder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessorBuilder").field("entities", &self.entities).finish_non_exhaustive()
    }
}
