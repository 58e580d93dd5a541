//! Reads callbacks. One callback may contain received Pix, sent Pix and infractions.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::instruction_id::InstructionId;
use cais_ports::{AcquirerError, CallbackInfraction, CallbackItem, CallbackPayout};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::infraction;
use super::wire::SentReturn;
use crate::bacen::callbacks::{self, Item, Unreadable};
use crate::http::{part, text};

/// An item of `pix`: a received Pix, or a sent Pix with its returns. Only a sent Pix has an `idEnvio` in `gnExtras`.
#[derive(Deserialize)]
struct Pix<'a> {
    #[serde(borrow, rename = "gnExtras")]
    extras: Option<&'a RawValue>,
    #[serde(borrow)]
    devolucoes: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Extras<'a> {
    #[serde(borrow, rename = "idEnvio")]
    id_envio: Option<&'a RawValue>,
}

/// An infraction, in the format of the `sandbox` crate's simulator, because Efí documents no such callback.
#[derive(Deserialize)]
struct Infraction<'a> {
    #[serde(borrow, rename = "idInfracao")]
    id: Option<&'a RawValue>,
}

/// Returns the resources that a callback names, each once.
pub(super) fn read(body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
    callbacks::read(body, |item| match item {
        Item::Pix(item) => pix(item),
        Item::Infraction(item) => disputed(item),
    })
}

fn disputed(item: &RawValue) -> Result<Option<CallbackItem>, Unreadable> {
    let item: Infraction<'_> = serde_json::from_str(item.get()).map_err(|_| Unreadable)?;
    let id = item.id.and_then(infraction::id).ok_or(Unreadable)?;
    Ok(Some(CallbackItem::Infraction(CallbackInfraction { id })))
}

/// Parses a Pix. A sent Pix with an identifier of another system gives `None`.
fn pix(pix: &RawValue) -> Result<Option<CallbackItem>, Unreadable> {
    let item: Pix<'_> = serde_json::from_str(pix.get()).map_err(|_| Unreadable)?;
    // A received Pix may have `gnExtras` of any shape.
    let instruction_id = part::<Extras<'_>>(item.extras).and_then(|extras| extras.id_envio).and_then(text);
    let Some(instruction_id) = instruction_id else { return callbacks::received(pix) };
    let ours = InstructionId::parse(&instruction_id).ok().filter(|id| id.payout().is_some());
    Ok(ours
        .map(|instruction_id| CallbackItem::Sent(CallbackPayout { instruction_id, returns: returns(item.devolucoes) })))
}

/// Returns the ids of the returns of a sent Pix. Pending, failed and unreadable returns are skipped.
fn returns(item: Option<&RawValue>) -> Vec<ReturnId> {
    let return_id = |back| {
        let back: SentReturn<'_> = part(Some(back))?;
        match back.status.and_then(text).as_deref() {
            Some("EM_PROCESSAMENTO" | "NAO_REALIZADO") => None,
            Some(_) | None => ReturnId::parse(&back.rtr_id.and_then(text)?).ok(),
        }
    };
    part::<Vec<&RawValue>>(item).unwrap_or_default().into_iter().filter_map(return_id).collect()
}

#[cfg(test)]
mod tests {
    use cais_ports::CallbackItem;

    use super::read;

    const TXID: &str = "7978c0c97ea847e78e8849634473c1f1";
    const SENT: &str = "01jd8x2m4pe9ktva0c6rzq5w3n";
    const OTHER: &str = "01jd8x2m4pe9ktva0c6rzq5w3p";

