//! The documentation keeps one order: summary, guarantees, cancel safety, errors, backend notes, example.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::fs;
use std::path::{Path, PathBuf};

const ORDER: [&str; 5] = ["# Guarantees", "# Cancel safety", "# Errors", "# Backend notes", "# Example"];

/// The files with the traits that backends implement.
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

/// Returns each doc comment of a file, with the line that it documents.
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

/// Returns whether a line with a `#` belongs to an example and is not a heading.
fn is_code(line: &str) -> bool {
    ["# #", "# Ok", "# }", "# fn "].iter().any(|code| line.starts_with(code))
}

/// Returns the documentation of the trait, without the documentation of its methods.
fn of_trait<'a>(items: &[(Vec<&'a str>, &str)]) -> Vec<&'a str> {
    items.iter().filter(|(_, item)| item.starts_with("pub trait")).flat_map(|(docs, _)| docs.clone()).collect()
}

/// Returns whether the summary names a clause, such as `(S-1)`, or the documentation has a section about guarantees.
fn says_what_it_guarantees(docs: &[&str]) -> bool {
    let clause = |rest: &str| rest.split('-').next().is_some_and(|id| id.chars().all(|c| c.is_ascii_uppercase()));
    let summary = docs.iter().take_while(|line| !line.is_empty());
    docs.contains(&"# Guarantees") || summary.flat_map(|line| line.split('(').skip(1)).any(clause)
}

/// Cancel safety and errors are documented on the method or on its trait.
#[test]
fn every_async_method_documents_guarantees_cancellation_and_errors() {
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

/// Users of handles read the documentation of values and outcomes, and do not know the traits.
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
fn each_line_of_documentation_is_assigned_to_its_type() {
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

/// Returns each line of documentation outside examples, with the name of its type or function.
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

/// Returns the name of the type or function in a line of code.
fn item(line: &str) -> &str {
    let kinds = [" for ", "struct ", "enum ", "trait ", "fn ", "type ", "const ", "impl "];
    let rest = kinds.iter().find_map(|kind| line.split_once(kind)).map_or("", |(_, rest)| rest);
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Another default body would promise less than the clause of its method (principle 5 of the contract).
#[test]
fn each_default_method_refuses_the_call_or_makes_it_as_a_first_attempt() {
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

/// Returns whether a default body refuses to join the caller's transaction.
fn joins_nothing(body: &str) -> bool {
    body.starts_with("let _ = connection;") && body.contains("Err(Error::unsupported(")
}

/// Returns whether a default body only makes the first attempt of a call.
fn is_one_attempt(body: &str) -> bool {
    body.starts_with("self.attempt_") && body.contains("(Attempt::first(), ") && body.ends_with(").await")
}

#[test]
fn default_body_of_each_method_is_found() {
    let text = "pub trait A {\n    fn one(&self);\n\n    fn two(\n        &self,\n    ) -> u8 {\n        2\n    }\n}\n\
                fn free() {\n}\n";
    assert_eq!(bodies(text).collect::<Vec<_>>(), [None, Some("2")]);
}

/// Returns the default body of each method of the traits in a file, or `None` for a method without a default body.
fn bodies(text: &str) -> impl Iterator<Item = Option<&str>> {
    let traits = text.split("\npub trait ").skip(usize::from(!text.starts_with("pub trait ")));
    let methods = traits.flat_map(|rest| rest.split("\n}").next().unwrap_or_default().split("fn ").skip(1));
    methods.map(|method| {
        let (signature, body) = method.split_once(['{', ';']).unwrap_or((method, ""));
        let is_body = method[signature.len()..].starts_with('{');
        is_body.then(|| body.split("\n    }").next().unwrap_or(body).trim())
    })
}
