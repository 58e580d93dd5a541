//! `valor` of a charge: its amount, the permission to change the amount, and cash that the payer withdraws.

use serde_json::Value;

use super::fields::{self, Findings, Object, shown};
use crate::state::cob::{Value as CobValue, Withdrawal, WithdrawalTerms};

/// The longest accepted text of `modalidadeAgente` and of `prestadorDoServicoDeSaque`. The later checks of the values are stricter.
const MAX_WORD: usize = 77;

/// Parses `valor`.
pub fn read(value: Value, findings: &mut Findings) -> Option<CobValue> {
    let mut object = Object::open("cob.valor", value, findings)?;
    let original = object.require("original", findings);
    let original = original.and_then(|value| fields::amount("cob.valor.original", &value, findings));
    let alterable = alterable("cob.valor.modalidadeAlteracao", &mut object, findings);
    let withdrawal = object.take("retirada").map(|value| withdrawal(value, findings));
    object.close(findings);
    let original = original?;
    let zero_is_fine = match &withdrawal {
        None => alterable == Some(1),
        Some(withdrawal) => {
            if alterable == Some(1) {
                findings.add("cob.valor.modalidadeAlteracao", "must be 0 with retirada", "1");
            }
            match withdrawal.as_ref()? {
                Withdrawal::Cash(_) => {
                    if !original.is_zero() {
                        findings.add("cob.valor.original", "must be 0.00 with saque", &original.to_string());
                    }
                    true
                }
                Withdrawal::Change(_) => false,
            }
        }
    };
    if original.is_zero() && !zero_is_fine {
        findings.add("cob.valor.original", "must not be 0.00", "0.00");
    }
    Some(CobValue { original, alterable, withdrawal: withdrawal.flatten().map(Box::new) })
}

fn alterable(path: &str, object: &mut Object, findings: &mut Findings) -> Option<u8> {
    let value = object.take("modalidadeAlteracao")?;
    let number = value.as_u64().and_then(|number| u8::try_from(number).ok()).filter(|number| *number <= 1);
    if number.is_none() {
        findings.add(path, "must be 0 or 1", &shown(&value));
    }
    number
}

fn withdrawal(value: Value, findings: &mut Findings) -> Option<Withdrawal> {
    let path = "cob.valor.retirada";
    let mut object = Object::open(path, value, findings)?;
    let cash = object.take("saque");
    let change = object.take("troco");
    object.close(findings);
    match (cash, change) {
        (Some(cash), None) => {
            terms("cob.valor.retirada.saque", cash, &["AGTEC", "AGTOT", "AGPSS"], findings).map(Withdrawal::Cash)
        }
        (None, Some(change)) => {
            terms("cob.valor.retirada.troco", change, &["AGTEC", "AGTOT"], findings).map(Withdrawal::Change)
        }
        (None, None) | (Some(_), Some(_)) => {
            findings.add(path, "must have either saque or troco", "");
            None
        }
    }
}

fn terms(path: &str, value: Value, agents: &[&str], findings: &mut Findings) -> Option<WithdrawalTerms> {
    let mut object = Object::open(path, value, findings)?;
    let amount = object.require("valor", findings);
    let amount = amount.and_then(|value| fields::amount(&object.path_of("valor"), &value, findings));
    let alterable = alterable(&object.path_of("modalidadeAlteracao"), &mut object, findings);
    let mut word = |name: &str, valid: &dyn Fn(&str) -> bool, findings: &mut Findings| {
        let text = object.require(name, findings)?;
        let text = fields::text(&object.path_of(name), text, MAX_WORD, findings)?;
        if !valid(&text) {
            findings.add(object.path_of(name), "does not have one of its legal values", &text);
        }
        Some(text)
    };
    let agent = word("modalidadeAgente", &|text| agents.contains(&text), findings);
    let ispb =
        |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let provider = word("prestadorDoServicoDeSaque", &ispb, findings);
    object.close(findings);
    let amount = amount?;
    if amount.is_zero() && alterable != Some(1) {
        findings.add(format!("{path}.valor"), "must not be 0.00", "0.00");
    }
    Some(WithdrawalTerms { amount, alterable, agent: agent?, provider: provider? })
}
