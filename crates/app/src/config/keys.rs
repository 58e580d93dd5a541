//! Every key of the configuration, once: what may be set, what it means, what it is when nobody sets it.

/// The segment of a key that stands for a name the operator chooses.
pub const NAME: &str = "NAME";
/// What a secret's key ends with when it names a file that holds the secret.
pub const FILE_SUFFIX: &str = "_file";

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its path in the file, `.` between levels; [`NAME`] stands for a name of the operator's.
    pub name: &'static str,
    /// What values it takes, for people.
    pub takes: &'static str,
    /// What it is when nobody sets it, for people; empty when there is nothing.
    pub default: &'static str,
    /// Whether it is masked wherever it is shown, and may be given as a file.
    pub secret: bool,
    /// What it is for.
    pub what: &'static str,
}

const fn key(name: &'static str, takes: &'static str, default: &'static str, what: &'static str) -> Key {
    Key { name, takes, default, secret: false, what }
}

const fn secret(name: &'static str, takes: &'static str, default: &'static str, what: &'static str) -> Key {
    Key { name, takes, default, secret: true, what }
}

/// All of them, in the order in which they are shown.
pub const KEYS: &[Key] = &[
    key(
        "listen",
        "address and port",
        "127.0.0.1:8080",
        "Where the API is served. Port 0 takes a free one; the real one is in `addresses.json` in the data directory. With port 0 and no `public_url` the callback address that acquirers are given changes at each start: for production choose a port.",
    ),
    key(
        "admin_listen",
        "address and port",
        "127.0.0.1:9180",
        "Where `/metrics` is served, apart from the API. Port 0 takes a free one. The default gives way to a free port when it is taken only with the sandbox, or with `listen` at port 0; `addresses.json` has the real one.",
    ),
    key(
        "public_url",
        "http or https URL",
        "`http://` and the address of `listen`",
        "How acquirers reach this service: the base of the callback addresses that they are given.",
    ),
    key(
        "data_dir",
        "directory",
        "./data",
        "Where the service keeps what it keeps in files. Made when it does not exist.",
    ),
    secret(
        "database_url",
        "`sqlite:PATH` or `postgres://…`",
        "`sqlite:` the file `cais.db` in `data_dir`",
        "The database. Its scheme picks the engine.",
    ),
    key(
        "migrate_on_start",
        "true or false",
        "false",
        "PostgreSQL: whether `cais serve` brings the schema up to date by itself. SQLite always does.",
    ),
    key(
        "commit_lanes",
        "1 to 16",
        "SQLite: 1, PostgreSQL: 2",
        "PostgreSQL: groups of accounts whose changes are committed beside each other, one connection each. SQLite has one.",
    ),
    key("commit_batch", "1 to 256", "256", "How many changes are committed together at most."),
    key("read_connections", "1 to 64", "SQLite: 4, PostgreSQL: 8", "Database connections that read."),
    secret(
        "master_key",
        "32 bytes in hex or base64",
        "SQLite: made at the first start and kept in `data_dir/master.key`",
        "Codes the secrets of API keys and the callback addresses, and encrypts those that sign webhooks. The database keeps a check value of it, and a start with another key is refused. Without it no API key is valid and no webhook is sent. PostgreSQL demands it, because every node needs the same.",
    ),
    key("rate_limit_per_minute", "1 to 1000000", "600", "Requests per minute that one API key may make."),
    secret(
        "redis_url",
        "`redis://…`, or `rediss://…` for TLS",
        "",
        "A Redis server in which all nodes count requests together. Without it, and while it cannot be reached, each node counts for itself.",
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
        "Seconds between `/readyz` turning 503 and the listener's end, so that a load balancer notices.",
    ),
    key("log", "filter such as `info` or `warn,cais=debug`", "info", "What is logged, to standard error."),
    key(
        "log_format",
        "auto, text or json",
        "auto",
        "How it is logged. `auto` is text on a terminal and JSON elsewhere.",
    ),
    key(
        "webhooks.allow_insecure",
        "true or false",
        "false",
        "For development: receivers of webhooks may be called over plain http. Judged when one is registered, and at every attempt.",
    ),
    key(
        "webhooks.allow_addresses",
        "CIDR blocks, separated by commas",
        "none",
        "For development: addresses that receivers of webhooks may have although they are not public. Judged as above.",
    ),
    key(
        "sandbox",
        "true or false",
        "false",
        "`true` makes the built-in sandbox the upstream, for development, as `cais serve --sandbox` does. The money of the sandbox is play money: a database that began with it is refused with acquirers, and the other way round.",
    ),
    key(
        "acquirers.NAME.kind",
        "bacen or efi",
        "",
        "Which interface the acquirer speaks: `bacen` is the Central Bank's API Pix, which receives and returns; `efi` is the same with Efí's cash-out, without which nothing can be paid out. NAME is 1 to 32 characters of a-z, 0-9 and -. Without any acquirer `cais serve` starts only with the built-in sandbox (`sandbox`).",
    ),
    key("acquirers.NAME.base_url", "https URL (http on loopback)", "", "The base of its API, without `/v2`."),
    key(
        "acquirers.NAME.token_url",
        "https URL (http on loopback)",
        "`/oauth/token` under `base_url`",
        "Where access tokens are issued.",
    ),
    key("acquirers.NAME.client_id", "text", "", "The OAuth2 client."),
    secret("acquirers.NAME.client_secret", "text", "", "The OAuth2 client's secret."),
    key(
        "acquirers.NAME.certificate_file",
        "file",
        "",
        "PEM or PKCS#12 file with the client certificate and its private key, where the acquirer demands mutual TLS.",
    ),
    secret("acquirers.NAME.certificate_passphrase", "text", "", "Opens a PKCS#12 file."),
    key(
        "acquirers.NAME.ca_file",
        "file",
        "",
        "PEM file with certificates by which the acquirer is trusted besides the system's.",
    ),
    key("acquirers.NAME.pix_key", "text", "", "The Pix key that charges are paid to, and that payouts are sent from."),
    key(
        "acquirers.NAME.callback_generation",
        "0 to 1000000",
        "0",
        "Raise it by one to give the acquirer another secret callback address, for example because the old one leaked. The address before stays valid until it is raised again: raise it a second time once the acquirer has taken the new one.",
    ),
];

/// The key that `path` sets, and whether it does so by naming a file.
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

/// The environment variable that sets a key.
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
