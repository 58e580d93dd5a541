//! Resources as short JSON objects, for tests of the stored content rather than its format.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::crypto::deposit::Deposit;
use cais_domain::crypto::withdrawal::Withdrawal;
use cais_domain::event::EventType;
use cais_domain::ids::{EndpointId, EventId, RequestId};
use cais_domain::infraction::Infraction;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_domain::payment::UnexpectedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_ports::{ApiKeyRecord, CsvDialect, ResourceRenderer, SplitCredit, StatementEntry, StoredEvent, Transaction};
use jiff::Timestamp;
use serde_json::{Value, json};

/// A renderer of short JSON objects. A charge, payout, refund, infraction, deposit or withdrawal is `{"id", "external_id", "status",
/// "amount"}`, with the amount as text. Refunds and infractions also have their `"charge_id"`.
#[derive(Debug, Default, Clone, Copy)]
pub struct TextRepresentation;

impl ResourceRenderer for TextRepresentation {
    fn charge(&self, charge: &Charge) -> Vec<u8> {
        let external_id = charge.terms.external_id.as_ref().map(ToString::to_string);
        json!({
            "id": charge.id.to_string(),
            "external_id": external_id,
            "status": charge.state.status().as_str(),
            "amount": charge.terms.amount.to_string(),
        })
        .to_string()
        .into_bytes()
    }

    fn unexpected_payment(&self, payment: &UnexpectedPayment) -> Vec<u8> {
        json!({
            "charge_id": payment.charge.to_string(),
            "end_to_end_id": payment.end_to_end_id.as_str(),
            "reason": payment.reason.as_str(),
            "amount": payment.amount.to_string(),
        })
        .to_string()
        .into_bytes()
    }

    fn split_credit(&self, credit: &SplitCredit) -> Vec<u8> {
        json!({ "id": format!("txn_in_{}", credit.id.suffix()), "amount": credit.amount.to_string() })
            .to_string()
            .into_bytes()
    }

    fn transactions_csv(&self, rows: &[Transaction], dialect: CsvDialect, is_first: bool) -> Result<Vec<u8>, String> {
        let names = if is_first { format!("{dialect:?}\r\n") } else { String::new() };
        let lines = rows.iter().map(|row| format!("{}\r\n", row.key()));
        Ok([names].into_iter().chain(lines).collect::<String>().into_bytes())
    }

    fn entries_csv(&self, rows: Vec<StatementEntry>, dialect: CsvDialect, is_first: bool) -> Vec<u8> {
        let names = if is_first { format!("{dialect:?}\r\n") } else { String::new() };
        let lines = rows.iter().map(|row| format!("{}\r\n", row.id));
        [names].into_iter().chain(lines).collect::<String>().into_bytes()
    }

    fn payout(&self, payout: &Payout) -> Vec<u8> {
        let external_id = payout.terms.external_id.as_ref().map(ToString::to_string);
        json!({
            "id": payout.id.to_string(),
            "external_id": external_id,
            "status": payout.state.status().as_str(),
            "amount": payout.terms.amount.to_string(),
        })
        .to_string()
        .into_bytes()
    }

    fn refund(&self, refund: &Refund) -> Vec<u8> {
        let external_id = refund.external_id.as_ref().map(ToString::to_string);
        json!({
            "id": refund.id.to_string(),
            "charge_id": refund.charge.to_string(),
            "external_id": external_id,
            "status": refund.state.status().as_str(),
            "amount": refund.amount.to_string(),
        })
        .to_string()
        .into_bytes()
    }

    fn infraction(&self, infraction: &Infraction) -> Vec<u8> {
        let external_id = infraction.external_id.as_ref().map(ToString::to_string);
        json!({
            "id": infraction.id.to_string(),
            "charge_id": infraction.charge.to_string(),
            "external_id": external_id,
            "status": infraction.state.status().as_str(),
            "amount": infraction.amount.to_string(),
        })
        .to_string()
        .into_bytes()
    }

    fn crypto_deposit(&self, deposit: &Deposit) -> Vec<u8> {
        let external_id = deposit.terms.external_id.as_ref().map(ToString::to_string);
        json!({
            "id": deposit.id.to_string(),
            "external_id": external_id,
            "status": deposit.state.status().as_str(),
            "amount": deposit.terms.amount.to_string(),
        })
        .to_string()
        .into_bytes()
    }

    fn crypto_withdrawal(&self, withdrawal: &Withdrawal) -> Vec<u8> {
        let external_id = withdrawal.terms.external_id.as_ref().map(ToString::to_string);
        json!({
            "id": withdrawal.id.to_string(),
            "external_id": external_id,
            "status": withdrawal.state.status().as_str(),
            "amount": withdrawal.terms.amount.to_string(),
        })
        .to_string()
        .into_bytes()
    }

    fn endpoint(&self, endpoint: &Endpoint) -> Vec<u8> {
        json!({
            "id": endpoint.id.to_string(),
            "url": endpoint.url.as_str(),
            "active": endpoint.is_active(),
        })
        .to_string()
        .into_bytes()
    }

    fn event(&self, event: &StoredEvent) -> Vec<u8> {
        let data: Value = serde_json::from_slice(&event.data).unwrap_or_default();
        envelope(event.id, event.kind, event.created_at, Some(event.sequence), &data)
    }

    fn endpoint_test(&self, id: EventId, endpoint: EndpointId, at: Timestamp) -> Vec<u8> {
        envelope(id, EventType::WebhookTest, at, None, &json!({ "endpoint_id": endpoint.to_string() }))
    }

    fn account(&self, account: &Account) -> Vec<u8> {
        json!({
            "id": account.id.to_string(),
            "status": account.status.as_str(),
            "kyc": account.kyc.as_str(),
            "features": account.features.to_string(),
            "release_delay_s": account.release_delay_s,
            "crypto_spread": account.crypto_spread.as_ref().map(ToString::to_string),
            "acquirers": account.acquirers.iter().map(AcquirerName::as_str).collect::<Vec<_>>(),
        })
        .to_string()
        .into_bytes()
    }

    fn key(&self, key: &ApiKeyRecord) -> Vec<u8> {
        json!({ "prefix": key.prefix.as_str(), "revoked": key.revoked_at.is_some() }).to_string().into_bytes()
    }

    fn insufficient_balance(&self, request: RequestId, needed: Money, available: Money) -> Vec<u8> {
        let (needed, available) = (needed.to_string(), available.to_string());
        let error = json!({ "code": "insufficient_balance", "request_id": request.to_string(), "needed": needed, "available": available });
        json!({ "error": error }).to_string().into_bytes()
    }
}

fn envelope(id: EventId, kind: EventType, at: Timestamp, sequence: Option<i64>, data: &Value) -> Vec<u8> {
    let (id, at) = (id.to_string(), at.to_string());
    json!({ "id": id, "type": kind.as_str(), "timestamp": at, "sequence": sequence, "data": data })
        .to_string()
        .into_bytes()
}
