//! The documentation keeps one order: summary, guarantees, cancel safety, errors, backend notes, example.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::fs;
use std::path::{Path, PathBuf};

const ORDER: [&str; 5] = ["# Guarantees", "# Cancel safety", "# Errors", "# Backend notes", "# Example"];

/// The files of the traits that backends implement.
const TRAITS: [&str; 9] = [
    "item_bank",
    "dedup_repo",
    "lease_repo",
    "token_store",
    "counter",
    "ledger",
    "ordered_store",
    "entity_ledger",
    "backend",
];

/// Returns the doc comments of a file, each with the line that follows it.
fn documented(text: &str) -> Vec<(Vec<&str>, &str)> {
    let mut items = Vec::new();
    let mut docs = Vec::new();
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("///") {
            Some(doc) => docs.push(doc.trim()),
            None if line.starts_with("#[") => {}
            None if docs.is_empty() => {}
            None => items.push((std::mem::take(&mut docs), line)),
        }
    }
    items
}

fn sources() -> Vec<(String, String)> {
    within(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

fn within(folder: &Path) -> Vec<(String, String)> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of_path = |path: PathBuf| match path.is_dir() {
        true => within(&path),
        false => vec![(path.display().to_string(), fs::read_to_string(path).unwrap())],
    };
    paths.flat_map(of_path).collect()
}

#[test]
fn headings_of_all_docs_are_in_the_same_order() {
    for (file, text) in sources() {
        for (docs, item) in documented(&text) {
            let found: Vec<_> = docs.iter().filter_map(|line| ORDER.iter().position(|known| known == line)).collect();
            assert!(found.is_sorted(), "{file}: the headings of `{item}` are out of order");
            let stray = docs.iter().find(|line| line.starts_with("# ") && !ORDER.contains(line) && !is_code(line));
            assert!(stray.is_none(), "{file}: `{item}` has a heading of its own: {stray:?}");
        }
    }
}

/// Returns whether a line that begins with `#` is a hidden line of an example and not a heading.
fn is_code(line: &str) -> bool {
    ["# #", "# Ok", "# }", "# fn "].iter().any(|code| line.starts_with(code))
}

/// Returns the documentation of the trait itself, without that of its methods.
fn of_trait<'a>(items: &[(Vec<&'a str>, &str)]) -> Vec<&'a str> {
    items.iter().filter(|(_, item)| item.starts_with("pub trait")).flat_map(|(docs, _)| docs.clone()).collect()
}

/// Returns whether the documentation has a clause in its summary, such as `(S-1)`, or a section about guarantees.
fn says_what_it_guarantees(docs: &[&str]) -> bool {
    let clause = |rest: &str| rest.split('-').next().is_some_and(|id| id.chars().all(|c| c.is_ascii_uppercase()));
    let summary = docs.iter().take_while(|line| !line.is_empty());
    docs.contains(&"# Guarantees") || summary.flat_map(|line| line.split('(').skip(1)).any(clause)
}

/// Each async method documents its guarantees. The method or its trait documents cancel safety and errors.
#[test]
fn every_async_method_documents_guarantees_cancel_and_errors() {
    let mut seen = 0;
    // Items for authors of backends may have other sections.
    for (file, text) in sources().into_iter().filter(|(file, _)| !file.contains("/backend/")) {
        let items = documented(&text);
        let of_trait = of_trait(&items);
        for (docs, item) in items {
            let is_trait = TRAITS.iter().any(|name| file.ends_with(&format!("/{name}.rs")));
            if !(item.starts_with("pub async fn") || is_trait && item.starts_with("async fn")) {
                continue;
            }
            seen += 1;
            assert!(says_what_it_guarantees(&docs), "{file}: `{item}` does not say what it guarantees");
            for heading in ["# Cancel safety", "# Errors"] {
                let is_said = docs.contains(&heading) || is_trait && of_trait.contains(&heading);
                assert!(is_said, "{file}: `{item}` has no {heading}");
            }
        }
    }
    assert!(seen > 35, "only {seen} documented async methods were found");
}

#[test]
fn every_trait_has_a_running_example() {
    for name in TRAITS {
        let (_, text) = sources().into_iter().find(|(file, _)| file.ends_with(&format!("/{name}.rs"))).unwrap();
        assert!(text.contains("/// # Example"), "{name}.rs has no example");
        assert!(!text.contains("```ignore") && !text.contains("```no_run"), "{name}.rs has an example that is not run");
    }
}

/// The traits that a handle hides from its user.
const HIDDEN: [&str; 9] = [
    "ItemBank",
    "ItemBank",
    "DedupRepo",
    "LeaseRepo",
    "TokenStore",
    "OrderedStore",
    "EntityLedger",
    "[`Counter",
    "crate::Ledger",
];

