//! The content of a message in transit: its id, its token if there is one, and its body.

use std::fmt::Display;

use storagebox_core::{Error, MessageId, Payload, TokenId};

use crate::delivery::{Malformed, Received};

pub(crate) const ID: &str = "id";
pub(crate) const TOKEN: &str = "token";
pub(crate) const BODY: &str = "body";

/// The names of the message headers with the id and the token, which other programs write too.
#[cfg(any(feature = "nats", feature = "rabbitmq"))]
pub(crate) mod headers {
    pub(crate) const ID: &str = "storagebox-id";
    pub(crate) const TOKEN: &str = "storagebox-token";
}

/// Reads the fields. No error contains the value of a field.
pub(crate) fn received<T, B>(id: Option<T>, token: Option<T>, body: Option<B>) -> Result<Received, Malformed>
where
    T: Into<Vec<u8>>,
    B: TryInto<Payload, Error = Error>,
{
    let id = MessageId::new(text(ID, id.ok_or_else(|| missing(ID))?)?).map_err(|why| wrong(ID, why))?;
    let token = token.map(|token| TokenId::new(text(TOKEN, token)?).map_err(|why| wrong(TOKEN, why))).transpose()?;
    let body = body.ok_or_else(|| missing(BODY))?.try_into().map_err(|why| wrong(BODY, why))?;
    Ok(Received { id, token, body })
}

fn text(field: &str, bytes: impl Into<Vec<u8>>) -> Result<String, Malformed> {
    String::from_utf8(bytes.into()).map_err(|_| wrong(field, "it is not UTF-8"))
}

fn missing(field: &str) -> Malformed {
    Malformed(format!("it has no field `{field}`"))
}

fn wrong(field: &str, why: impl Display) -> Malformed {
    Malformed(format!("its field `{field}` is wrong: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(id: Option<&[u8]>, token: Option<&[u8]>, body: Option<&[u8]>) -> Result<Received, Malformed> {
        received(id.map(<[u8]>::to_vec), token.map(<[u8]>::to_vec), body.map(<[u8]>::to_vec))
    }

    #[test]
    fn a_message_needs_an_id_and_a_body() {
        let read_back = read(Some(b"1"), Some(b"t"), Some(b"\xff")).unwrap();
        assert_eq!((read_back.id.as_str(), read_back.token.unwrap().as_str()), ("1", "t"));
        assert_eq!(read(Some(b"1"), None, Some(b"")).unwrap().token, None);
        assert!(read(None, None, Some(b"")).unwrap_err().0.contains("no field `id`"));
        assert!(read(Some(b"1"), None, None).unwrap_err().0.contains("no field `body`"));
    }

    #[test]
    fn malformed_field_is_named_without_its_value() {
        let texts: [&[u8]; 3] = [b"secret\xff", b"secret\0", &[b's'; 513]];
        for text in texts {
            for error in [read(Some(text), None, Some(b"")), read(Some(b"1"), Some(text), Some(b""))] {
                let why = error.unwrap_err().0;
                assert!(why.contains("is wrong") && !why.contains("secret"), "{why}");
            }
        }
        assert!(read(Some(b"1"), Some(b""), Some(b"")).is_err());
        assert!(read(Some(b"1"), None, Some(&vec![0; 256 * 1024 + 1])).is_err());
    }
}
