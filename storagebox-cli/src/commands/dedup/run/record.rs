//! The record of a run: a line of JSON with the exit code, then the bytes of the output.

use serde::{Deserialize, Serialize};
use storagebox::Payload;
use storagebox::values::MAX_PAYLOAD_BYTES;

use crate::answer::Answer;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub exit_code: u8,
    pub output: Output,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Output {
    Kept {
        stdout: Vec<u8>,
        stderr: Vec<u8>,
    },
    /// The output is longer than a record can hold.
    TooLong {
        bytes: u64,
    },
}

/// The first line of a record.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// The version of this format. The name of this field distinguishes a recorded run from other recorded values.
    storagebox_run: u8,
    exit_code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    too_long: Option<u64>,
}

const VERSION: u8 = 1;

impl Ended {
    /// Describes how a command ended. Leaves the output out if it does not fit into a record.
    pub(super) fn with(exit_code: u8, stdout: Vec<u8>, stderr: Vec<u8>) -> Self {
        let bytes = (stdout.len() + stderr.len()) as u64;
        let ended = Self { exit_code, output: Output::Kept { stdout, stderr } };
        if ended.encoded().len() <= MAX_PAYLOAD_BYTES {
            return ended;
        }
        Self { exit_code, output: Output::TooLong { bytes } }
    }

    pub(super) fn payload(&self) -> Result<Payload, storagebox::Error> {
        Payload::new(self.encoded())
    }

    pub(crate) fn recorded_in(value: &Payload) -> Option<Self> {
        let end = value.as_bytes().iter().position(|byte| *byte == b'\n')?;
        let (header, rest) = (&value.as_bytes()[..end], &value.as_bytes()[end + 1..]);
        let header: Header = serde_json::from_slice(header).ok()?;
        let output = match (header.stdout, header.stderr, header.too_long) {
            (Some(stdout), Some(stderr), None) if stdout.checked_add(stderr) == Some(rest.len()) => {
                let (stdout, stderr) = rest.split_at(stdout);
                Output::Kept { stdout: stdout.to_vec(), stderr: stderr.to_vec() }
            }
            (None, None, Some(bytes)) if rest.is_empty() => Output::TooLong { bytes },
            _ => return None,
        };
        (header.storagebox_run == VERSION).then_some(Self { exit_code: header.exit_code, output })
    }

    pub(crate) fn shown(&self, answer: Answer) -> Answer {
        let answer = answer.figure("exit_code", self.exit_code.into());
        match &self.output {
            Output::Kept { stdout, stderr } => {
                answer.bytes("stdout", stdout.as_slice()).bytes("stderr", stderr.as_slice())
            }
            Output::TooLong { bytes } => answer.figure("output_bytes", *bytes),
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let mut header =
            Header { storagebox_run: VERSION, exit_code: self.exit_code, stdout: None, stderr: None, too_long: None };
        let bodies: [&[u8]; 2] = match &self.output {
            Output::Kept { stdout, stderr } => {
                (header.stdout, header.stderr) = (Some(stdout.len()), Some(stderr.len()));
                [stdout, stderr]
            }
            Output::TooLong { bytes } => {
                header.too_long = Some(*bytes);
                [&[], &[]]
            }
        };
        // A struct of numbers can always be serialised.
        let header = serde_json::to_vec(&header).unwrap_or_default();
        [&header, b"\n".as_slice(), bodies[0], bodies[1]].concat()
    }
}

/// Omits the bytes, which may hold a secret.
impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kept { stdout, stderr } => write!(f, "Kept({} + {} bytes)", stdout.len(), stderr.len()),
            Self::TooLong { bytes } => write!(f, "TooLong({bytes} bytes)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(ended: &Ended) -> Option<Ended> {
        Ended::recorded_in(&ended.payload().unwrap())
    }

    #[test]
    fn output_is_read_back_byte_for_byte() {
        for (stdout, stderr) in [(&b""[..], &b""[..]), (b"a\n\nb", b"\n"), (b"\xFF\x00\n{", b"\xC3")] {
            let ended = Ended::with(7, stdout.to_vec(), stderr.to_vec());
            assert!(matches!(ended.output, Output::Kept { .. }));
            assert_eq!(read_back(&ended).unwrap(), ended);
        }
    }

    #[test]
    fn too_long_output_is_only_counted() {
        let room = MAX_PAYLOAD_BYTES - r#"{"storagebox_run":1,"exit_code":0,"stdout":200000,"stderr":62077}"#.len() - 1;
        let fits = Ended::with(0, vec![b'a'; 200_000], vec![b'b'; room - 200_000]);
        assert_eq!(fits.payload().unwrap().as_bytes().len(), MAX_PAYLOAD_BYTES);
        assert_eq!(read_back(&fits).unwrap(), fits);
        let too_long = Ended::with(0, vec![b'a'; 200_000], vec![b'b'; room - 199_999]);
        assert_eq!(too_long.output, Output::TooLong { bytes: room as u64 + 1 });
        assert_eq!(read_back(&too_long).unwrap(), too_long);
    }

    #[test]
    fn a_plain_value_is_not_read_as_a_recorded_run() {
        for value in [
            "",
            "paid",
            "\n",
            "{}\n",
            "{\"storagebox_run\":1,\"exit_code\":0,\"stdout\":2,\"stderr\":0}\na",
            "{\"storagebox_run\":2,\"exit_code\":0,\"stdout\":1,\"stderr\":0}\na",
            "{\"storagebox_run\":1,\"exit_code\":300,\"stdout\":1,\"stderr\":0}\na",
            "{\"storagebox_run\":1,\"exit_code\":0,\"stdout\":1,\"stderr\":0,\"more\":1}\na",
            "{\"storagebox_run\":1,\"exit_code\":0,\"stdout\":18446744073709551615,\"stderr\":2}\na",
        ] {
            assert_eq!(Ended::recorded_in(&Payload::try_from(value).unwrap()), None, "{value}");
        }
    }
}
