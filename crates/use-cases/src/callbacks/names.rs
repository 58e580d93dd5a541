//! The text form of the items of a callback, one line for each item. A line has the kind and the identifiers of its
//! item. The line of a received Pix also has the instant of the payment. No other part of a callback is stored.

use std::collections::BTreeSet;

use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use cais_ports::{CallbackInfraction, CallbackItem, CallbackPayout, CallbackPix, CallbackReturn};
use jiff::Timestamp;

/// The text of an absent identifier or instant.
const NONE: &str = "-";

/// Writes the items in sorted lines, so that repeats of a callback have equal texts. The lines are divided into texts
/// of at most `most` lines.
pub(super) fn write(items: &[CallbackItem], most: usize) -> Vec<Vec<u8>> {
    let lines: BTreeSet<String> = items.iter().map(line).collect();
    let lines: Vec<String> = lines.into_iter().collect();
    lines.chunks(most).map(|lines| lines.join("\n").into_bytes()).collect()
}

fn line(item: &CallbackItem) -> String {
    match item {
        CallbackItem::Received(CallbackPix { txid, end_to_end_id, paid_at }) => {
            let pix = end_to_end_id.as_ref().map_or(NONE, EndToEndId::as_str);
            let at = paid_at.map_or_else(|| NONE.to_owned(), |at| at.as_microsecond().to_string());
            format!("received {txid} {pix} {at}")
        }
        CallbackItem::Sent(CallbackPayout { instruction_id, returns }) => {
            let returns: Vec<&str> = returns.iter().map(ReturnId::as_str).collect();
            format!("sent {instruction_id} {}", returns.join(" "))
        }
        CallbackItem::PayoutReturn(CallbackReturn { end_to_end_id, return_id }) => {
            format!("payout-return {end_to_end_id} {return_id}")
        }
        CallbackItem::Infraction(CallbackInfraction { id }) => format!("infraction {id}"),
        CallbackItem::CryptoPayment(id) => format!("crypto-payment {id}"),
    }
}

/// Reads a text that [`write()`] returned. Returns `None` if a line of the text is not the line of an item.
pub(super) fn read(text: &[u8]) -> Option<Vec<CallbackItem>> {
    str::from_utf8(text).ok()?.lines().map(item).collect()
}

fn item(line: &str) -> Option<CallbackItem> {
    let (kind, rest) = line.split_once(' ')?;
    if kind == "infraction" {
        return Some(CallbackItem::Infraction(CallbackInfraction { id: rest.to_owned() }));
    }
    let mut parts = rest.split_ascii_whitespace();
    match kind {
        "received" => {
            let txid = Txid::parse(parts.next()?).ok()?;
            let [pix, at] = [parts.next()?, parts.next()?];
            let end_to_end_id = if pix == NONE { None } else { Some(EndToEndId::parse(pix).ok()?) };
            let paid_at = if at == NONE { None } else { Some(Timestamp::from_microsecond(at.parse().ok()?).ok()?) };
            Some(CallbackItem::Received(CallbackPix { txid, end_to_end_id, paid_at }))
        }
        "sent" => {
            let instruction_id = InstructionId::parse(parts.next()?).ok()?;
            let returns = parts.map(|id| ReturnId::parse(id).ok()).collect::<Option<_>>()?;
            Some(CallbackItem::Sent(CallbackPayout { instruction_id, returns }))
        }
        "payout-return" => {
            let end_to_end_id = EndToEndId::parse(parts.next()?).ok()?;
            let return_id = ReturnId::parse(parts.next()?).ok()?;
            Some(CallbackItem::PayoutReturn(CallbackReturn { end_to_end_id, return_id }))
        }
        "crypto-payment" => Some(CallbackItem::CryptoPayment(ProcessorId::parse(parts.next()?).ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn names_are_read_as_they_were_written() {
        let txid = Txid::parse("7978c0c97ea847e78e8849634473c1f1").unwrap();
        let pix = EndToEndId::parse("E1234567820260102030400000000001").unwrap();
        let returned = |tail: u8| ReturnId::parse(&format!("D12345678202601020304000000000{tail:02}")).unwrap();
        let instruction_id = InstructionId::parse("01jd8x2m4pe9ktva0c6rzq5w3n").unwrap();
        let at = Timestamp::from_microsecond(1_767_323_040_000_001).unwrap();
        let received = |end_to_end_id, paid_at| CallbackPix { txid: txid.clone(), end_to_end_id, paid_at };
        let items = vec![
            CallbackItem::CryptoPayment(ProcessorId::parse("6249365965").unwrap()),
            CallbackItem::Infraction(CallbackInfraction { id: "cd158e6b-9db3_4".to_owned() }),
            CallbackItem::PayoutReturn(CallbackReturn { end_to_end_id: pix.clone(), return_id: returned(3) }),
            CallbackItem::Received(received(None, None)),
            CallbackItem::Received(received(Some(pix.clone()), None)),
            CallbackItem::Received(received(Some(pix), Some(at))),
            CallbackItem::Sent(CallbackPayout { instruction_id: instruction_id.clone(), returns: Vec::new() }),
            CallbackItem::Sent(CallbackPayout { instruction_id, returns: vec![returned(1), returned(2)] }),
        ];
        let turned: Vec<CallbackItem> = items.iter().chain(&items).rev().cloned().collect();
        assert_eq!(write(&turned, 2), write(&items, 2));
        let read_back: Vec<CallbackItem> = write(&items, 2).iter().flat_map(|text| read(text).unwrap()).collect();
        assert_eq!(read_back, items);
        for text in
            ["received", "received x - -", "sent", "payout-return", "payout-return x y", "other 1", "{\"pix\":[]}"]
        {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
