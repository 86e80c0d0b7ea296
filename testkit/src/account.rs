//! The user that servers run as: most servers refuse to run as root.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;

const USERS: &[&str] = &["postgres", "nobody"];

/// The user that runs a server: our own user, or another user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    Own,
    Other { user: u32, group: u32 },
}

impl Account {
    /// Returns our own user, or another user if we are root. `made_by_us` must be a folder that we own.
    pub(crate) fn for_servers(made_by_us: &Path) -> Result<Self, Failure> {
        let metadata =
            fs::metadata(made_by_us).map_err(|error| Failure::File { path: made_by_us.to_owned(), error })?;
        if metadata.uid() != 0 {
            return Ok(Self::Own);
        }
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        USERS.iter().find_map(|user| find(&users, user)).ok_or(Failure::NoAccount { users: USERS })
    }

    pub(crate) fn own(self, path: &Path) -> Result<(), Failure> {
        match self {
            Self::Own => Ok(()),
            Self::Other { user, group } => {
                chown(path, Some(user), Some(group)).map_err(|error| Failure::File { path: path.to_owned(), error })
            }
        }
    }

    pub(crate) fn run(self, command: &mut Command) {
        if let Self::Other { user, group } = self {
            command.uid(user).gid(group);
        }
    }
}

/// Finds a user in lines of the form `name:password:user:group:...`.
fn find(users: &str, name: &str) -> Option<Account> {
    let line = users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|line| line[0] == name)?;
    Some(Account::Other { user: line.get(2)?.parse().ok()?, group: line.get(3)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_the_complete_name_only() {
        let users = "root:x:0:0:root:/root:/bin/sh\npostgres2:x:1:1::/:\npostgres:x:101:104:PostgreSQL:/:\n";
        assert_eq!(find(users, "postgres"), Some(Account::Other { user: 101, group: 104 }));
        assert_eq!(find(users, "nobody"), None);
    }
}
