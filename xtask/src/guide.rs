//! Checks the guide for authors of backends: each excerpt is in the file that the guide names above it.

use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use crate::workspace;

const GUIDE: &str = "docs/GUIDE.md";

/// A block of a guide, and the path that the line above the block links to.
struct Excerpt<'a> {
    path: Option<PathBuf>,
    lines: Vec<&'a str>,
}

/// Returns the blocks of a guide, except shell commands.
fn excerpts(guide: &str) -> Vec<Excerpt<'_>> {
    let (mut excerpts, mut above, mut lines) = (vec![], "", guide.lines());
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|line| *line != "```").collect();
            if language != "sh" {
                excerpts.push(Excerpt { path: linked(above), lines: block });
            }
        } else if !line.is_empty() {
            above = line;
        }
    }
    excerpts
}

/// Returns the file that a line links to, relative to the workspace's root.
fn linked(line: &str) -> Option<PathBuf> {
    let (_, link) = line.rsplit_once("](")?;
    let link = Path::new(GUIDE).with_file_name(link.split_once(')')?.0);
    let mut path = PathBuf::new();
    for component in link.components() {
        match component {
            Component::ParentDir => drop(path.pop()),
            component => path.push(component),
        }
    }
    Some(path)
}

/// Returns whether the text contains these lines in sequence, with any common indentation.
fn holds(text: &str, excerpt: &[&str]) -> bool {
    let lines: Vec<_> = text.lines().collect();
    let Some(first) = excerpt.first() else { return false };
    lines.windows(excerpt.len()).any(|window| {
        let Some(indent) = window[0].strip_suffix(first).filter(|indent| indent.trim().is_empty()) else {
            return false;
        };
        window.iter().zip(excerpt).all(|(line, quoted)| *line == format!("{indent}{quoted}").trim_end())
    })
}

/// Returns the first line of each excerpt that is not in its file.
fn stale(guide: &str) -> Result<Vec<&str>> {
    let mut stale = vec![];
    for Excerpt { path, lines } in excerpts(guide) {
        let text = path.map(workspace::read).transpose()?.unwrap_or_default();
        if !holds(&text, &lines) {
            stale.push(lines.first().copied().unwrap_or("an empty block"));
        }
    }
    Ok(stale)
}

#[test]
fn each_excerpt_of_the_guide_is_in_its_file() {
    let guide = workspace::read(GUIDE).unwrap();
    assert!(excerpts(&guide).len() >= 10);
    assert_eq!(stale(&guide).unwrap(), Vec::<&str>::new());
}

#[test]
fn an_excerpt_that_differs_from_its_file_is_reported() {
    let quote = |code: &str| format!("From [the guide's check](../xtask/src/guide.rs):\n\n```rust\n{code}\n```\n");
    let there =
        quote("while let Some(line) = lines.next() {\n    if let Some(language) = line.strip_prefix(\"```\") {");
    assert_eq!(stale(&there).unwrap(), Vec::<&str>::new());
    for other in ["let excerpts = none();", "const GUIDE: &str = \"docs/GUIDE.md\";\nstruct Excerpt<'a> {"] {
        assert_eq!(stale(&quote(other)).unwrap(), [other.lines().next().unwrap()]);
    }
    assert_eq!(stale("No file is named.\n```rust\nlet a;\n```\n").unwrap(), ["let a;"]);
    assert_eq!(stale("```sh\ncargo test\n```\n").unwrap(), Vec::<&str>::new());
}