/// Users of handles read the documentation of the core's values and outcomes, and they do not know the traits.
#[test]
fn docs_of_types_returned_by_handles_mention_no_trait() {
    let facade = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("storagebox").join("src/lib.rs");
    let facade = fs::read_to_string(facade).unwrap();
    let shown: Vec<_> = facade.split("\npub use storagebox_core::").skip(1).flat_map(names).collect();
    assert!(shown.contains(&"Taken") && shown.contains(&"Processor") && !shown.contains(&"ItemBank"), "{shown:?}");
    let mut seen = 0;
    for (file, text) in sources() {
        for (owner, doc) in owned(&text).into_iter().filter(|(owner, _)| shown.contains(owner)) {
            let named = HIDDEN.iter().find(|name| doc.contains(*name));
            assert_eq!(named, None, "{file}: the documentation of `{owner}` names a trait: {doc}");
            seen += 1;
        }
    }
    assert!(seen > 300, "only {seen} lines of documentation were found");
}

#[test]
fn owned_assigns_each_line_of_documentation_to_its_type() {
    let text = "/// A.\npub struct A {\n    /// Field.\n}\n/// On A.\nimpl<T> Debug for A<T> {\n    /// Call.\n}\n/// ```\n\
                /// code\n/// ```\n/// A run.\npub async fn run() {}\n";
    let expected = [("A", " A."), ("A", " Field."), ("A", " On A."), ("A", " Call."), ("run", " A run.")];
    assert_eq!(owned(text), expected);
}

/// Returns the names in the braces of a `pub use`.
fn names(list: &str) -> impl Iterator<Item = &str> {
    let list = list.split_once(';').map_or(list, |(list, _)| list);
    list.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty())
}

/// Returns the lines of documentation outside of examples, each with the type or function that it belongs to.
fn owned(text: &str) -> Vec<(&str, &str)> {
    let (mut lines, mut above, mut owner, mut is_code) = (Vec::new(), Vec::new(), "", false);
    for line in text.lines() {
        if let Some(doc) = line.trim_start().strip_prefix("///") {
            is_code ^= doc.trim_start().starts_with("```");
            match is_code || doc.contains("```") {
                true => {}
                false if line.starts_with("///") => above.push(doc),
                false => lines.push((owner, doc)),
            }
        } else if line.starts_with("pub ") || line.starts_with("impl") {
            owner = item(line);
            lines.extend(above.drain(..).map(|doc| (owner, doc)));
        }
    }
    lines
}

/// Returns the name of the type or function that a line declares or implements.
fn item(line: &str) -> &str {
    let kinds = [" for ", "struct ", "enum ", "trait ", "fn ", "type ", "const ", "impl "];
    let rest = kinds.iter().find_map(|kind| line.split_once(kind)).map_or("", |(_, rest)| rest);
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Principle 5 of the contract: a default body would be weaker than the clause of its method.
#[test]
fn only_openers_and_first_attempts_have_a_default_body() {
    let mut methods = 0;
    for name in TRAITS {
        let (file, text) = sources().into_iter().find(|(file, _)| file.ends_with(&format!("/{name}.rs"))).unwrap();
        for body in bodies(&text).inspect(|_| methods += 1).flatten() {
            let is_sound = body.contains("Err(lacks(self.backend(), ") || is_one_attempt(body) || joins_nothing(body);
            assert!(is_sound, "{file}: a method has the default body {body}");
        }
    }
    assert!(methods > 40, "only {methods} methods were found");
}

/// Returns whether the body refuses to join the caller's transaction.
fn joins_nothing(body: &str) -> bool {
    body.starts_with("let _ = connection;") && body.contains("Err(Error::unsupported(")
}

/// Returns whether the body only makes the first attempt of a new call.
fn is_one_attempt(body: &str) -> bool {
    body.starts_with("self.attempt_") && body.contains("(Attempt::first(), ") && body.ends_with(").await")
}

#[test]
fn bodies_returns_the_default_body_of_each_method() {
    let text = "pub trait A {\n    fn one(&self);\n\n    fn two(\n        &self,\n    ) -> u8 {\n        2\n    }\n}\n\
                fn free() {\n}\n";
    assert_eq!(bodies(text).collect::<Vec<_>>(), [None, Some("2")]);
}

/// Returns the default body of each method of a file's traits; `None` for a method without one.
fn bodies(text: &str) -> impl Iterator<Item = Option<&str>> {
    let traits = text.split("\npub trait ").skip(usize::from(!text.starts_with("pub trait ")));
    let methods = traits.flat_map(|rest| rest.split("\n}").next().unwrap_or_default().split("fn ").skip(1));
    methods.map(|method| {
        let (signature, body) = method.split_once(['{', ';']).unwrap_or((method, ""));
        let is_body = method[signature.len()..].starts_with('{');
        is_body.then(|| body.split("\n    }").next().unwrap_or(body).trim())
    })
}
