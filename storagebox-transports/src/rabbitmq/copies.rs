//! The properties of a message and of its copies.

use lapin::BasicProperties;
use lapin::message::Delivery;
use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};
use storagebox_core::Outgoing;

use crate::delivery::{Malformed, Received};
use crate::wire;
use crate::wire::headers::{ID, TOKEN};

/// The header that counts the attempts of earlier copies, because the broker counts each copy as a new message.
const ATTEMPTS: &str = "storagebox-attempts";
/// The header in which the broker counts how often a message was returned to its queue.
const COUNT: &str = "x-delivery-count";

/// The delivery mode of a message that the broker writes to disk before it confirms the message.
const PERSISTENT: u8 = 2;

pub(super) fn of(message: &Outgoing) -> BasicProperties {
    let mut headers = FieldTable::default();
    headers.insert(TOKEN.into(), text(message.token.as_str()));
    let properties = BasicProperties::default().with_delivery_mode(PERSISTENT);
    match ShortString::try_new(message.id.as_str()) {
        Ok(id) => properties.with_message_id(id).with_headers(headers),
        Err(_) => {
            headers.insert(ID.into(), text(message.id.as_str()));
            properties.with_headers(headers)
        }
    }
}

fn text(text: &str) -> AMQPValue {
    AMQPValue::LongString(text.into())
}

pub(super) fn read(delivery: &Delivery) -> Result<Received, Malformed> {
    let properties = &delivery.properties;
    let named = header(properties, ID)?;
    let id = named.or_else(|| properties.message_id().as_ref().map(ShortString::as_str));
    wire::received(id, header(properties, TOKEN)?, Some(delivery.data.as_slice()))
}

fn header<'a>(properties: &'a BasicProperties, name: &str) -> Result<Option<&'a str>, Malformed> {
    let Some(value) = value(properties, name) else {
        return Ok(None);
    };
    let text = value.as_long_string().map(LongString::as_bytes).and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.map(Some).ok_or_else(|| Malformed(format!("its header {name} is not text")))
}

fn value<'a>(properties: &'a BasicProperties, name: &str) -> Option<&'a AMQPValue> {
    properties.headers().as_ref()?.inner().get(name)
}

/// Returns the number of this attempt, counted across this copy and all earlier copies.
pub(super) fn attempt(properties: &BasicProperties) -> u32 {
    earlier(properties).saturating_add(1)
}

fn earlier(properties: &BasicProperties) -> u32 {
    count(properties, ATTEMPTS).saturating_add(came_back(properties))
}

/// Returns how often a worker returned this copy to its queue, or ended without settling the copy.
pub(super) fn came_back(properties: &BasicProperties) -> u32 {
    count(properties, COUNT)
}

fn count(properties: &BasicProperties, name: &str) -> u32 {
    value(properties, name).and_then(number).unwrap_or(0)
}

/// Reads an integer of any width.
fn number(value: &AMQPValue) -> Option<u32> {
    // Senders and brokers choose the width.
    let number = match value {
        AMQPValue::ShortShortInt(number) => i64::from(*number),
        AMQPValue::ShortShortUInt(number) => i64::from(*number),
        AMQPValue::ShortInt(number) => i64::from(*number),
        AMQPValue::ShortUInt(number) => i64::from(*number),
        AMQPValue::LongInt(number) => i64::from(*number),
        AMQPValue::LongUInt(number) => i64::from(*number),
        AMQPValue::LongLongInt(number) => *number,
        _ => return None,
    };
    u32::try_from(number).ok()
}

/// Returns the properties of a copy that waits for its retry, with the number of attempts so far.
pub(super) fn for_retry(properties: &BasicProperties) -> BasicProperties {
    after(properties, attempt(properties))
}

/// Returns the properties of a copy that moves to another queue, with the number of earlier attempts.
pub(super) fn moved(properties: &BasicProperties) -> BasicProperties {
    after(properties, earlier(properties))
}

fn after(properties: &BasicProperties, attempts: u32) -> BasicProperties {
    let mut headers = headers(properties);
    headers.insert(ATTEMPTS.into(), AMQPValue::LongLongInt(attempts.into()));
    copied(properties).with_headers(headers)
}

/// Returns the properties of a copy that is parked or sent again, without the number of attempts.
pub(super) fn anew(properties: &BasicProperties) -> BasicProperties {
    copied(properties).with_headers(headers(properties))
}

