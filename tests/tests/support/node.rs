//! A running service on one of the databases, alone or shared by independent tests.

use std::ops::Deref;
use std::sync::{Arc, Weak};

use cais_testkit::server::Cais;
pub use cais_testkit::server::Engine;
use serde_json::Value;
use tokio::sync::Mutex;

use super::{Shop, unique};

/// The key of all nodes: two nodes on one database must agree, and PostgreSQL requires a key.
const MASTER_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Permits receivers on this machine, as in tests.
pub const OPEN: [(&str, &str); 2] =
    [("CAIS_WEBHOOKS__ALLOW_INSECURE", "true"), ("CAIS_WEBHOOKS__ALLOW_ADDRESSES", "127.0.0.0/8")];

/// A running service.
pub struct Node {
    pub cais: Cais,
}

/// Starts a service for one test, with more environment variables.
pub async fn own(engine: Engine, environment: &[(&str, &str)]) -> Node {
    let cais = Cais::start_with(engine, &with_master_key(environment)).await;
    Node { cais: cais.unwrap_or_else(|error| panic!("{error:#}")) }
}

/// Prepares a service without starting it.
pub fn unstarted(engine: Engine, environment: &[(&str, &str)]) -> Cais {
    Cais::prepare(engine, &with_master_key(environment)).unwrap()
}

/// A service shared by tests. The service ends after the last test and the last merchant that use it.
pub struct Shared(Arc<Node>);

impl Deref for Shared {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.0
    }
}

impl Shared {
    /// Returns an approved merchant with a key for everything, which keeps the service running.
    pub fn shop(&self) -> Shop {
        self.0.shop().keeping(Arc::clone(&self.0))
    }
}

/// Returns the shared service.
pub async fn shared(engine: Engine) -> Shared {
    static SQLITE: Mutex<Weak<Node>> = Mutex::const_new(Weak::new());
    static POSTGRES: Mutex<Weak<Node>> = Mutex::const_new(Weak::new());
    let slot = match engine {
        Engine::Sqlite => &SQLITE,
        Engine::Postgres => &POSTGRES,
    };
    let mut slot = slot.lock().await;
    if let Some(node) = slot.upgrade() {
        return Shared(node);
    }
    let node = Arc::new(own(engine, &OPEN).await);
    *slot = Arc::downgrade(&node);
    Shared(node)
}

fn with_master_key<'e>(environment: &[(&'e str, &'e str)]) -> Vec<(&'e str, &'e str)> {
    let own_key = environment.iter().any(|(name, _)| name.starts_with("CAIS_MASTER_KEY"));
    let key = (!own_key).then_some(("CAIS_MASTER_KEY", MASTER_KEY));
    environment.iter().copied().chain(key).collect()
}

impl Node {
    /// Returns an approved merchant with a key for everything.
    pub fn shop(&self) -> Shop {
        self.merchant(true)
    }

    /// Returns a merchant without approved KYC.
    pub fn unapproved_shop(&self) -> Shop {
        self.merchant(false)
    }

    fn merchant(&self, approved: bool) -> Shop {
        let email = format!("{}@shop.example", unique("shop"));
        let account =
            ["account", "create", "--email", &email, "--name", "Loja", "--document", "12345678909", "--approve"];
        let words = if approved { account.len() } else { account.len() - 1 };
        self.cli(&account[..words]);
        let key = self.key(&email, "all");
        Shop::new(self.base(), email, key)
    }

    /// Returns another key of the account.
    pub fn key(&self, email: &str, scopes: &str) -> String {
        let made = self.cli(&["key", "create", "--account", email, "--name", "test", "--scopes", scopes]);
        made["key"].as_str().unwrap().to_owned()
    }

    /// Returns the output of a successful command.
    #[track_caller]
    pub fn cli(&self, arguments: &[&str]) -> Value {
        self.cais.cli(arguments).unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Returns `http://127.0.0.1:PORT`, which changes with each launch.
    pub fn base(&self) -> String {
        self.cais.base_url()
    }

    /// Checks the ledger.
    #[track_caller]
    pub fn verify(&self) {
        let report = self.cli(&["ledger", "verify"]);
        assert_eq!(report["ok"], true, "{report}");
        assert_eq!(report["differences"], serde_json::json!([]), "{report}");
    }

    /// Returns the merchant after a restart, which takes another port.
    pub fn again(&self, shop: &Shop) -> Shop {
        shop.at(&self.base())
    }
}
