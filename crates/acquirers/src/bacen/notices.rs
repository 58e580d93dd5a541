//! Reads callbacks: hints at the charges to look at, never a proof of payment.

use cais_domain::txid::Txid;
use cais_ports::AcquirerError;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::http::MAX_ANSWER_BYTES;

/// Most Pix of one callback.
const MAX_ITEMS: usize = 1_000;

#[derive(Deserialize)]
struct Callback<'a> {
    #[serde(borrow)]
    pix: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Item {
    txid: Option<String>,
}

/// The txids of `{"pix": […]}`, each once, in their order.
///
/// Items without one, or with one that no charge of ours can have (a static code's), are none of our charges.
pub(super) fn txids(body: &[u8]) -> Result<Vec<Txid>, AcquirerError> {
    let refused = |why: &str| AcquirerError::Refused(format!("the callback {why}"));
    if body.len() > MAX_ANSWER_BYTES {
        return Err(refused("is too large"));
    }
    let callback: Callback<'_> = serde_json::from_slice(body).map_err(|_| refused("is not the JSON of the API Pix"))?;
    let items = callback.pix.unwrap_or_default();
    if items.len() > MAX_ITEMS {
        return Err(refused("has over 1000 Pix"));
    }
    let mut txids = Vec::new();
    for item in items {
        let item: Item = serde_json::from_str(item.get()).map_err(|_| refused("has a Pix that cannot be read"))?;
        if let Some(txid) = item.txid.and_then(|text| Txid::parse(&text).ok())
            && !txids.contains(&txid)
        {
            txids.push(txid);
        }
    }
    Ok(txids)
}

#[cfg(test)]
mod tests {
    use super::txids;

    const A: &str = "7978c0c97ea847e78e8849634473c1f1";
    const B: &str = "8978c0c97ea847e78e8849634473c1f1";

    fn found(body: &str) -> Option<Vec<String>> {
        let txids = txids(body.as_bytes()).ok()?;
        Some(txids.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn callbacks_name_each_charge_once() {
        let both = format!(r#"{{"pix":[{{"txid":"{A}","valor":"1.00"}},{{"txid":"{B}"}},{{"txid":"{A}"}}]}}"#);
        for (body, wanted) in [
            (both.as_str(), Some(vec![A, B])),
            (r#"{"pix":[{"endToEndId":"E1"},{"txid":null},{"txid":"SHORT"}]}"#, Some(vec![])),
            (r#"{"pix":[]}"#, Some(vec![])),
            (r#"{"evento":"teste_webhook"}"#, Some(vec![])),
            (r#"{"pix":{}}"#, None),
            (r#"{"pix":[1]}"#, None),
            (r#"{"pix":[{"txid":1}]}"#, None),
            ("", None),
            ("<html>", None),
            ("[]", None),
        ] {
            let wanted = wanted.map(|ids| ids.into_iter().map(str::to_owned).collect());
            assert_eq!(found(body), wanted, "{body}");
        }
    }

    #[test]
    fn callbacks_are_bounded() {
        let items = |count: usize| format!(r#"{{"pix":[{}]}}"#, vec!["{}"; count].join(","));
        assert_eq!(found(&items(1_000)), Some(vec![]));
        assert_eq!(found(&items(1_001)), None);
        assert_eq!(found(&format!("{{\"pix\":[]}}{}", " ".repeat(256 * 1024))), None);
    }
}
