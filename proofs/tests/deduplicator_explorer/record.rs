//! An independent decoder of the deduplicator's records, because the protocol's own code is under test.

use std::fmt;

use storagebox_core::Payload;

/// A record's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Written {
    Intent(Intent),
    GivingUp(Intent),
    Assigned(Intent, String),
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Intent {
    pub(crate) bank: String,
    pub(crate) nonce: String,
}

impl Intent {
    pub(crate) fn claim(&self, id: &str) -> String {
        format!("{}:{id}", self.nonce)
    }
}

pub(crate) fn nonce_of(claim: &str) -> &str {
    claim.split_once(':').expect("a claim is nonce:id").0
}

pub(crate) fn id_of(claim: &str) -> &str {
    claim.split_once(':').expect("a claim is nonce:id").1
}

impl Written {
    pub(crate) fn read(value: &Payload) -> Self {
        let [b'1', letter, fields @ ..] = value.as_bytes() else {
            panic!("a record in no known format: {:?}", value.as_bytes());
        };
        let mut fields = Fields(fields);
        match letter {
            b'I' => Self::Intent(fields.intent()),
            b'G' => Self::GivingUp(fields.intent()),
            b'A' => Self::Assigned(fields.intent(), fields.next()),
            b'N' => Self::Nothing,
            other => panic!("a record in no known state: {other}"),
        }
    }

    /// Returns the intent whose claim may hold an item.
    pub(crate) fn intent(&self) -> Option<&Intent> {
        match self {
            Self::Intent(intent) | Self::GivingUp(intent) | Self::Assigned(intent, _) => Some(intent),
            Self::Nothing => None,
        }
    }

    pub(crate) fn is_half_way(&self) -> bool {
        matches!(self, Self::Intent(_) | Self::GivingUp(_))
    }
}

/// A sequence of texts. Two bytes before each text contain its length.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn next(&mut self) -> String {
        let (length, rest) = self.0.split_first_chunk::<2>().expect("a length");
        let (text, rest) = rest.split_at(u16::from_be_bytes(*length).into());
        self.0 = rest;
        String::from_utf8(text.to_vec()).expect("a text")
    }

    fn intent(&mut self) -> Intent {
        Intent { bank: self.next(), nonce: self.next() }
    }
}

impl fmt::Display for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bank {}, nonce {}", self.bank, self.nonce)
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Intent(intent) => write!(f, "intent[{intent}]"),
            Self::GivingUp(intent) => write!(f, "giving up[{intent}]"),
            Self::Assigned(intent, item) => write!(f, "assigned[{intent}, item {item}]"),
            Self::Nothing => write!(f, "nothing"),
        }
    }
}
