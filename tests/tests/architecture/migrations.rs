//! Rules for migrations: the same steps for both engines, keys that shard by account, and portable SQL.

use std::fs;

use anyhow::{Context as _, Result};

use super::{assert_no_violations, entries, root};

/// The folders of the engines.
const ENGINES: [&str; 2] = ["postgres", "sqlite"];
/// SQL that ties a schema to one machine, or hides effects.
const FORBIDDEN: [&str; 10] = [
    "SERIAL",
    "NEXTVAL",
    "AUTOINCREMENT",
    "TRIGGER",
    "PG_ADVISORY",
    "DEFERRABLE",
    "LISTEN",
    "NOTIFY",
    "LOCK TABLE",
    "ON CONSTRAINT",
];
/// The first column of a primary key, so that a row is on its account's shard.
const SHARD_KEYS: [&str; 2] = ["account_id", "holder"];
/// Tables with another key, with reasons.
const OTHER_KEYS: [(&str, &str); 13] = [
    ("accounts", "its id is the account"),
    ("api_keys", "a key is found by its prefix, before its account is known"),
    ("global_reservations", "these values are unique across accounts"),
    ("callbacks", "a callback has no account until it is matched"),
    ("installation_facts", "they are of the whole installation"),
    ("ledger_verifications", "a check covers the whole ledger"),
    ("list_positions", "an acquirer's list is of many accounts"),
    ("acquirer_drains", "an acquirer serves many accounts"),
    ("audit_log", "operators see the changes of all accounts in their order"),
    ("users", "a login names an e-mail, and operators have no account"),
    ("sessions", "a browser names its session before its account is known"),
    ("confirmations", "operators confirm actions too, and have no account"),
    ("commit_batches", "a batch has change sets of many accounts"),
];

/// An SQL file without comments, in upper case.
struct Script {
    path: String,
    sql: String,
}

#[test]
fn engines_have_the_same_migrations() -> Result<()> {
    let [postgres, sqlite] = ENGINES.map(names);
    let (postgres, sqlite) = (postgres?, sqlite?);
    assert!(!postgres.is_empty());
    assert_eq!(postgres, sqlite);
    Ok(())
}

#[test]
fn every_migration_can_be_reverted() -> Result<()> {
    let mut violations = Vec::new();
    for engine in ENGINES {
        for name in names(engine)? {
            for file in ["up.sql", "down.sql"] {
                let path = root()?.join("migrations").join(engine).join(&name).join(file);
                if !fs::read_to_string(&path).is_ok_and(|sql| !sql.trim().is_empty()) {
                    violations.push(format!("{engine}/{name} has no {file}"));
                }
            }
        }
    }
    assert_no_violations(&violations);
    Ok(())
}

#[test]
fn schema_has_no_machine_bound_sql() -> Result<()> {
    let mut violations = Vec::new();
    for script in scripts("up.sql")?.iter().chain(&scripts("down.sql")?) {
        let found = FORBIDDEN.iter().filter(|forbidden| contains_words(&script.sql, forbidden));
        violations.extend(found.map(|forbidden| format!("{} contains {forbidden}", script.path)));
    }
    assert_no_violations(&violations);
    Ok(())
}

#[test]
fn tables_shard_by_account() -> Result<()> {
    let mut violations = Vec::new();
    let mut tables = 0;
    for script in scripts("up.sql")? {
        for (table, body) in created_tables(&script.sql) {
            tables += 1;
            let key = first_key_column(body).or_else(|| added_key(&script.sql, &table));
            let sharded = key.as_deref().is_some_and(|key| SHARD_KEYS.contains(&key));
            let excepted = OTHER_KEYS.iter().any(|(name, _reason)| *name == table);
            if sharded == excepted {
                violations.push(format!("{}: {table} has the primary key {key:?}, …", script.path));
            }
        }
    }
    assert!(tables > OTHER_KEYS.len(), "only {tables} tables were found");
    assert_no_violations(&violations);
    Ok(())
}

#[test]
fn words_are_found_as_words() {
    assert!(contains_words("A BIGSERIAL PRIMARY KEY", "SERIAL"));
    assert!(contains_words("SELECT PG_ADVISORY_XACT_LOCK(1)", "PG_ADVISORY"));
    assert!(contains_words("NOTIFY", "NOTIFY"));
    assert!(!contains_words("ISOLATION LEVEL SERIALIZABLE", "SERIAL"));
}

#[test]
fn keys_are_read_from_tables() {
    let sql = "CREATE TABLE A (X TEXT, ACCOUNT_ID TEXT, CHECK (X IN ('P', 'Q')), PRIMARY KEY (ACCOUNT_ID, X)) STRICT;
        CREATE TABLE IF NOT EXISTS B (ID TEXT COLLATE \"C\" PRIMARY KEY, Y INT); CREATE TABLE C (X INT)";
    let keys: Vec<_> = created_tables(sql).map(|(name, body)| (name, first_key_column(body))).collect();
    let expected = [("a", Some("account_id")), ("b", Some("id")), ("c", None)];
    let expected = expected.map(|(name, key)| (name.to_owned(), key.map(str::to_owned)));
    assert_eq!(keys, expected);
    let later = "CREATE TABLE C (X INT); ALTER TABLE C ADD PRIMARY KEY (HOLDER, X);";
    assert_eq!((added_key(later, "c"), added_key(later, "d")), (Some("holder".to_owned()), None));
}

/// Returns whether the words occur, alone or at the end of a longer word: `BIGSERIAL`, not `SERIALIZABLE`.
fn contains_words(sql: &str, words: &str) -> bool {
    let mut continuations = sql.split(words).skip(1).map(|rest| rest.chars().next());
    continuations.any(|next| next.is_none_or(|next| !next.is_alphanumeric()))
}

fn names(engine: &str) -> Result<Vec<String>> {
    let folders = entries(&root()?.join("migrations").join(engine))?;
    let name = |path: &std::path::PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    Ok(folders.iter().filter(|path| path.is_dir()).filter_map(name).collect())
}

fn scripts(file: &str) -> Result<Vec<Script>> {
    let mut scripts = Vec::new();
    for engine in ENGINES {
        for name in names(engine)? {
            let path = format!("migrations/{engine}/{name}/{file}");
            let sql = fs::read_to_string(root()?.join(&path)).with_context(|| path.clone())?;
            let lines = sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
            let sql = lines.collect::<Vec<_>>().join(" ").to_uppercase();
            let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
            scripts.push(Script { path, sql });
        }
    }
    Ok(scripts)
}

/// Returns the tables created by the SQL, each with its name in lower case and the following text.
fn created_tables(sql: &str) -> impl Iterator<Item = (String, &str)> {
    sql.split("CREATE TABLE ").skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix("IF NOT EXISTS ").unwrap_or(rest);
        let statement = rest.split(';').next()?;
        let (name, body) = statement.split_once('(')?;
        Some((name.trim().to_lowercase(), body))
    })
}

/// Returns the first column of a primary key that was added to the table later.
fn added_key(sql: &str, table: &str) -> Option<String> {
    let (_, added) = sql.split_once(&format!("ALTER TABLE {} ADD ", table.to_uppercase()))?;
    first_key_column(added.split(';').next()?)
}

/// Returns the first column of the primary key, in lower case.
fn first_key_column(body: &str) -> Option<String> {
    let (before, after) = body.split_once("PRIMARY KEY")?;
    let column = match after.trim_start().strip_prefix('(') {
        Some(columns) => columns.split([',', ')']).next()?,
        None => before.rsplit(',').next()?.split_whitespace().next()?,
    };
    Some(column.trim().to_lowercase())
}
