//! The table of all configuration keys: values, defaults and meanings.

/// The segment of a key for a name that the operator chooses.
pub const NAME: &str = "NAME";
/// The suffix of a key whose value is a file with the secret.
pub const FILE_SUFFIX: &str = "_file";

/// A key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The path in the file, with `.` between levels. [`NAME`] stands for a name that the operator chooses.
    pub name: &'static str,
    /// The possible values, for people.
    pub takes: &'static str,
    /// The default value, for people; empty without a default.
    pub default: &'static str,
    /// `true` for a secret, which is masked in all output and may be set as a file.
    pub secret: bool,
    /// The meaning.
    pub what: &'static str,
}

const fn key(name: &'static str, takes: &'static str, default: &'static str, what: &'static str) -> Key {
    Key { name, takes, default, secret: false, what }
}

const fn secret(name: &'static str, takes: &'static str, default: &'static str, what: &'static str) -> Key {
    Key { name, takes, default, secret: true, what }
}

/// All keys, in the order of the page.
pub const KEYS: &[Key] = &[
    key(
        "listen",
        "address and port",
        "127.0.0.1:8080",
        "The address of the API. With port 0 the system assigns a free port, which is in `addresses.json` in the data directory. With port 0 and without `public_url`, the callback address at acquirers changes at each start: choose a port for production.",
    ),
    key(
        "admin_listen",
        "address and port",
        "127.0.0.1:9180",
        "The address of `/metrics`, apart from the API. With port 0 the system assigns a free port. If the default port is in use, a free port replaces it, but only with the sandbox or with `listen` at port 0. `addresses.json` has the port.",
    ),
    key(
        "public_url",
        "http or https URL",
        "`http://` and the address of `listen`",
        "The base of the callback addresses that acquirers call.",
    ),
    key("data_dir", "directory", "./data", "The directory of the service's files. Created if absent."),
    secret(
        "database_url",
        "`sqlite:PATH` or `postgres://…`",
        "`sqlite:` the file `cais.db` in `data_dir`",
        "The database. The scheme selects the engine.",
    ),
    key(
        "migrate_on_start",
        "true or false",
        "false",
        "PostgreSQL: `true` lets `cais serve` apply migrations at its start. With SQLite migrations are always applied.",
    ),
    key(
        "commit_lanes",
        "1 to 16",
        "SQLite: 1, PostgreSQL: 2",
        "PostgreSQL: the number of commit lanes. Each lane commits the changes of its accounts over its own connection. SQLite has one lane.",
    ),
    key("commit_batch", "1 to 256", "256", "The largest number of changes in one transaction."),
    key("read_connections", "1 to 64", "SQLite: 4, PostgreSQL: 8", "Database connections that read."),
    secret(
        "master_key",
        "32 bytes in hex or base64",
        "SQLite: generated at the first start, in `data_dir/master.key`",
        "The key for hashes of API keys, for callback addresses, and for the encryption of webhook secrets. The database has a check value of the key, and a start with another key is refused. Without the key no API key is valid and no webhook is sent. Required with PostgreSQL, because every node needs the same key.",
    ),
    key("rate_limit_per_minute", "1 to 1000000", "600", "Requests per minute that one API key may make."),
    secret(
        "redis_url",
        "`redis://…`, or `rediss://…` for TLS",
        "",
        "A Redis server in which all nodes count requests together. Without Redis, and while Redis cannot be reached, each node counts for itself.",
    ),
    key(
        "max_connections_per_address",
        "1 to 1000000",
        "256",
        "Connections to the API that one address may have at a time. An IPv6 network of 64 bits counts as one address. Trusted proxies have no such limit.",
    ),
    key(
        "trusted_proxies",
        "CIDR blocks, separated by commas",
        "none",
        "Proxies whose `X-Forwarded-For` counts. The client's address is the right-most hop that is not in this list. Address lists of API keys, limits per address and log lines use the client's address.",
    ),
    key("workers", "1 to 64", "2", "Threads that serve the API."),
    key(
        "drain_delay_s",
        "0 to 60",
        "5 with PostgreSQL and an acquirer, else 0",
        "Seconds between `/readyz` turning 503 and the listener's end, so that a load balancer sees the change.",
    ),
    key("log", "filter such as `info` or `warn,cais=debug`", "info", "The filter of the log on standard error."),
    key(
        "log_format",
        "auto, text or json",
        "auto",
        "The format of the log. `auto` is text on a terminal and JSON elsewhere.",
    ),
    key(
        "webhooks.allow_insecure",
        "true or false",
        "false",
        "For development: permits webhook receivers over plain http. Checked at registration and at every attempt.",
    ),
    key(
        "webhooks.allow_addresses",
        "CIDR blocks, separated by commas",
        "none",
        "For development: permits webhook receivers at these addresses, although they are not public. Checked at registration and at every attempt.",
    ),
    key(
        "sandbox",
        "true or false",
        "false",
        "`true` uses the built-in sandbox instead of an acquirer, for development, as `cais serve --sandbox` does. Its money is play money: a start with acquirers on a database of the sandbox is refused, and the reverse too.",
    ),
    key(
        "acquirers.NAME.kind",
        "bacen or efi",
        "",
        "The interface of the acquirer. `bacen` is the Central Bank's API Pix: charges and refunds. `efi` adds Efí's payouts and infractions. NAME is 1 to 32 characters of a-z, 0-9 and -. Without any acquirer `cais serve` starts only with the built-in sandbox (`sandbox`).",
    ),
    key(
        "acquirers.NAME.base_url",
        "https URL (http on loopback)",
        "",
        "The base address of the acquirer's API, without `/v2`.",
    ),
    key(
        "acquirers.NAME.token_url",
        "https URL (http on loopback)",
        "`/oauth/token` under `base_url`",
        "The address that issues access tokens.",
    ),
    key("acquirers.NAME.client_id", "text", "", "The OAuth2 client."),
    secret("acquirers.NAME.client_secret", "text", "", "The OAuth2 client's secret."),
    key(
        "acquirers.NAME.certificate_file",
        "file",
        "",
        "PEM or PKCS#12 file with the client certificate and its private key, if the acquirer requires mutual TLS.",
    ),
    secret("acquirers.NAME.certificate_passphrase", "text", "", "The passphrase of the PKCS#12 file."),
    key(
        "acquirers.NAME.ca_file",
        "file",
        "",
        "PEM file with root certificates for the acquirer, in addition to the system's.",
    ),
    key("acquirers.NAME.pix_key", "text", "", "The Pix key that receives charges and sends payouts."),
    key(
        "acquirers.NAME.callback_generation",
        "0 to 1000000",
        "0",
        "Raise the number by one to register a new secret callback address, for example after a leak. The previous address stays valid until the next raise. Raise the number a second time after the acquirer has accepted the new address.",
    ),
];

