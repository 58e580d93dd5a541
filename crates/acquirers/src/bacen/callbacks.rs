//! Reads callbacks. A callback is a hint for a look-up, never a proof of payment.

use std::collections::HashSet;

use crate::http::instant;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, CallbackItem, CallbackPix, alerts};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The largest accepted callback, in bytes. The service's HTTP endpoint for callbacks has the same limit, so that every
/// callback that the endpoint accepts can be read here.
const MAX_BYTES: usize = 1024 * 1024;
/// The largest number of items in a callback. More Pix with all required fields do not fit into [`MAX_BYTES`].
const MAX_ITEMS: usize = 10_000;

#[derive(Deserialize)]
struct CallbackBody<'a> {
    #[serde(borrow)]
    pix: Option<Vec<&'a RawValue>>,
    /// The infractions. Efí documents no such callback; only the `sandbox` crate's simulator of Efí sends it. Errors in this field must not
    /// affect other items.
    infracoes: Option<&'a RawValue>,
}

/// An item of a callback.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Item<'a> {
    /// An item of `pix`.
    Pix(&'a RawValue),
    /// An item of `infracoes`.
    Infraction(&'a RawValue),
}

#[derive(Deserialize)]
struct Pix {
    txid: Option<String>,
    #[serde(rename = "endToEndId")]
    end_to_end_id: Option<String>,
    /// Parsed leniently, because the instant is only a hint.
    horario: Option<serde_json::Value>,
}

/// An item that cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable;

/// Returns the resources that the items of `{"pix": […]}` and `{"infracoes": […]}` name, in order and without repeats.
/// `item` parses one item, and returns `None` for an item that names no resource of ours.
///
/// # Errors
/// [`AcquirerError::Refused`] if the callback is too large, is not the JSON of the API Pix, or has only unreadable items.
pub(crate) fn read(
    body: &[u8],
    item: impl Fn(Item<'_>) -> Result<Option<CallbackItem>, Unreadable>,
) -> Result<Vec<CallbackItem>, AcquirerError> {
    let refused = |reason: &str| AcquirerError::Refused(format!("the callback {reason}"));
    if body.len() > MAX_BYTES {
        return Err(refused("is too large"));
    }
    let callback: CallbackBody<'_> =
        serde_json::from_slice(body).map_err(|_| refused("is not the JSON of the API Pix"))?;
    let pix = callback.pix.unwrap_or_default();
    let infractions = callback.infracoes.map(|value| serde_json::from_str(value.get()).unwrap_or_else(|_| vec![value]));
    let infractions: Vec<&RawValue> = infractions.unwrap_or_default();
    let items: Vec<_> = pix.into_iter().map(Item::Pix).chain(infractions.into_iter().map(Item::Infraction)).collect();
    if items.len() > MAX_ITEMS {
        return Err(refused("has too many items"));
    }
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut unreadable = 0_usize;
    for value in items {
        match item(value) {
            Ok(Some(item)) if seen.insert(item.clone()) => found.push(item),
            Ok(Some(_) | None) => {}
            Err(Unreadable) => unreadable = unreadable.saturating_add(1),
        }
    }
    match unreadable {
        0 => Ok(found),
        some if found.is_empty() => Err(refused(&format!("has {some} items that cannot be read"))),
        // Unreadable items must not delay the readable ones.
        some => {
            tracing::error!(
                alert = alerts::CALLBACK_UNREADABLE,
                unreadable = some,
                "callback has items that cannot be read; the other items are processed"
            );
            Ok(found)
        }
    }
}

/// Parses an item of an institution that follows the standard. The standard has only received Pix, so an infraction gives `None`.
pub(crate) fn standard(item: Item<'_>) -> Result<Option<CallbackItem>, Unreadable> {
    match item {
        Item::Pix(pix) => received(pix),
        Item::Infraction(_) => Ok(None),
    }
}

/// Parses a received Pix. A Pix without a txid, or with a txid that cannot be ours (such as that of a static code), gives `None`.
pub(crate) fn received(pix: &RawValue) -> Result<Option<CallbackItem>, Unreadable> {
    let pix: Pix = serde_json::from_str(pix.get()).map_err(|_| Unreadable)?;
    let Some(txid) = pix.txid.and_then(|text| Txid::parse(&text).ok()) else { return Ok(None) };
    let end_to_end_id = pix.end_to_end_id.and_then(|text| EndToEndId::parse(&text).ok());
    let paid_at = pix.horario.as_ref().and_then(|time| time.as_str()).and_then(instant);
    Ok(Some(CallbackItem::Received(CallbackPix { txid, end_to_end_id, paid_at })))
}

#[cfg(test)]
mod tests {
    use cais_ports::{AcquirerError, CallbackItem, CallbackPix};

    use super::{read, standard};

    const A: &str = "7978c0c97ea847e78e8849634473c1f1";
    const B: &str = "8978c0c97ea847e78e8849634473c1f1";

    fn pix(body: &[u8]) -> Result<Vec<CallbackPix>, AcquirerError> {
        let pix = |item| match item {
            CallbackItem::Received(pix) => Some(pix),
            CallbackItem::Sent(_)
            | CallbackItem::PayoutReturn(_)
            | CallbackItem::Infraction(_)
            | CallbackItem::CryptoPayment(_) => None,
        };
        Ok(read(body, standard)?.into_iter().filter_map(pix).collect())
    }

    fn found(body: &str) -> Option<Vec<String>> {
        let found = pix(body.as_bytes()).ok()?;
        Some(found.iter().map(|pix| pix.txid.to_string()).collect())
    }

    #[test]
    fn callback_names_each_charge_once() {
        let both = format!(r#"{{"pix":[{{"txid":"{A}","valor":"1.00"}},{{"txid":"{B}"}},{{"txid":"{A}"}}]}}"#);
        let beside = format!(r#"{{"pix":[{{"txid":"{A}"}},1,{{"txid":1}},{{"txid":"{B}"}}]}}"#);
        for (body, wanted) in [
            (both.as_str(), Some(vec![A, B])),
            (r#"{"pix":[{"endToEndId":"E1"},{"txid":null},{"txid":"SHORT"}]}"#, Some(vec![])),
            (r#"{"pix":[]}"#, Some(vec![])),
            (r#"{"evento":"teste_webhook"}"#, Some(vec![])),
            (r#"{"infracoes":[{"idInfracao":"1"}]}"#, Some(vec![])),
            (r#"{"infracoes":7,"pix":[]}"#, Some(vec![])),
            (r#"{"pix":{}}"#, None),
            (r#"{"pix":[1]}"#, None),
            (r#"{"pix":[{"txid":1}]}"#, None),
            (beside.as_str(), Some(vec![A, B])),
            ("", None),
            ("<html>", None),
            ("[]", None),
        ] {
            let wanted = wanted.map(|ids| ids.into_iter().map(str::to_owned).collect());
            assert_eq!(found(body), wanted, "{body}");
        }
    }

    #[test]
    fn two_pix_of_one_charge_give_two_items() {
        let item = |tail: u8| format!(r#"{{"txid":"{A}","endToEndId":"E12345678202601020304000000000{tail:02}"}}"#);
        let body = format!(r#"{{"pix":[{},{},{},{{"txid":"{A}","endToEndId":"?"}}]}}"#, item(1), item(2), item(1));
        let found = pix(body.as_bytes()).unwrap_or_default();
        let ids = found.iter().map(|pix| pix.end_to_end_id.as_ref().map(|id| id.as_str().ends_with("01")));
        assert_eq!(ids.collect::<Vec<_>>(), [Some(true), Some(false), None]);
    }

    #[test]
    fn callbacks_are_bounded() {
        let items = |count: usize| format!(r#"{{"pix":[{}]}}"#, vec!["{}"; count].join(","));
        assert_eq!(found(&items(10_000)), Some(vec![]));
        assert_eq!(found(&items(10_001)), None);
        let padded = |blanks: usize| format!("{{\"pix\":[]}}{}", " ".repeat(blanks));
        assert_eq!(found(&padded(1024 * 1024 - 10)), Some(vec![]));
        assert_eq!(found(&padded(1024 * 1024 - 9)), None);
    }
}
