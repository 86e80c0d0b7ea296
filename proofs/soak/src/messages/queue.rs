//! A queue that delivers some messages twice, in any order.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use storagebox::messages::{BoxError, Dispatcher, Outgoing};
use storagebox::{Message, Result};
use storagebox_core::async_trait;

/// The handler sends `n % OUTPUTS` messages for message `n`.
pub(super) const OUTPUTS: usize = 3;
/// The number of entities per endpoint.
pub(super) const ENTITIES: usize = 100;
/// One in this number of messages is delivered twice.
const TWICE: u32 = 5;

pub(super) fn order(number: usize) -> Result<Message> {
    let message =
        Message::new(format!("soak-{number}"), format!("soak-order-{}", number % ENTITIES), number.to_string())?;
    Ok(message.with_token(format!("soak-token-{number}").parse()?))
}

#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) message: Message,
    /// Whether the message is a parcel, which the handler of an order sent.
    pub(super) is_parcel: bool,
}

#[derive(Default)]
pub(super) struct Queue {
    copies: Mutex<Vec<Copy>>,
    under_way: AtomicUsize,
    is_closed: AtomicBool,
    /// Every message that a handler sent, in the order of sending.
    pub(super) sent: Mutex<Vec<Outgoing>>,
}

impl Queue {
    pub(super) fn send(&self, message: Message) {
        self.deliver(Copy { message, is_parcel: false });
    }

    fn deliver(&self, copy: Copy) {
        let copies = if fastrand::u32(..TWICE) == 0 { 2 } else { 1 };
        self.under_way.fetch_add(copies, Ordering::SeqCst);
        lock(&self.copies).extend(std::iter::repeat_n(copy, copies));
    }

    pub(super) fn next(&self) -> Option<Copy> {
        let mut copies = lock(&self.copies);
        let at = if copies.is_empty() { return None } else { fastrand::usize(..copies.len()) };
        Some(copies.swap_remove(at))
    }

    pub(super) fn give_back(&self, copy: Copy) {
        lock(&self.copies).push(copy);
    }

    pub(super) fn done(&self) {
        self.under_way.fetch_sub(1, Ordering::SeqCst);
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    /// Notes that the producer has sent its last message. Handlers may still send messages.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst) && self.under_way() == 0
    }
}

#[async_trait]
impl Dispatcher for Queue {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        for outgoing in messages {
            lock(&self.sent).push(outgoing.clone());
            let Outgoing { id, token, destination, body } = outgoing.clone();
            let message = Message::new(id, destination.as_str(), body)?.with_token(token);
            self.deliver(Copy { message, is_parcel: true });
        }
        Ok(())
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