/// Returns the key of `path`, and `true` if `path` names a file with its value.
#[must_use]
pub fn find(path: &str) -> Option<(&'static Key, bool)> {
    let exact = |wanted: &str| KEYS.iter().find(|key| matches(key.name, wanted));
    exact(path).map(|key| (key, false)).or_else(|| {
        let secret = exact(path.strip_suffix(FILE_SUFFIX)?)?;
        secret.secret.then_some((secret, true))
    })
}

fn matches(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('.'), path.split('.'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == NAME || wanted == found => {}
            _ => return false,
        }
    }
}

/// Returns the environment variable of a key.
#[must_use]
pub fn variable(path: &str) -> String {
    format!("{}{}", super::source::PREFIX, path.to_ascii_uppercase().replace('.', super::source::SEPARATOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_their_keys() {
        for (path, expected) in [
            ("listen", Some(("listen", false))),
            ("master_key_file", Some(("master_key", true))),
            ("acquirers.main.client_secret_file", Some(("acquirers.NAME.client_secret", true))),
            ("acquirers.main.certificate_file", Some(("acquirers.NAME.certificate_file", false))),
            ("listen_file", None),
            ("acquirers.main", None),
            ("acquirers.main.kind.x", None),
        ] {
            assert_eq!(find(path).map(|(key, file)| (key.name, file)), expected, "{path}");
        }
        assert_eq!(variable("acquirers.main.pix_key"), "CAIS_ACQUIRERS__MAIN__PIX_KEY");
    }
}
