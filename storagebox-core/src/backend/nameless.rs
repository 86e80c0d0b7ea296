//! Whether a host's name leads nowhere.

use std::io::Error;
use std::net::{Ipv4Addr, UdpSocket};

/// What a lookup says that may succeed later: the server of names did not answer.
const PASSES: [&str; 2] = ["Temporary failure", "Try again"];

/// How many files and sockets a lookup opens at once, and some more.
const OPENED: usize = 8;

/// Returns whether this is the error of a lookup that found no address for a name. Systems say so in words alone.
///
/// A process that may open no more files gets the same words from the system's library, although the name is there: so it
/// is tried whether some can be opened.
pub fn is_nameless(error: &Error) -> bool {
    let said = error.to_string();
    let passes = PASSES.iter().any(|text| said.contains(text));
    said.starts_with("failed to lookup address information") && !passes && may_open()
}

fn may_open() -> bool {
    let opened: Result<Vec<_>, _> = (0..OPENED).map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))).collect();
    opened.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolver_that_does_not_answer_may_answer_later() {
        let lookup = |text: &str| Error::other(format!("failed to lookup address information: {text}"));
        assert!(is_nameless(&lookup("Name or service not known")));
        for later in ["Temporary failure in name resolution", "Try again"] {
            assert!(!is_nameless(&lookup(later)), "{later}");
        }
        assert!(!is_nameless(&Error::other("connection refused")));
    }
}
