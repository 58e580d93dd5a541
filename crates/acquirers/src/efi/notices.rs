//! Reads callbacks, which tell of received and of sent Pix in one envelope.

use cais_domain::id_envio::IdEnvio;
use cais_ports::{AcquirerError, Noticed};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::text;
use crate::bacen::notices::{self, Unreadable};

/// What tells a Pix that was sent from one that was received.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    tipo: Option<&'a RawValue>,
    #[serde(borrow, rename = "gnExtras")]
    extras: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Extras<'a> {
    #[serde(borrow, rename = "idEnvio")]
    id_envio: Option<&'a RawValue>,
}

/// What the callback names, each once.
pub(super) fn read(body: &[u8]) -> Result<Vec<Noticed>, AcquirerError> {
    notices::read(body, item)
}

/// A Pix that was sent under a name that none of our payouts can have names nothing.
fn item(item: &RawValue) -> Result<Option<Noticed>, Unreadable> {
    let told: Item<'_> = serde_json::from_str(item.get()).map_err(|_| Unreadable)?;
    // A received Pix may have extras too, of any shape.
    let extras = told.extras.and_then(|extras| serde_json::from_str::<Extras<'_>>(extras.get()).ok());
    let id_envio = extras.and_then(|extras| extras.id_envio).and_then(text);
    match id_envio {
        Some(id) => Ok(IdEnvio::parse(&id).ok().filter(|id| id.payout().is_some()).map(Noticed::Sent)),
        None if told.tipo.and_then(text).is_some() => Ok(None),
        None => notices::received(item),
    }
}

#[cfg(test)]
mod tests {
    use cais_ports::Noticed;

    use super::read;

    const TXID: &str = "7978c0c97ea847e78e8849634473c1f1";
    const SENT: &str = "01jd8x2m4pe9ktva0c6rzq5w3n";
    const OTHER: &str = "01jd8x2m4pe9ktva0c6rzq5w3p";

    /// `sent` or `received`, with the name.
    fn found(items: &str) -> Option<Vec<String>> {
        let found = read(format!(r#"{{"pix":[{items}]}}"#).as_bytes()).ok()?;
        let line = |noticed: &Noticed| match noticed {
            Noticed::Sent(id) => format!("sent {id}"),
            Noticed::Received(pix) => format!("received {}", pix.txid),
        };
        Some(found.iter().map(line).collect())
    }

    #[test]
    fn sent_and_received_are_told_apart() {
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
            // Sent by somebody else, from the same account.
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
}
