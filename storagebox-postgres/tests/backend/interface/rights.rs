//! Rights: a role needs EXECUTE, and EXECUTE of one function allows that function alone.

use std::collections::BTreeSet;

use sqlx::query_scalar;
use storagebox_core::Result;

use super::Caller;
use super::banks::bank;
use crate::scene::with_place;
use crate::support::{failed, run};

/// Creates a role that may use the schema and call `assign`, and lets another role `SET ROLE` to it.
const MAKE: &str = "
    CREATE ROLE {role}_shop;
    GRANT {role}_shop TO {role};
    GRANT USAGE ON SCHEMA {schema} TO {role}_shop;
    GRANT EXECUTE ON FUNCTION {schema}.assign TO {role}_shop";

const SIGNATURES_OF_1: &str = include_str!("signatures.txt");

const UNMAKE: &str = "DROP OWNED BY {role}_shop; DROP ROLE {role}_shop";

#[test]
fn role_can_call_only_the_functions_granted_to_it() -> Result<()> {
    with_place(async |place| {
        let _bank = bank(place, &["item"]).await?;
        let filled = |sql: &str| sql.replace("{role}", place.database.role()).replace("{schema}", &place.schema);
        run(place.database.owner(), filled(MAKE)).await?;
        let mut caller = Caller::connect(place).await?;
        caller.run(&filled("SET ROLE {role}_shop")).await?;
        let assigned = caller.says("outcome, item", "assign('vouchers', 'ada')").await;
        let refused = [
            caller.refusal("confirm('vouchers', 'ada')").await,
            caller.refusal("check_text('bank', 'vouchers')").await,
            caller.refusal("bank_release(1, 'ada', 1)").await,
            caller.refusal("claims").await,
        ];
        run(place.database.owner(), filled(UNMAKE)).await?;
        assert_eq!((assigned?, refused), ("new item".to_owned(), ["42501"; 4].map(str::to_owned)));
        Ok(())
    })
}

/// In one version of the interface, the names, arguments and columns of its functions do not change.
#[test]
fn interface_functions_match_their_version() -> Result<()> {
    const SIGNATURES: &str = "
        SELECT format('%s(%s) %s', proname, pg_get_function_arguments(oid), pg_get_function_result(oid)) FROM pg_proc
        WHERE pronamespace = $1::regnamespace AND NOT 'p_' = ANY (SELECT left(name, 2) FROM unnest(proargnames) name)
            AND proargnames IS NOT NULL AND prosecdef";
    with_place(async |place| {
        let found: Vec<String> =
            query_scalar(SIGNATURES).bind(&place.schema).fetch_all(place.database.owner()).await.map_err(failed)?;
        let expected = SIGNATURES_OF_1.lines().map(str::to_owned);
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected.collect());
        assert_eq!(Caller::connect(place).await?.says("r", "interface_version() r").await?, "1");
        Ok(())
    })
}

/// Removes the types from a signature, as in `docs/SQL.md`.
fn documented(signature: &str) -> String {
    let (name, rest) = signature.split_once('(').expect("arguments");
    let (arguments, _) = rest.split_once(") ").expect("a result");
    let shown = |argument: &str| {
        let name = argument.split(' ').next().unwrap_or_default();
        format!("{name}{}", if argument.contains(" DEFAULT ") { " DEFAULT NULL" } else { "" })
    };
    let arguments: Vec<_> = arguments.split(", ").map(shown).collect();
    format!("| `{name}({})` |", arguments.join(", "))
}

#[test]
fn sql_page_lists_each_function_with_its_arguments() {
    let page = include_str!("../../../../docs/SQL.md");
    let missing = SIGNATURES_OF_1.lines().map(documented).filter(|shown| !page.contains(shown));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<String>::new());
}
