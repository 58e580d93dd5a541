//! Crypto through the API, with the built-in sandbox and with `cais sandbox` as processor.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod deposits;
mod failing_parts;
mod quotes;
mod reviews;
mod sandbox;
mod withdrawals;

use bigdecimal::BigDecimal;
use serde_json::Value;

use crate::support::{Node, Shop};

/// An address for withdrawals of btc.
const ADDRESS: &str = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

fn decimal(value: &Value) -> BigDecimal {
    value.as_str().unwrap().parse().unwrap()
}

/// Returns a merchant with both crypto features.
fn crypto_shop(node: &Node) -> Shop {
    let shop = node.shop();
    node.cli(&["account", "features", "--account", &shop.email, "--enable", "crypto_in,crypto_out"]);
    shop
}
