//! Tests that resources have exactly the fields of the contract, all required. Request bodies require the fields that the contract
//! requires.

use super::*;

const INFRACTION: &[&str] = &[
    "id",
    "external_id",
    "end_to_end_id",
    "reason",
    "reason_code",
    "amount",
    "status",
    "opened_at",
    "deadline_at",
    "resolved_at",
    "defense_submitted_at",
];
const ENDPOINT: &[&str] = &["id", "url", "events", "description", "active", "disabled_reason", "created_at"];
const EVENT: &[&str] = &["id", "type", "timestamp", "sequence", "api_version", "data"];
const QUOTE: &[&str] = &[
    "id",
    "side",
    "currency",
    "network",
    "amount",
    "fee",
    "net_amount",
    "gross_amount",
    "rate",
    "crypto_amount",
    "expires_at",
    "created_at",
];
const PAGE: &[&str] = &["data", "has_more", "next_starting_after"];

/// The fields of each resource: the fields that it shares with another resource, and further fields.
const RESOURCES: &[(&str, &[&str], &[&str])] = &[
    (
        "Charge",
        &[
            "id",
            "txid",
            "external_id",
            "amount",
            "status",
            "description",
            "pix",
            "end_to_end_id",
            "paid_at",
            "expires_at",
            "created_at",
        ],
        &[],
    ),
    (
        "Payout",
        &[
            "id",
            "external_id",
            "amount",
            "fee",
            "net_amount",
            "gross_amount",
            "status",
            "pix",
            "description",
            "end_to_end_id",
            "error_message",
            "created_at",
            "completed_at",
        ],
        &[],
    ),
    ("ChargePix", &["copy_paste", "qr_code_image"], &[]),
    ("PaymentPage", &["url"], &[]),
    ("PayoutPix", &["key", "recipient_name", "recipient_document"], &[]),
    (
        "Refund",
        &["id", "charge_id", "external_id", "amount", "status", "reason", "return_id", "created_at", "completed_at"],
        &[],
    ),
    ("Entry", Entry::NAMES, &[]),
    ("Transaction", TransactionRow::NAMES, &[]),
    ("Balance", &["available_balance", "pending_balance", "blocked_balance", "total_balance", "currency"], &[]),
    ("Infraction", INFRACTION, &[]),
    ("InfractionDetail", INFRACTION, &["defense_text", "defense_evidence_url"]),
    ("CryptoCurrencyList", &["data"], &[]),
    ("CryptoCurrency", &["currency", "network", "cash_in", "cash_out", "min_deposit", "min_withdrawal"], &[]),
    ("CryptoMinimum", &["commercial", "technical", "effective", "effective_brl"], &[]),
    ("CryptoQuote", QUOTE, &[]),
    ("CryptoQuoteDetail", QUOTE, &["inputs", "used_by"]),
    ("CryptoRateInputs", &["usdt_per_coin", "coin_priced_at", "brl_per_usd", "usd_priced_at", "spread"], &[]),
    (
        "CryptoDeposit",
        &[
            "id",
            "external_id",
            "currency",
            "network",
            "amount",
            "fee",
            "net_amount",
            "rate",
            "pay_amount",
            "pay_address",
            "pay_extra_id",
            "pay_uri",
            "received_amount",
            "resolution",
            "status",
            "tx_hash",
            "description",
            "expires_at",
            "confirmed_at",
            "completed_at",
            "created_at",
        ],
        &[],
    ),
    ("CryptoDepositPage", PAGE, &[]),
    ("CryptoDepositPaymentList", &["data"], &[]),
    (
        "CryptoDepositPayment",
        &[
            "currency",
            "received_amount",
            "credited_amount",
            "fee",
            "status",
            "resolution",
            "review_reason",
            "tx_hash",
            "received_at",
        ],
        &[],
    ),
    (
        "CryptoWithdrawal",
        &[
            "id",
            "external_id",
            "currency",
            "network",
            "address",
            "amount",
            "fee",
            "gross_amount",
            "rate",
            "crypto_amount",
            "network_fee",
            "status",
            "tx_hash",
            "description",
            "error_message",
            "created_at",
            "completed_at",
        ],
        &[],
    ),
    ("CryptoWithdrawalPage", PAGE, &[]),
    ("WebhookEndpoint", ENDPOINT, &[]),
    ("WebhookEndpointWithSecret", ENDPOINT, &["secret"]),
    ("Delivery", &["id", "event_id", "event_type", "status", "attempts", "next_attempt_at", "created_at"], &[]),
    ("DeliveryAttempt", &["at", "status_code", "duration_ms", "error", "response_body"], &[]),
    ("DeliveryList", &["data"], &[]),
    ("UnexpectedPayment", &["end_to_end_id", "amount", "reason", "charge_id", "received_at"], &[]),
    ("WebhookTestData", &["endpoint_id", "message"], &[]),
    ("ChargeEvent", EVENT, &[]),
    ("RefundEvent", EVENT, &[]),
    ("PayoutEvent", EVENT, &[]),
    ("InfractionEvent", EVENT, &[]),
    ("WebhookEndpointEvent", EVENT, &[]),
    ("TestEvent", EVENT, &[]),
    ("PaymentEvent", EVENT, &[]),
    ("SplitEvent", EVENT, &[]),
    ("CryptoDepositEvent", EVENT, &[]),
    ("CryptoWithdrawalEvent", EVENT, &[]),
    ("ChargePage", PAGE, &[]),
    ("PayoutPage", PAGE, &[]),
    ("RefundPage", PAGE, &[]),
    ("EntryPage", PAGE, &[]),
    ("TransactionPage", PAGE, &[]),
    ("InfractionPage", PAGE, &[]),
    ("WebhookEndpointPage", PAGE, &[]),
    ("DeliveryPage", PAGE, &[]),
    ("EventPage", PAGE, &[]),
    ("Issue", &["path", "message"], &[]),
    ("Faults", &["acquirer", "mode", "latency_ms"], &[]),
    ("Clock", &["offset_s"], &[]),
    (
        "SandboxCoin",
        &["currency", "price", "priced", "min_deposit", "min_withdrawal", "network_fee", "balance", "enabled"],
        &[],
    ),
    ("SandboxDollar", &["rate", "published_on"], &[]),
    ("SandboxNotifications", &["paused", "reversed", "copies", "signature"], &[]),
];

