//! The format of the deduplicator's records.
//!
//! A format byte, a letter for the state, then fields of two bytes of length (big-endian) and text.

use crate::backend::fields::{DecodeError, Fields, put_text};
use crate::values::error::Result;
use crate::values::value::{ClaimId, DedupId, Item, MAX_ID_BYTES, Namespace, Payload};

const FORMAT: u8 = b'1';

/// The state of an id's assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A caller is taking an item from the bank of the intent.
    Intent(Intent),
    /// A caller found the bank of the intent empty. The claim on that bank is being released.
    GivingUp(Intent),
    /// The id has its item. This state is final.
    Assigned { intent: Intent, item: Item },
    /// The id has no item and no claim.
    Nothing,
}

/// The bank from which an item is taken, and the nonce of the claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intent {
    pub(super) bank: Namespace,
    pub(super) nonce: String,
}

impl Intent {
    /// Returns the id of the claim on the bank: the unique nonce, and as much of `id` as fits.
    pub(super) fn claim(&self, id: &DedupId) -> Result<ClaimId> {
        let mut claim = format!("{}:{id}", self.nonce);
        claim.truncate(claim.floor_char_boundary(MAX_ID_BYTES));
        ClaimId::new(claim)
    }
}

impl State {
    /// Returns whether the assignment is unfinished, as after a crash.
    pub(super) fn is_abandoned(&self) -> bool {
        matches!(self, Self::Intent(_) | Self::GivingUp(_))
    }

    pub(super) fn encode(&self) -> Result<Payload> {
        let (letter, fields): (u8, Vec<&str>) = match self {
            Self::Intent(intent) => (b'I', intent.fields().into()),
            Self::GivingUp(intent) => (b'G', intent.fields().into()),
            Self::Assigned { intent, item } => (b'A', [intent.fields().as_slice(), &[item.as_str()]].concat()),
            Self::Nothing => (b'N', vec![]),
        };
        let mut bytes = vec![FORMAT, letter];
        for field in fields {
            put_text(&mut bytes, "nonce", field)?;
        }
        Payload::new(bytes)
    }

    pub(super) fn decode(payload: &Payload) -> Result<Self, DecodeError> {
        let (letter, mut fields) = Fields::begin(payload.as_bytes(), FORMAT)?;
        let state = match letter {
            b'I' => Self::Intent(Intent::read(&mut fields)?),
            b'G' => Self::GivingUp(Intent::read(&mut fields)?),
            b'A' => Self::Assigned { intent: Intent::read(&mut fields)?, item: Item::new(fields.text()?)? },
            b'N' => Self::Nothing,
            other => return Err(DecodeError::State(other)),
        };
        fields.end(state)
    }
}

impl Intent {
    fn fields(&self) -> [&str; 2] {
        [self.bank.as_str(), &self.nonce]
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self { bank: Namespace::new(fields.text()?)?, nonce: fields.text()?.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> Vec<State> {
        let intent = Intent { bank: Namespace::new("b").unwrap(), nonce: "n".into() };
        let item = Item::new("é").unwrap();
        vec![
            State::Intent(intent.clone()),
            State::GivingUp(intent.clone()),
            State::Assigned { intent, item },
            State::Nothing,
        ]
    }

    #[test]
    fn every_assignment_state_is_decoded_from_its_record() {
        for state in states() {
            assert_eq!(State::decode(&state.encode().unwrap()).unwrap(), state);
        }
    }

    #[test]
    fn assignment_record_that_is_cut_off_or_too_long_is_refused() {
        for state in states() {
            let bytes = state.encode().unwrap().as_bytes().to_vec();
            for end in 0..bytes.len() {
                assert!(State::decode(&Payload::new(bytes[..end].to_vec()).unwrap()).is_err());
            }
            let longer = [bytes.as_slice(), b"x"].concat();
            assert!(matches!(State::decode(&Payload::new(longer).unwrap()), Err(DecodeError::Long)));
        }
    }

    #[test]
    fn any_record_bytes_are_decoded_exactly_or_refused() {
        let known: Vec<_> = states().iter().map(|state| state.encode().unwrap().as_bytes().to_vec()).collect();
        storagebox_fuzz::bytes(&known, |bytes| {
            let Ok(payload) = Payload::new(bytes.to_vec()) else { return };
            if let Ok(state) = State::decode(&payload) {
                assert_eq!(state.encode().unwrap().as_bytes(), bytes);
            }
        });
    }

    #[test]
    fn longest_id_has_a_valid_claim_id() {
        let intent = Intent { bank: Namespace::new("b").unwrap(), nonce: "n".repeat(32) };
        let id = DedupId::new("é".repeat(256)).unwrap();
        assert!(intent.claim(&id).unwrap().as_str().len() >= 511);
    }
}
