//! The JSON form of charges in Woovi's answers and webhooks.

use cais_domain::money::Money;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::tax_id;
use crate::{
    pix::views::{copy_and_paste, location},
    psp::Psp,
    state::{
        Books,
        cob::{Cob, CobStatus},
    },
    wire::instant,
    woovi::{PATH, ids, state::charge::Customer},
};

/// The type in a charge's `globalID`, which is the base64 form of `Charge:` and the txid.
pub const KIND: &str = "Charge";

/// Returns the status of a charge; `None` for a removed charge, which cannot be read or listed.
#[must_use]
pub fn status(cob: &Cob, now: Timestamp) -> Option<&'static str> {
    match cob.terms.status {
        CobStatus::Active if cob.expires_at() <= now => Some("EXPIRED"),
        CobStatus::Active => Some("ACTIVE"),
        CobStatus::Concluded => Some("COMPLETED"),
        CobStatus::RemovedByReceiver | CobStatus::RemovedByPsp => None,
    }
}

/// Returns the `correlationID` of a charge. For a charge that was created through the API Pix, this is the txid.
#[must_use]
pub fn correlation_id<'a>(books: &'a Books, cob: &'a Cob) -> &'a str {
    books.woovi().find_charge_fields(&cob.txid).map_or(&*cob.txid, |fields| &*fields.correlation_id)
}

/// Returns a charge. A removed charge, which only webhooks and the views of its Pix show, has the status `EXPIRED`.
#[must_use]
pub fn charge(psp: &Psp, books: &Books, cob: &Cob) -> Value {
    let terms = &cob.terms;
    let status = status(cob, psp.clock.now()).unwrap_or("EXPIRED");
    let value = cob.amount_due().map_or(0, Money::centavos);
    let location = location(psp, cob.location);
    let code = copy_and_paste(psp, &location);
    let link = format!("{:032x}", cob.location.0);
    let image = format!("http://{}{PATH}openpix/charge/brcode/image/{link}.png", psp.host);
    let info: Vec<Value> = terms.info.iter().map(|item| json!({ "key": item.nome, "value": item.valor })).collect();
    let paid_at = books.payments_of(cob).next().map(|payment| payment.paid_at);
    let changed_at = paid_at.unwrap_or(cob.created_at);
    let pix = json!({
        "method": "PIX_COB",
        "transactionID": cob.txid,
        "identifier": cob.txid,
        "txId": cob.txid,
        "additionalInfo": info,
        "fee": 0,
        "value": value,
        "status": status,
        "brCode": code,
        "qrCodeImage": image,
    });
    let mut view = json!({
        "value": value,
        "comment": terms.payer_request.as_deref().unwrap_or_default(),
        "identifier": cob.txid,
        "transactionID": cob.txid,
        "status": status,
        "additionalInfo": info,
        "fee": 0,
        "discount": 0,
        "valueWithDiscount": value,
        "type": "DYNAMIC",
        "correlationID": correlation_id(books, cob),
        "paymentLinkID": link,
        "paymentLinkUrl": format!("http://{}{PATH}pay/{link}", psp.host),
        "createdAt": instant(cob.created_at),
        "updatedAt": instant(changed_at),
        "ensureSameTaxID": false,
        "brCode": code,
        "expiresIn": terms.expires_in_s,
        "expiresDate": instant(cob.expires_at()),
        "pixKey": psp.identity.pix_key,
        "qrCodeImage": image,
        "globalID": ids::global(KIND, &cob.txid),
        "paymentMethods": { "pix": pix },
    });
    if let Some(fields) = view.as_object_mut() {
        if let Some(at) = paid_at.filter(|_| terms.status == CobStatus::Concluded) {
            fields.insert("paidAt".to_owned(), instant(at).into());
        }
        if let Some(customer) = customer(books, cob) {
            fields.insert("customer".to_owned(), customer);
        }
    }
    view
}

/// Returns the customer of a charge. For a charge of the API Pix, returns the debtor, if any.
#[must_use]
pub fn customer(books: &Books, cob: &Cob) -> Option<Value> {
    let fields = books.woovi().find_charge_fields(&cob.txid);
    let given = fields.and_then(|fields| fields.customer.as_ref()).map(of_customer);
    let of_debtor = || {
        let debtor = cob.terms.debtor.as_deref()?;
        let document = debtor.cpf.as_deref().or(debtor.cnpj.as_deref())?;
        Some(json!({ "name": debtor.nome, "taxID": tax_id(document) }))
    };
    given.or_else(of_debtor)
}

fn of_customer(customer: &Customer) -> Value {
    let fields = [
        ("name", Some(Value::from(&*customer.name))),
        ("email", customer.email.as_deref().map(Value::from)),
        ("phone", customer.phone.as_deref().map(Value::from)),
        ("taxID", customer.tax_id.as_deref().map(tax_id)),
        ("correlationID", customer.correlation_id.as_deref().map(Value::from)),
    ];
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>())
}