/// The required fields of bodies.
const REQUIRED: &[(&str, &[&str])] = &[
    ("NewCharge", &["amount"]),
    ("SplitItem", &["recipient_email", "percentage"]),
    ("NewPayout", &["amount", "pix_key"]),
    ("NewRefund", &[]),
    ("NewDefense", &["defense_text"]),
    ("NewCryptoDeposit", &["amount", "currency"]),
    ("SandboxCryptoPayment", &[]),
    ("NewCryptoWithdrawal", &["amount", "currency", "address"]),
    ("SandboxWithdrawalFailure", &["mode"]),
    ("NewCryptoQuote", &["side", "currency", "amount"]),
    ("NewWebhookEndpoint", &["url", "events"]),
    ("WebhookEndpointChange", &[]),
    ("SecretRotation", &[]),
    ("SandboxPayment", &[]),
    ("NewFaults", &["mode"]),
    ("SandboxCryptoMove", &["status"]),
    ("SandboxCoinChange", &["currency"]),
    ("SandboxDollarChange", &[]),
    ("SandboxNotificationsChange", &[]),
    ("SandboxDispute", &[]),
    ("SandboxResolution", &["outcome"]),
    ("Error", &["success", "request_id", "error"]),
    ("ErrorDetail", &["code", "message", "retryable"]),
];

fn set<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> BTreeSet<String> {
    names.into_iter().map(|name| (*name).to_owned()).collect()
}

fn required(document: &Value, schema: &str) -> BTreeSet<String> {
    let names = document.pointer(&format!("/components/schemas/{schema}/required"));
    let names = names.map(|names| names.as_array().unwrap().clone()).unwrap_or_default();
    names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn resources_are_described_with_the_fields_of_the_contract() {
    let document = parsed();
    for (schema, fields, more) in RESOURCES {
        let expected = set(fields.iter().chain(*more));
        let described = document.pointer(&format!("/components/schemas/{schema}/properties")).unwrap();
        let described: BTreeSet<String> = described.as_object().unwrap().keys().cloned().collect();
        assert_eq!((described, required(&document, schema)), (expected.clone(), expected), "{schema}");
    }
}

#[test]
fn schemas_with_fields_stand_in_one_table() {
    let document = parsed();
    let schemas = document.pointer("/components/schemas").unwrap().as_object().unwrap();
    let with_fields = schemas.iter().filter(|(_, schema)| schema.get("properties").is_some());
    let described: BTreeSet<&str> = with_fields.map(|(name, _)| name.as_str()).collect();
    let tables = RESOURCES.iter().map(|(name, ..)| *name).chain(REQUIRED.iter().map(|(name, _)| *name));
    assert_eq!(described, tables.collect(), "add the schema to RESOURCES, or a request body to REQUIRED");
}

#[test]
fn always_known_crypto_fields_are_not_nullable() {
    let document = parsed();
    for (schema, fields) in [
        ("CryptoDeposit", ["fee", "net_amount", "pay_address", "pay_uri", "expires_at"].as_slice()),
        ("CryptoQuote", &["fee", "net_amount", "gross_amount"]),
        ("CryptoQuoteDetail", &["fee", "net_amount", "gross_amount"]),
        ("CryptoWithdrawal", &["fee", "gross_amount"]),
    ] {
        for field in fields {
            let property = document.pointer(&format!("/components/schemas/{schema}/properties/{field}")).unwrap();
            let named = resolved(&document, property).get("type").and_then(Value::as_str);
            assert!(matches!(named, Some("string" | "number")), "{schema}.{field}: {property}");
        }
    }
}

#[test]
fn request_bodies_require_the_contract_fields() {
    let document = parsed();
    for (schema, names) in REQUIRED {
        assert!(document.pointer(&format!("/components/schemas/{schema}")).is_some(), "{schema}");
        assert_eq!(required(&document, schema), set(*names), "{schema}");
    }
}
