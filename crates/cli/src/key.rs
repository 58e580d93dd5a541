//! `cais key`: API keys of an account.

use cais_domain::merchant::api_key::{KeyPrefix, Scope, Scopes};
use cais_domain::text::Text;
use cais_ports::{Actor, ApiKeyRecord, KeyUse};
use cais_use_cases::Ports;
use cais_use_cases::keys::{create, list, revoke};
use clap::Subcommand;
use ipnet::IpNet;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::account::{AccountArg, name};
use crate::output::{Output, fields, instant, table};
use cais_http_api::resources::operator as operator_json;

/// The operations on API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a key and print it; the key is not shown again
    Create {
        #[command(flatten)]
        which: AccountArg,
        /// Name of the key, for people
        #[arg(long, value_parser = name)]
        name: Text,
        #[arg(long, value_parser = Scopes::parse, help = scopes_help())]
        scopes: Scopes,
        /// Days until the key expires; by default the key never expires
        #[arg(long, value_name = "DAYS", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(create::MAX_EXPIRES_IN_DAYS)))]
        expires_in_days: Option<u32>,
        /// IP addresses and CIDR blocks from which the key is accepted, separated by commas; by default all addresses
        #[arg(long, value_name = "CIDR", value_delimiter = ',', value_parser = network)]
        allow: Vec<IpNet>,
    },
    /// List the keys of an account, newest first
    List(AccountArg),
    /// Revoke a key permanently
    Revoke {
        /// Public part of the key: the 12 characters after `key_`. The whole key is accepted too
        #[arg(value_parser = prefix)]
        prefix: KeyPrefix,
    },
}

fn scopes_help() -> String {
    format!("`all`, or scopes separated by commas: {}", Scope::ALL.map(Scope::as_str).join(", "))
}

fn network(text: &str) -> Result<IpNet, &'static str> {
    create::parse_block(text).ok_or("must be an IP address or a CIDR block such as 203.0.113.0/24")
}

fn prefix(text: &str) -> Result<KeyPrefix, &'static str> {
    let bare = text.strip_prefix("key_").unwrap_or(text).split('_').next().unwrap_or_default();
    KeyPrefix::parse(bare).map_err(|_| "must be the 12 characters after `key_`")
}

/// Runs the command.
///
/// # Errors
/// The error of the use case.
pub async fn run(ports: &Ports, operator: &Actor, command: KeyCommand, output: Output) -> anyhow::Result<()> {
    match command {
        KeyCommand::Create { which, name, scopes, expires_in_days, allow } => {
            let command =
                create::CreateKey { email: which.email, name, scopes, expires_in_days, allowed_addresses: allow };
            let made = create::create(ports, operator, command).await?;
            let mut value = operator_json::key(&made.record);
            if let Value::Object(object) = &mut value {
                object.insert("key".to_owned(), Value::String(made.token.expose()));
            }
            output.print(&value, || {
                let rows = [
                    ("key", made.token.expose()),
                    ("name", made.record.name.clone()),
                    ("scopes", made.record.scopes.to_string()),
                    ("expires", expiry(&made.record)),
                ];
                format!("{}\n\nStore the key now. It is not shown again.", fields(&rows))
            })?;
        }
        KeyCommand::List(which) => {
            let keys = list::list(ports, &which.email).await?;
            let uses = list::uses(ports, &keys).await?;
            let used = |key: &ApiKeyRecord| uses.iter().find(|used| used.key == key.prefix);
            let as_json = |key: &ApiKeyRecord| with_use(operator_json::key(key), used(key));
            let value = json!({ "data": keys.iter().map(as_json).collect::<Vec<_>>() });
            let now = ports.clock.now();
            output.print(&value, || {
                let rows: Vec<Vec<String>> = keys.iter().map(|key| row(key, used(key), now)).collect();
                if rows.is_empty() {
                    "The account has no keys.".to_owned()
                } else {
                    table(&["PREFIX", "NAME", "STATUS", "EXPIRES", "CREATED", "LAST USE", "SCOPES"], &rows)
                }
            })?;
        }
        KeyCommand::Revoke { prefix } => {
            let key = revoke::revoke(ports, operator, &prefix).await?;
            output.print(&operator_json::key(&key), || {
                format!("The key {prefix} ({}) is revoked. Running services refuse it within 5 seconds.", key.name)
            })?;
        }
    }
    Ok(())
}

fn status(key: &ApiKeyRecord, now: Timestamp) -> &'static str {
    match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= now => "expired",
        (None, _) => "active",
    }
}

fn expiry(key: &ApiKeyRecord) -> String {
    key.expires_at.map_or_else(|| "never".to_owned(), instant)
}

/// Adds the fields `last_used_at` and `last_used_address` to a key. Both are null before the first use; the address is null also if it is
/// unknown.
fn with_use(mut key: Value, used: Option<&KeyUse>) -> Value {
    if let Value::Object(object) = &mut key {
        object.insert("last_used_at".to_owned(), json!(used.map(|used| operator_json::instant(used.at))));
        let address = used.map(|used| used.address.as_str()).filter(|address| !address.is_empty());
        object.insert("last_used_address".to_owned(), json!(address));
    }
    key
}

fn row(key: &ApiKeyRecord, used: Option<&KeyUse>, now: Timestamp) -> Vec<String> {
    let scopes = if key.scopes == Scopes::all() { "all".to_owned() } else { key.scopes.to_string() };
    vec![
        key.prefix.to_string(),
        key.name.clone(),
        status(key, now).to_owned(),
        expiry(key),
        instant(key.created_at),
        used.map_or_else(
            || "never".to_owned(),
            |used| format!("{} {}", instant(used.at), used.address).trim_end().to_owned(),
        ),
        scopes,
    ]
}

#[cfg(test)]
mod tests {
    use super::{network, prefix};

    #[test]
    fn whole_key_is_reduced_to_its_prefix() {
        for text in ["ABCdef123456", "key_ABCdef123456", "key_ABCdef123456_secret"] {
            assert_eq!(prefix(text).map(|prefix| prefix.to_string()), Ok("ABCdef123456".to_owned()), "{text}");
        }
        assert!(prefix("short").is_err());
    }

    #[test]
    fn single_address_is_parsed_as_network() {
        assert_eq!(network("203.0.113.7").map(|network| network.to_string()), Ok("203.0.113.7/32".to_owned()));
        assert!(network("shop").is_err());
    }
}