    /// Returns a line for each item, with the kind and the identifier.
    fn found(items: &str) -> Option<Vec<String>> {
        let found = read(format!(r#"{{"pix":[{items}]}}"#).as_bytes()).ok()?;
        let line = |item: &CallbackItem| match item {
            CallbackItem::Sent(sent) => {
                let returns = sent.returns.iter().map(|id| format!(" {id}"));
                format!("sent {}{}", sent.instruction_id, returns.collect::<String>())
            }
            CallbackItem::PayoutReturn(back) => format!("return {}", back.return_id),
            CallbackItem::Received(pix) => format!("received {}", pix.txid),
            CallbackItem::Infraction(infraction) => format!("infraction {}", infraction.id),
            CallbackItem::CryptoPayment(id) => format!("crypto payment {id}"),
        };
        Some(found.iter().map(line).collect())
    }

    #[test]
    fn sent_and_received_pix_are_distinguished() {
        let received = format!(r#"{{"txid":"{TXID}","endToEndId":"E1","gnExtras":{{"tarifa":"0.01"}}}}"#);
        let sent = |id: &str| {
            format!(
                r#"{{"endToEndId":"E1","tipo":"SOLICITACAO","status":"REALIZADO","gnExtras":{{"idEnvio":"{id}"}}}}"#
            )
        };
        let both = format!(r#"{{"txid":"{TXID}","gnExtras":{{"idEnvio":"{SENT}"}}}}"#);
        let (received_line, sent_line) = (format!("received {TXID}"), format!("sent {SENT}"));
        let other_line = format!("sent {OTHER}");
        for (items, wanted) in [
            (received.clone(), Some(vec![&received_line])),
            (sent(SENT), Some(vec![&sent_line])),
            (both, Some(vec![&sent_line])),
            (
                format!("{},{received},{},{}", sent(SENT), sent(OTHER), sent(SENT)),
                Some(vec![&sent_line, &received_line, &other_line]),
            ),
            (format!(r#"{received},1,{{"txid":1}},{}"#, sent(SENT)), Some(vec![&received_line, &sent_line])),
            (format!(r#"{{"txid":"{TXID}","gnExtras":"x"}}"#), Some(vec![&received_line])),
            (format!(r#"{{"txid":"{TXID}","tipo":null,"gnExtras":{{"idEnvio":null}}}}"#), Some(vec![&received_line])),
            // A Pix with a txid and without `idEnvio` was received, regardless of its `tipo`.
            (format!(r#"{{"txid":"{TXID}","tipo":"SOLICITACAO","gnExtras":{{}}}}"#), Some(vec![&received_line])),
            // Another client of the same account sent the Pix.
            (sent("42"), Some(vec![])),
            (sent("not one!"), Some(vec![])),
            (r#"{"endToEndId":"E1","tipo":"SOLICITACAO","gnExtras":{}}"#.to_owned(), Some(vec![])),
            (r#"{"endToEndId":"E1","tipo":"SOLICITACAO","gnExtras":{"idEnvio":7}}"#.to_owned(), Some(vec![])),
            ("1".to_owned(), None),
            (r#"{"txid":1}"#.to_owned(), None),
        ] {
            let wanted = wanted.map(|lines| lines.into_iter().cloned().collect::<Vec<_>>());
            assert_eq!(found(&items), wanted, "{items}");
        }
    }

    #[test]
    fn callback_names_infractions_and_pix() {
        let ids = |body: &str| {
            let found = read(body.as_bytes()).ok()?;
            let line = |item: &CallbackItem| match item {
                CallbackItem::Sent(_) => "sent".to_owned(),
                CallbackItem::PayoutReturn(_) => "return".to_owned(),
                CallbackItem::Received(_) => "received".to_owned(),
                CallbackItem::Infraction(infraction) => infraction.id.clone(),
                CallbackItem::CryptoPayment(id) => id.to_string(),
            };
            Some(found.iter().map(line).collect::<Vec<_>>())
        };
        let id = "cd158e6b-9db3-4a6e-a0b4-c0b4c7d3f1a2";
        let one = format!(r#"{{"idInfracao":"{id}","endToEndId":"E1","status":"ABERTA"}}"#);
        let received = format!(r#"{{"txid":"{TXID}"}}"#);
        for (body, wanted) in [
            (format!(r#"{{"infracoes":[{one},{one}]}}"#), Some(vec![id])),
            (format!(r#"{{"infracoes":[{one},{{"idInfracao":7}}]}}"#), Some(vec![id, "7"])),
            (format!(r#"{{"pix":[{received}],"infracoes":[{one}]}}"#), Some(vec!["received", id])),
            (format!(r#"{{"pix":[{received}],"infracoes":[{{}},1]}}"#), Some(vec!["received"])),
            (format!(r#"{{"pix":[{received}],"infracoes":7}}"#), Some(vec!["received"])),
            (format!(r#"{{"infracoes":{one}}}"#), Some(vec![id])),
            (r#"{"infracoes":[]}"#.to_owned(), Some(vec![])),
            (r#"{"infracoes":null}"#.to_owned(), Some(vec![])),
            (r#"{"infracoes":[{}]}"#.to_owned(), None),
            (r#"{"infracoes":[{"idInfracao":"a/../b"}]}"#.to_owned(), None),
            (r#"{"infracoes":"x"}"#.to_owned(), None),
        ] {
            let wanted = wanted.map(|ids| ids.into_iter().map(str::to_owned).collect());
            assert_eq!(ids(&body), wanted, "{body}");
        }
    }

    #[test]
    fn callback_names_returns_of_sent_pix() {
        let id = |tail: u8| format!("D12345678202601020304000000000{tail:02}");
        let sent = |returns: &str| {
            format!(r#"{{"tipo":"SOLICITACAO","devolucoes":{returns},"gnExtras":{{"idEnvio":"{SENT}"}}}}"#)
        };
        let back = |tail: u8, more: &str| format!(r#"{{"rtrId":"{}","valor":"1.00"{more}}}"#, id(tail));
        let several = [
            back(1, ""),
            back(2, r#","status":"DEVOLVIDO""#),
            back(3, r#","status":"EM_PROCESSAMENTO""#),
            back(4, r#","status":"NAO_REALIZADO""#),
            r#"{"rtrId":"?"},{"rtrId":null},7"#.to_owned(),
        ];
        let (plain, named) = (format!("sent {SENT}"), format!("sent {SENT} {} {}", id(1), id(2)));
        for (items, wanted) in [
            (sent(&format!("[{}]", several.join(","))), vec![&named]),
            (sent("[]"), vec![&plain]),
            (sent("null"), vec![&plain]),
            (sent("{}"), vec![&plain]),
            // The same Pix in a second item, with later returns.
            (format!("{},{}", sent("[]"), sent(&format!("[{},{}]", back(1, ""), back(2, "")))), vec![&plain, &named]),
        ] {
            let wanted = wanted.into_iter().cloned().collect::<Vec<_>>();
            assert_eq!(found(&items), Some(wanted), "{items}");
        }
    }
}
