//! Edits of bytes.

use std::ops::Range;

use bolero::{Driver, ValueGenerator, produce};

const EDITS: usize = 6;

/// Texts that parsers may treat specially.
const SPECIAL: &[&str] = &[
    "",
    "\0",
    "\n",
    "\r\n",
    "\"",
    "'",
    ",",
    ";",
    ":",
    "/",
    "//",
    "?",
    "&",
    "=",
    "@",
    "#",
    "%",
    "%00",
    "%zz",
    "%F0%9F",
    "+",
    "-",
    ".",
    "..",
    "{",
    "}",
    "[",
    "]",
    "\\",
    "\u{feff}",
    "\u{2028}",
    "é",
    "0",
    "-1",
    "1e9",
    "0x7f",
    "65536",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "NaN",
    "true",
    "null",
    "10s",
    "7d",
    "[::1]",
];

/// A generator of inputs: known bytes with a few edits.
#[derive(Clone, Debug)]
pub struct Edited {
    known: Vec<Vec<u8>>,
}

impl Edited {
    /// Creates a generator of edits of these inputs.
    #[must_use]
    pub fn of(known: Vec<Vec<u8>>) -> Self {
        Self { known }
    }

    fn one<D: Driver>(&self, driver: &mut D) -> Option<&[u8]> {
        self.known.get(below(self.known.len(), driver)?).map(Vec::as_slice)
    }

    fn edit<D: Driver>(&self, bytes: &mut Vec<u8>, driver: &mut D) -> Option<()> {
        let range = range_of(bytes, driver)?;
        let new = match below(6, driver)? {
            0 => vec![],
            1 => bytes[range.clone()].repeat(2),
            2 => SPECIAL[below(SPECIAL.len(), driver)?].as_bytes().to_vec(),
            3 => produce::<[u8; 3]>().generate(driver)?.to_vec(),
            4 => bytes[range.clone()].iter().map(|byte| byte ^ 0x20).collect(),
            _ => {
                let other = self.one(driver)?;
                other[range_of(other, driver)?].to_vec()
            }
        };
        bytes.splice(range, new);
        Some(())
    }
}

impl ValueGenerator for Edited {
    type Output = Vec<u8>;

    fn generate<D: Driver>(&self, driver: &mut D) -> Option<Vec<u8>> {
        let mut bytes = self.one(driver)?.to_vec();
        for _ in 0..below(EDITS + 1, driver)? {
            self.edit(&mut bytes, driver)?;
        }
        Some(bytes)
    }
}

/// Returns a random range of the bytes. Most ranges are short, and some extend to the end.
fn range_of<D: Driver>(bytes: &[u8], driver: &mut D) -> Option<Range<usize>> {
    let start = below(bytes.len() + 1, driver)?;
    let most = bytes.len() - start;
    let length = match below(8, driver)? {
        0 => most,
        _ => below(9, driver)?.min(most),
    };
    Some(start..start + length)
}

/// Returns a random number below `end`, which must not be 0.
pub(crate) fn below<D: Driver>(end: usize, driver: &mut D) -> Option<usize> {
    (0..end).generate(driver)
}
