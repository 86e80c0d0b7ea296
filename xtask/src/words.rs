//! The words that product code does not use any more (CONTRIBUTING, "Words"), and what stands in their place.

/// Names of types, constants and functions. Each says what a thing is only to somebody who knows it.
const GONE: &[(&str, &str)] = &[
    ("Beside", "Background, SidecarFiles"),
    ("Extensions", "HeartbeatDeadline"),
    ("InARow", "FairnessBreak"),
    ("Judged", "ClaimStatus"),
    ("Lane", "KeyQueue, ScanCursor, Traffic"),
    ("Met", "Observed"),
    ("OnLane", "CursorGuard"),
    ("OnTheirWay", "PendingInstalls"),
    ("PATIENCE", "a name with TIMEOUT"),
    ("Patience", "CallBackoff, StallTimeout"),
    ("Second", "AfterLostReply"),
    ("Shown", "ClaimView"),
    ("Turns", "SingleFlight"),
    ("Walk", "TakeCursors"),
    ("Wanted", "Filter, Request"),
    ("in_words", "to_stored_text"),
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::workspace;

    /// The sources of the libraries, of the command and of the tools, without their tests.
    fn sources() -> Vec<PathBuf> {
        let manifest = workspace::read("Cargo.toml").unwrap();
        let members: Vec<_> = workspace::members(&manifest).map(|member| workspace::root().join(member)).collect();
        let product = ["storagebox", "testkit", "xtask"];
        let is_product = |path: &PathBuf| {
            path.file_name().is_some_and(|name| product.iter().any(|start| name.to_string_lossy().starts_with(start)))
        };
        members.into_iter().filter(is_product).flat_map(|member| files(&member.join("src"))).collect()
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    fn words(line: &str) -> impl Iterator<Item = &str> {
        line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
    }

    #[test]
    fn no_word_that_is_gone_comes_back() {
        let sources: Vec<_> = sources().into_iter().filter(|path| !path.ends_with("xtask/src/words.rs")).collect();
        assert!(sources.len() > 300, "{} sources were found", sources.len());
        for path in sources {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            for (number, line) in code {
                let gone = words(line).find_map(|word| GONE.iter().find(|(gone, _)| *gone == word));
                assert!(gone.is_none(), "{}:{}: {gone:?}", path.display(), number + 1);
            }
        }
    }
}
