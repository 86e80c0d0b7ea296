//! The tables of article 1's Python package: opened, read and imported.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use serde_json::{Value, json};

use super::Table;
use crate::stores::Store;
use crate::support::Place;

/// The key attributes of the two tables of the Python package.
const KEYS: [&str; 2] = ["item", "deduplication_id"];
const GIVEN: [(&str, &str); 3] = [("ada", "SAVE-1"), ("bob", "SAVE-2"), ("eve's \"#1\"", "SAVE-3")];
const FREE: [&str; 4] = ["SAVE-4", "SAVE-5", "SAVE-6", "SAVE-7"];

/// The two tables of the Python package, which are deleted when this value is dropped.
struct Articles(Table);

impl Articles {
    fn filled() -> Self {
        let articles = Self(Table::ready());
        articles.0.raw(async |client, _| {
            for (table, key) in articles.0.articles().iter().zip(KEYS) {
                create(&client, table, key).await;
            }
        });
        for item in FREE {
            articles.put(0, &[("item", item)]);
        }
        for (id, item) in GIVEN {
            articles.put(1, &[("deduplication_id", id), ("item_string", item)]);
        }
        articles
    }

    fn put(&self, table: usize, row: &[(&str, &str)]) {
        let name = &self.0.articles()[table];
        let text = |text: &str| AttributeValue::S(text.to_owned());
        self.0.raw(async |client, _| {
            let row = row.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect();
            client.put_item().table_name(name).set_item(Some(row)).send().await.unwrap();
        });
    }

    fn import(&self, place: &Place, code: i32) -> Value {
        let (from, [items, _]) = (self.0.url_of_articles(), self.0.articles());
        let args = ["bank", "import", "b", "--from", &from, "--from-namespace", &items, "--json"];
        let ended = place.run(&args).exits(code);
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr))
    }
}

impl Drop for Articles {
    fn drop(&mut self) {
        self.0.raw(async |client, _| {
            for table in self.0.articles() {
                let _missing = client.delete_table().table_name(table).send().await;
            }
        });
    }
}

async fn create(client: &Client, table: &str, key: &str) {
    let attribute = AttributeDefinition::builder().attribute_name(key).attribute_type(ScalarAttributeType::S);
    let schema = KeySchemaElement::builder().attribute_name(key).key_type(KeyType::Hash);
    let request = client.create_table().table_name(table).billing_mode(BillingMode::PayPerRequest);
    let request = request.attribute_definitions(attribute.build().unwrap());
    request.key_schema(schema.build().unwrap()).send().await.unwrap();
}

fn taken(place: &Place, id: &str) -> Value {
    place.run(&["bank", "take", "b", id, "--json"]).exits(0).json()
}

#[test]
fn tables_of_the_python_package_open_like_any_store() {
    let articles = Articles::filled();
    let place = articles.0.place_of(&articles.0.url_of_articles());
    let [items, records] = articles.0.articles();
    assert_eq!(place.run(&["ping"]).exits(0).stdout, "backend dynamo\noutcome ready\n");
    let bank = |command: &str, more: &[&str]| {
        let ended = place.run(&[&["bank", command, &items, "--json"], more].concat());
        ended.exits(0)
    };
    let counts = bank("counts", &[]).json();
    assert_eq!([&counts["free"], &counts["held"], &counts["total"]], [4, 3, 7]);
    let listed = bank("list", &[]).stdout;
    assert_eq!(listed.lines().count(), 7, "{listed}");
    assert!(listed.contains(r#"{"id":"bob","item":"SAVE-2","state":"held"}"#), "{listed}");
    assert_eq!(bank("holder", &["SAVE-2"]).json()["id"], "bob");
    assert_eq!(bank("holder", &["SAVE-7"]).json()["state"], "free");
    assert_eq!(bank("audit", &[]).json()["audit"], "ok");
    assert_eq!(bank("show", &["ada"]).json()["item"], "SAVE-1");
    let again = bank("take", &["ada"]).json();
    assert_eq!((&again["outcome"], &again["item"]), (&json!("again"), &json!("SAVE-1")));
    let refused = place.run(&["bank", "release", &items, "ada"]).exits(2);
    assert!(refused.stderr.contains("a bank of `dynamodb:`"), "{}", refused.stderr);
    let other = place.run(&["bank", "counts", &records]).exits(2);
    assert!(other.stderr.contains(&items), "{}", other.stderr);
}

/// Imports the two tables of the Python package into a DynamoDB table and into a SQLite file.
#[test]
fn an_import_into_another_store_keeps_the_item_of_each_id() {
    let articles = Articles::filled();
    let file = articles.0.place_of("sqlite:moved.db");
    file.run(&["setup"]).exits(0);
    for place in [articles.0.place(), file] {
        let moved = articles.import(&place, 0);
        let figures = ["ids_there", "free_there", "ids_imported", "free_imported"].map(|key| &moved[key]);
        assert_eq!((figures, &moved["audit"]), ([3, 4, 3, 4].map(Value::from).each_ref(), &json!("ok")));
        let again = articles.import(&place, 0);
        assert_eq!([&again["ids_imported"], &again["free_imported"]], [0, 0]);
        for (id, item) in GIVEN {
            let taken = taken(&place, id);
            assert_eq!((&taken["outcome"], &taken["item"]), (&json!("again"), &json!(item)));
        }
        let fresh = taken(&place, "a new customer");
        assert!(FREE.contains(&fresh["item"].as_str().unwrap()), "{fresh}");
        assert_eq!(place.run(&["bank", "audit", "b", "--json"]).exits(0).json()["audit"], "ok");
    }
}

#[test]
fn an_import_lists_the_second_id_of_an_item() {
    let articles = Articles::filled();
    articles.put(1, &[("deduplication_id", "zoe"), ("item_string", "SAVE-2")]);
    let told = articles.import(&articles.0.place(), 3);
    assert_eq!((&told["audit"], &told["at_odds"]), (&json!("FAILED"), &json!(["zoe"])));
    assert_eq!(taken(&articles.0.place(), "bob")["item"], "SAVE-2");
}
