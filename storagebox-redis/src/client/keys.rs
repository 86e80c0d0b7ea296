//! The names of keys.

use std::fmt::Write;

use storagebox_core::{ClaimId, Namespace};

/// Returns the tag of a namespace: its kind, its escaped name, and the number of a part. Every namespace has one part,
/// number 0.
pub(crate) fn tag(kind: &str, name: &Namespace) -> String {
    // Escaped, so that no name can end the tag, and no two names have the same tag.
    let mut tag = format!("{kind}.");
    for byte in name.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => tag.push(char::from(byte)),
            // Writing to a string does not fail.
            _ => drop(write!(tag, "%{byte:02X}")),
        }
    }
    tag.push_str(".0");
    tag
}

/// Returns the number that determines the bucket of a claim. `lua/lib/buckets.lua` computes the same number.
pub(crate) fn hash(claim: &ClaimId) -> u32 {
    let [high, middle, low, ..] = sha1_smol::Sha1::from(claim.as_str()).digest().bytes();
    u32::from_be_bytes([0, high, middle, low])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag_of(name: &str) -> String {
        tag("b", &Namespace::new(name).unwrap())
    }

    #[test]
    fn a_name_is_readable_and_escaped_in_its_tag() {
        assert_eq!(tag_of("vouchers-2026"), "b.vouchers-2026.0");
        assert_eq!(tag_of("}{:*.%\n"), "b.%7D%7B%3A%2A%2E%25%0A.0");
        assert!(tag_of("é").is_ascii());
    }

    #[test]
    fn no_two_names_share_a_tag() {
        let names = ["a", "A", "a.0", "a%2E0", "a:b", "a}b", "%", "%25", "é", "e\u{301}"];
        let mut tags: Vec<_> = names.iter().map(|name| tag_of(name)).collect();
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), names.len());
    }
}