fn headers(properties: &BasicProperties) -> FieldTable {
    let mut headers = FieldTable::default();
    let all = properties.headers().iter().flat_map(|headers| headers.inner());
    for (name, value) in all.filter(|(name, _)| !is_for_the_broker(name.as_str())) {
        headers.insert(name.clone(), value.clone());
    }
    headers
}

/// Returns whether the broker sets this header or acts on it.
fn is_for_the_broker(name: &str) -> bool {
    // With such a header, a copy would go to more queues, or the broker would drop it as part of a cycle.
    let begins = ["x-death", "x-first-death-", "x-last-death-"].iter().any(|part| name.starts_with(part));
    begins || ["CC", "BCC", COUNT, "x-acquired-count", ATTEMPTS].contains(&name)
}

/// Returns the properties without the headers, the expiry and the user's name.
fn copied(properties: &BasicProperties) -> BasicProperties {
    // An expiry would delete a parked copy. The broker refuses a copy with the name of another user.
    let mut copy = BasicProperties::default().with_delivery_mode(PERSISTENT);
    macro_rules! copy {
        ($($get:ident $set:ident),*) => {$(
            if let Some(value) = properties.$get() {
                copy = copy.$set(value.clone());
            }
        )*};
    }
    copy!(content_type with_content_type, content_encoding with_content_encoding, priority with_priority);
    copy!(correlation_id with_correlation_id, reply_to with_reply_to, message_id with_message_id);
    copy!(timestamp with_timestamp, kind with_type, app_id with_app_id);
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(properties: BasicProperties) -> Result<Received, Malformed> {
        let mut delivery = Delivery::mock(1, "".into(), "orders".into(), false, b"body".to_vec());
        delivery.properties = properties;
        read(&delivery)
    }

    fn with(headers: &[(&str, AMQPValue)]) -> BasicProperties {
        let mut table = FieldTable::default();
        for (name, value) in headers {
            table.insert((*name).into(), value.clone());
        }
        BasicProperties::default().with_message_id("id".into()).with_headers(table)
    }

    #[test]
    fn every_message_id_is_read_back_as_it_was_written() {
        for id in ["order-7".to_owned(), " a\r\n".to_owned(), "x".repeat(255), "x".repeat(512)] {
            let message = Outgoing {
                id: id.as_str().try_into().unwrap(),
                token: "token".try_into().unwrap(),
                destination: "orders".try_into().unwrap(),
                body: "body".try_into().unwrap(),
            };
            let copy = received(of(&message)).unwrap();
            assert_eq!((copy.id, copy.token), (message.id.clone(), Some(message.token.clone())));
            assert_eq!(received(anew(&of(&message))).unwrap().id, message.id);
        }
    }

    #[test]
    fn copy_with_a_missing_id_or_an_unreadable_header_is_malformed() {
        assert!(received(BasicProperties::default()).is_err());
        assert!(received(with(&[(TOKEN, AMQPValue::LongLongInt(7))])).is_err());
        assert!(received(with(&[(ID, AMQPValue::LongString(vec![0xff].into()))])).is_err());
        assert_eq!(received(with(&[])).unwrap().token, None);
    }

    #[test]
    fn attempts_are_counted_across_copies() {
        let first = with(&[(COUNT, AMQPValue::LongLongInt(2))]);
        assert_eq!((attempt(&with(&[])), attempt(&first)), (1, 3));
        assert_eq!(attempt(&for_retry(&for_retry(&first))), 5);
        assert_eq!(attempt(&anew(&for_retry(&first))), 1);
        assert_eq!((attempt(&moved(&first)), came_back(&first), came_back(&moved(&first))), (3, 2, 0));
        assert_eq!(attempt(&with(&[(COUNT, AMQPValue::LongLongInt(-1))])), 1);
    }

    #[test]
    fn copy_has_no_properties_that_the_broker_acts_on() {
        let own = with(&[
            ("x-death", text("a")),
            ("x-first-death-queue", text("a")),
            ("CC", text("b")),
            ("x-mine", text("c")),
        ]);
        let own = own.with_expiration("1".into()).with_user_id("ann".into()).with_app_id("app".into());
        let copy = anew(&own);
        assert_eq!((copy.expiration(), copy.user_id(), copy.delivery_mode()), (&None, &None, &Some(PERSISTENT)));
        assert_eq!(copy.app_id(), own.app_id());
        let headers: Vec<_> = copy.headers().as_ref().unwrap().inner().keys().map(ShortString::as_str).collect();
        assert_eq!(headers, ["x-mine"]);
    }
}
