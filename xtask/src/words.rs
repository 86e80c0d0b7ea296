//! The words that product code does not use any more (CONTRIBUTING, "Words"), and what stands in their place.

/// Names of types, constants and functions that only their author understands, each with its replacements.
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
    use std::path::PathBuf;

    use super::*;
    use crate::workspace::{self, Package};

    /// The sources of the libraries, of the command and of the tools, without their tests.
    fn sources() -> Vec<PathBuf> {
        let product = ["storagebox", "testkit", "xtask"];
        let is_product = |package: &&Package| {
            let folder = workspace::name(package.folder());
            product.iter().any(|start| folder.starts_with(start))
        };
        let packages = workspace::packages().unwrap();
        packages.iter().filter(is_product).flat_map(|package| workspace::files(&package.folder().join("src"))).collect()
    }

    fn words(line: &str) -> impl Iterator<Item = &str> {
        line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
    }

    #[test]
    fn no_source_uses_a_replaced_name() {
        let sources: Vec<_> = sources().into_iter().filter(|path| !path.ends_with("xtask/src/words.rs")).collect();
        assert!(sources.len() > 300, "{} sources were found", sources.len());
        for path in sources {
            let text = workspace::read(&path).unwrap();
            let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            for (number, line) in code {
                let gone = words(line).find_map(|word| GONE.iter().find(|(gone, _)| *gone == word));
                assert!(gone.is_none(), "{}:{}: {gone:?}", path.display(), number + 1);
            }
        }
    }
}
