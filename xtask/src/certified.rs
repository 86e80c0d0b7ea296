//! Checks the certificates in `docs/certified`: each is in their index, and the README's table of backends names each
//! server.

use crate::workspace;

const FOLDER: &str = "docs/certified";

/// Returns the rows of the index of certificates: a server with its version, and the file of its certificate.
fn listed(index: &str) -> Vec<(&str, &str)> {
    let rows = index.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | [`"));
    rows.filter_map(|(server, file)| Some((server.split(',').next()?, file.split_once('`')?.0))).collect()
}

/// Returns whether the table of backends lists the server's product and version.
fn is_named(table: &str, server: &str) -> bool {
    let Some((product, version)) = server.split_once(' ') else { return false };
    let mut numbers = version.split('.');
    let major = numbers.next().unwrap_or_default();
    // The table lists the first number of a PostgreSQL version, and no version of dynoxide.
    let version = match product {
        "PostgreSQL" => major.to_owned(),
        "dynoxide" => return table.contains(product),
        _ => format!("{major}.{}", numbers.next().unwrap_or_default()),
    };
    let mut names =
        table.split(product).skip(1).map(|rest| rest.split(|c: char| !is_of_list(c)).next().unwrap_or(rest));
    names.any(|list| list.split([' ', ',']).any(|known| known == version))
}

/// Returns whether the character can be in a list of versions such as "8.0, 8.1 and 9.1".
fn is_of_list(c: char) -> bool {
    c.is_ascii_digit() || [' ', ',', '.', 'a', 'n', 'd'].contains(&c)
}

#[test]
fn the_readme_names_each_server_that_is_certified() {
    let (readme, index) =
        (workspace::read("README.md").unwrap(), workspace::read(format!("{FOLDER}/README.md")).unwrap());
    let table = readme.split("\n## ").find(|section| section.starts_with("Backends\n")).unwrap();
    let table = table.split("\n\n").nth(1).unwrap();
    let listed = listed(&index);
    assert!(listed.len() >= 9);
    for (server, _) in &listed {
        assert!(is_named(table, server), "README.md's table of backends does not name {server}");
    }
    let files = workspace::entries(FOLDER).unwrap().into_iter().map(|path| workspace::name(&path));
    for file in files.filter(|file| file != "README.md") {
        assert!(listed.iter().any(|(_, known)| *known == file), "{file} is not in {FOLDER}/README.md");
    }
}

#[test]
fn a_server_of_another_version_is_not_named() {
    let table =
        "certified on PostgreSQL 15 and 18 |\n| one node of Redis 7.0 and 8.0, and of Valkey 8.0, 8.1 and 9.1 |";
    for named in ["PostgreSQL 15.20", "PostgreSQL 18.6", "Redis 8.0.2", "Valkey 8.1.1", "Valkey 9.1.2"] {
        assert!(is_named(table, named), "{named}");
    }
    for other in ["PostgreSQL 1.5", "PostgreSQL 17.1", "Redis 8.1.1", "Redis 9.1.2", "Valkey 7.0.1", "dynoxide 1.5.0"] {
        assert!(!is_named(table, other), "{other}");
    }
}
