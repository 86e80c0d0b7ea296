//! The README and the user's ACL rules, compared with the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use storagebox_core::{Backend, Result};
use storagebox_redis::RedisStore;

const README: &str = include_str!("../../README.md");
const COMMANDS: &str = include_str!("../../lua/commands.txt");
const GRANTS: &str = include_str!("../../lua/grants.acl");

/// The commands that the library uses outside scripts.
const BESIDE: [&str; 6] = ["evalsha", "eval", "ping", "info", "wait", "cluster|slots"];

/// The promises that are in the README word for word.
const LOSSES: [&str; 4] = ["durability", "failover", "moving slots", "wait on a cluster"];

/// The README shows the ACL rules of the suite's user word for word.
#[test]
fn the_readme_has_all_acl_rules() {
    assert!(README.contains(&format!("```text\n{GRANTS}```")), "the README has other rules");
}

#[test]
fn the_readme_and_the_promises_describe_the_same_losses() -> Result<()> {
    let readme = README.split_whitespace().collect::<Vec<_>>().join(" ");
    for (wait, url) in [(0, "redis://localhost"), (1, "redis://localhost"), (1, "redis+cluster://localhost")] {
        let builder = RedisStore::builder().wait(wait, Duration::from_secs(1));
        for promise in builder.connect(url)?.promises().entries {
            let is_about_loss = LOSSES.contains(&promise.about);
            assert!(!is_about_loss || readme.contains(&*promise.statement), "{promise:?}");
        }
    }
    Ok(())
}

/// The ACL rules grant the commands of all scripts, the commands that the library uses outside scripts, and no others.
#[test]
fn the_acl_rules_grant_exactly_the_used_commands() {
    let commands: BTreeSet<_> = COMMANDS.lines().filter_map(|line| Some(line.split(' ').next()?.to_owned())).collect();
    assert_eq!(commands, used(), "commands.txt, and what the scripts use");
    let granted: BTreeSet<_> = GRANTS.split_whitespace().filter_map(|word| word.strip_prefix('+')).collect();
    let needed = commands.iter().map(String::as_str).chain(BESIDE).collect();
    assert_eq!(granted, needed, "what is granted, and what is needed");
}

/// Returns the commands of all scripts.
fn used() -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("lua")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => used.extend(commands_in(&fs::read_to_string(entry.path()).unwrap())),
            }
        }
    }
    used
}

fn commands_in(script: &str) -> Vec<String> {
    let calls = ["redis.call('", "redis.pcall('", "write('"];
    let after = calls.iter().flat_map(|call| script.split(call).skip(1));
    after.filter_map(|rest| rest.split('\'').next()).map(str::to_ascii_lowercase).collect()
}
