//! The README against the code.

const README: &str = include_str!("../../README.md");
const COMMANDS: &str = include_str!("../../lua/commands.txt");
const GRANTS: &str = include_str!("../../lua/grants.acl");

/// The rights that the README and the suite's user have are those that opening a box asks for.
#[test]
fn the_rights_are_said_in_full() {
    for command in COMMANDS.split_whitespace() {
        assert!(GRANTS.contains(&format!("+{command}")), "{command} is not among the grants");
    }
    for right in GRANTS.split_whitespace().filter(|word| word.starts_with('+')) {
        assert!(README.contains(right), "{right} is not in the README");
    }
}
