//! Detects that a host name has no address.

use std::io::Error;
use std::net::{Ipv4Addr, UdpSocket};

/// Error texts of a lookup that failed because the name server did not answer.
const PASSES: [&str; 2] = ["Temporary failure", "Try again"];

/// The maximum number of files and sockets that one name lookup has open at a time, with some margin.
const OPENED: usize = 8;

/// Returns whether this is the error of a lookup that found no address for a name. Systems report it only as text.
///
/// A process that has reached its limit of open files gets the same text from the system's library, even if the name
/// exists. So the function checks whether sockets can be opened.
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
    fn is_nameless_accepts_only_the_lookup_error_of_an_unknown_host() {
        let lookup = |text: &str| Error::other(format!("failed to lookup address information: {text}"));
        assert!(is_nameless(&lookup("Name or service not known")));
        for later in ["Temporary failure in name resolution", "Try again"] {
            assert!(!is_nameless(&lookup(later)), "{later}");
        }
        assert!(!is_nameless(&Error::other("connection refused")));
    }
}
