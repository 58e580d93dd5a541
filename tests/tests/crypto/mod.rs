//! Crypto through the API, with the built-in sandbox and with `cais sandbox` as processor.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod quotes;

use crate::support::{Node, Shop};

/// Returns a merchant with both crypto features.
fn crypto_shop(node: &Node) -> Shop {
    let shop = node.shop();
    node.cli(&["account", "features", "--account", &shop.email, "--enable", "crypto_in,crypto_out"]);
    shop
}
