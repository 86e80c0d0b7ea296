//! The headers of a message and of its copies: its id, its token, and the original subject of a parked message.

use std::borrow::Cow;

use async_nats::HeaderMap;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use storagebox_core::Outgoing;

use crate::delivery::Malformed;
use crate::wire::headers::{ID, TOKEN};

/// The ASCII characters that a header must percent-encode. Characters outside ASCII are encoded too.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'%');

/// The header with the original subject of a parked message.
pub(super) const SUBJECT: &str = "storagebox-subject";

/// The prefix of the headers that the server acts on.
const SERVERS_OWN: &str = "Nats-";

pub(super) fn of(message: &Outgoing) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ID, encoded(message.id.as_str()));
    headers.insert(TOKEN, encoded(message.token.as_str()));
    headers
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<Cow<'a, str>>, Malformed> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    let text = percent_decode_str(value.as_str()).decode_utf8();
    text.map(Some).map_err(|_| Malformed(format!("its header {name} is not UTF-8")))
}

/// Returns the headers for a copy of a message, without the headers that the server acts on.
pub(super) fn copied(headers: Option<&HeaderMap>) -> HeaderMap {
    // With these headers, the server would drop the copy as a duplicate of its original.
    let mut copy = HeaderMap::new();
    for (name, values) in headers.into_iter().flat_map(HeaderMap::iter) {
        let name: &str = name.as_ref();
        if !name.starts_with(SERVERS_OWN) && name != SUBJECT {
            values.iter().for_each(|value| copy.append(name, value.clone()));
        }
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(id: &str, token: &str) -> Outgoing {
        let [id, token] = [id.to_owned(), token.to_owned()];
        let (destination, body) = ("a".parse().unwrap(), "b".try_into().unwrap());
        Outgoing { id: id.try_into().unwrap(), token: token.try_into().unwrap(), destination, body }
    }

    #[test]
    fn every_header_text_is_read_back_as_it_was_written() {
        for id in ["order-7", " a ", "50%", "%41", "two\r\nlines", "\t", "été", "a:b"] {
            let headers = of(&outgoing(id, "token"));
            assert!(headers.get(ID).unwrap().as_str().bytes().all(|byte| byte.is_ascii_graphic()));
            assert_eq!(text(&headers, ID).unwrap().as_deref(), Some(id));
        }
        assert_eq!(text(&HeaderMap::new(), ID), Ok(None));
    }

    #[test]
    fn header_that_is_not_utf8_is_malformed() {
        let mut headers = HeaderMap::new();
        headers.insert(ID, "%ff");
        assert_eq!(text(&headers, ID), Err(Malformed(format!("its header {ID} is not UTF-8"))));
    }

    #[test]
    fn copy_has_no_headers_that_the_server_acts_on() {
        let mut headers = of(&outgoing("id", "token"));
        headers.insert("Nats-Msg-Id", "1");
        headers.insert("Nats-Expected-Last-Sequence", "7");
        headers.insert(SUBJECT, "orders");
        headers.append("other", "one");
        headers.append("other", "two");
        let copy = copied(Some(&headers));
        assert_eq!((copy.len(), copy.get_all("other").count()), (3, 2));
        assert!(copy.get(ID).is_some() && copied(None).is_empty());
    }
}
