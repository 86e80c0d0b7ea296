//! The README's templates create the same table as `setup`.

use serde_json::{Map, Value, json};
use storagebox_core::{Backend as _, Result};
use storagebox_dynamo::DynamoStore;

use crate::backups::{asked, recorded_with_backups, remove};
use crate::readme::{block, read, section};
use crate::scene::in_table;
use crate::support::failed;

/// The bodies of the requests that `setup` sends for the table of the templates.
struct Asked {
    table: Value,
    ttl: Value,
    backups: Value,
}

async fn asked_for() -> Result<Asked> {
    let mut sent = vec![];
    in_table(async |table| {
        let name = format!("{}-template", table.name);
        let (store, faults) = recorded_with_backups(table, DynamoStore::builder().table(name.as_str())).await?;
        store.setup().await?;
        sent = faults.taken();
        remove(table, &name).await
    })
    .await?;
    let request = |operation: &str| {
        asked(&sent, operation).pop().ok_or_else(|| failed(format_args!("no {operation} was asked for")))
    };
    let (mut table, ttl) = (request("CreateTable")?, request("UpdateTimeToLive")?);
    table["TableName"] = json!("storagebox");
    let backups = request("UpdateContinuousBackups")?["PointInTimeRecoverySpecification"].clone();
    Ok(Asked { table, ttl: ttl["TimeToLiveSpecification"].clone(), backups })
}

fn template(language: &str) -> String {
    let readme = read("README.md");
    block(section(&readme, "The table"), language).to_owned()
}

#[tokio::test]
async fn the_cloudformation_template_creates_the_table_of_setup() -> Result<()> {
    let stack: Value = serde_json::from_str(&template("json")).map_err(failed)?;
    let resource = &stack["Resources"]["Storagebox"];
    assert_eq!(resource["Type"], "AWS::DynamoDB::Table");
    let mut properties = resource["Properties"].as_object().cloned().unwrap_or_default();
    let ttl = properties.remove("TimeToLiveSpecification").unwrap_or_default();
    let backups = properties.remove("PointInTimeRecoverySpecification").unwrap_or_default();
    let asked = asked_for().await?;
    assert_eq!((Value::Object(properties), ttl, backups), (asked.table, asked.ttl, asked.backups));
    Ok(())
}

#[tokio::test]
async fn the_terraform_template_creates_the_table_of_setup() -> Result<()> {
    let text = template("hcl");
    let resource = &blocks(&mut text.lines())["resource"][0];
    let keys = |range: &Value| {
        json!([
            { "AttributeName": resource["hash_key"], "KeyType": "HASH" },
            { "AttributeName": range, "KeyType": "RANGE" },
        ])
    };
    let all = |name: &str| resource[name].as_array().cloned().unwrap_or_default();
    let attributes = all("attribute").into_iter();
    let attribute = |one: Value| json!({ "AttributeName": one["name"], "AttributeType": one["type"] });
    let index = |one: Value| {
        let projection =
            json!({ "ProjectionType": one["projection_type"], "NonKeyAttributes": one["non_key_attributes"] });
        json!({ "IndexName": one["name"], "KeySchema": keys(&one["range_key"]), "Projection": projection })
    };
    let table = json!({
        "TableName": resource["name"],
        "BillingMode": resource["billing_mode"],
        "AttributeDefinitions": attributes.map(attribute).collect::<Vec<_>>(),
        "KeySchema": keys(&resource["range_key"]),
        "LocalSecondaryIndexes": all("local_secondary_index").into_iter().map(index).collect::<Vec<_>>(),
        "DeletionProtectionEnabled": resource["deletion_protection_enabled"],
    });
    let backups = json!({ "PointInTimeRecoveryEnabled": resource["point_in_time_recovery"][0]["enabled"] });
    let ttl = &resource["ttl"][0];
    let ttl = json!({ "AttributeName": ttl["attribute_name"], "Enabled": ttl["enabled"] });
    let asked = asked_for().await?;
    assert_eq!((table, ttl, backups), (asked.table, asked.ttl, asked.backups));
    Ok(())
}

/// Parses the part of Terraform's language that the README uses: named blocks, which become lists, and JSON values.
fn blocks<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Value {
    let mut block = Map::new();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line == "}" {
            break;
        }
        if let Some(heading) = line.strip_suffix('{') {
            let name = heading.split_whitespace().next().unwrap_or_default();
            let inner = blocks(lines);
            let list = block.entry(name).or_insert_with(|| json!([]));
            list.as_array_mut().unwrap().push(inner);
        } else if let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            block.insert(name.trim().to_owned(), serde_json::from_str(value).unwrap());
        }
    }
    Value::Object(block)
}
