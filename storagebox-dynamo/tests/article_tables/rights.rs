//! The README lists exactly the rights that the calls need.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use storagebox_core::{ClaimId, Result, Taken};
use storagebox_testkit::dynamodb::faults::Exchange;

use crate::support::{Articles, items};

/// An action of DynamoDB, and the table for which it is allowed.
type Right = (String, String);

#[tokio::test]
async fn calls_need_exactly_the_rights_of_the_readme() -> Result<()> {
    Articles::with(async |articles| {
        let (tables, faults) = articles.through(articles.builder()).await?;
        faults.record(true);
        tables.add(&items(2)?).await?;
        for id in ["ada", "ada", "bob"] {
            let _ = tables.assign(id).await?;
        }
        assert_eq!(tables.assign("eve").await?, Taken::Empty);
        tables.get(&ClaimId::new("ada")?).await?;
        tables.counts().await?;
        let used: BTreeSet<Right> = faults.taken().iter().flat_map(|sent| rights(articles, sent)).collect();
        assert_eq!(used, documented());
        Ok(())
    })
    .await
}

/// Returns the rights that a request needs. A transaction needs the rights of its parts.
fn rights(articles: &Articles, sent: &Exchange) -> Vec<Right> {
    let part = |table: &str| if table == articles.items { "items" } else { "records" }.to_owned();
    let request = &sent.request;
    let of_part = |part_of: &Value| {
        let (act, details) = part_of.as_object().and_then(|acts| acts.iter().next()).expect("a part");
        (format!("{act}Item"), part(details["TableName"].as_str().expect("its table")))
    };
    match sent.operation.as_str() {
        "TransactWriteItems" => request["TransactItems"].as_array().expect("parts").iter().map(of_part).collect(),
        batch @ "BatchGetItem" => {
            let tables = request["RequestItems"].as_object().expect("tables");
            tables.keys().map(|table| (batch.to_owned(), part(table))).collect()
        }
        single => vec![(single.to_owned(), part(request["TableName"].as_str().expect("its table")))],
    }
}

fn documented() -> BTreeSet<Right> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    let (_, section) = readme.split_once("## Article 1's own tables").expect("the section");
    let (_, table) = section.split_once("| table | rights |\n|---|---|\n").expect("the table");
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let rights = cells[2].split(", ").map(|right| right.trim_matches('`').to_owned());
        rights.map(|right| (right, cells[1].to_owned())).collect::<Vec<_>>()
    })
    .collect()
}
