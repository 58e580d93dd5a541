//! Parses the bodies that create or revise a charge (`CobSolicitada`, `CobRevisada`).

use cais_domain::document::{Cnpj, Cpf};
use serde_json::Value;

use super::{
    cob_value,
    fields::{self, Findings, Object, shown},
    problem::{Kind, Problem},
};
use crate::state::cob::{AdditionalInfo, CobStatus, Debtor, Terms, Value as CobValue};

/// The default of `expiracao`, in seconds.
const DEFAULT_EXPIRY_S: i32 = 86_400;
const MAX_KEY: usize = 77;
const MAX_NAME: usize = 200;
const MAX_PAYER_REQUEST: usize = 140;
const MAX_INFO: usize = 50;
const MAX_INFO_NAME: usize = 50;
const MAX_INFO_VALUE: usize = 200;

/// The existing locations, to check `loc`. Each location is created with its charge, so `loc` may only name the charge's own location.
#[derive(Clone, Copy, Debug)]
pub struct Locations {
    /// The id of the charge's own location; `None` for a charge that is being created.
    pub own: Option<usize>,
    /// The number of locations. Their ids are 1 to `count`.
    pub count: usize,
}

/// The new values of a revision; `None` for a term that stays.
#[derive(Debug, Default)]
pub struct Revision {
    /// `true` if the body has `status`. Its only legal value removes the charge.
    pub remove: bool,
    expires_in_s: Option<i32>,
    debtor: Option<Box<Debtor>>,
    value: Option<CobValue>,
    payer_request: Option<Box<str>>,
    info: Option<Box<[AdditionalInfo]>>,
}

impl Revision {
    /// Returns the terms after the revision. Returns `None` if no term changes; the revision is then not recorded.
    #[must_use]
    pub fn applied_to(self, terms: &Terms) -> Option<Terms> {
        let changed = Terms {
            expires_in_s: self.expires_in_s.unwrap_or(terms.expires_in_s),
            debtor: self.debtor.or_else(|| terms.debtor.clone()),
            value: self.value.unwrap_or_else(|| terms.value.clone()),
            payer_request: self.payer_request.or_else(|| terms.payer_request.clone()),
            info: self.info.unwrap_or_else(|| terms.info.clone()),
            status: if self.remove { CobStatus::RemovedByReceiver } else { terms.status },
        };
        (changed != *terms).then_some(changed)
    }
}

/// Parses the body of a request to create a charge. `own_key` is the account's Pix key.
///
/// # Errors
/// `CobOperacaoInvalida` with the violations.
pub fn solicited(body: Value, own_key: &str, locations: Locations) -> Result<Terms, Problem> {
    let mut findings = Findings::default();
    let terms = Object::open("cob", body, &mut findings).and_then(|mut cob| {
        let calendar = cob.require("calendario", &mut findings);
        let expires_in_s = calendar.and_then(|value| expiry(value, &mut findings));
        let value = cob.require("valor", &mut findings).and_then(|value| cob_value::read(value, &mut findings));
        let key = cob.require("chave", &mut findings);
        if let Some(key) = key {
            check_key(key, own_key, &mut findings);
        }
        let optional = optional(&mut cob, locations, &mut findings);
        cob.close(&mut findings);
        Some(Terms {
            expires_in_s: expires_in_s?,
            debtor: optional.debtor,
            value: value?,
            payer_request: optional.payer_request,
            info: optional.info.unwrap_or_default(),
            status: CobStatus::Active,
        })
    });
    findings.conclude(Kind::CobInvalidOperation, terms)
}

/// Parses the body of a request to revise a charge. `own_key` is the account's Pix key.
///
/// # Errors
/// `CobOperacaoInvalida` with the violations. A removal together with other changes is a violation too.
pub fn revised(body: Value, own_key: &str, locations: Locations) -> Result<Revision, Problem> {
    let mut findings = Findings::default();
    let revision = Object::open("cob", body, &mut findings).map(|mut cob| {
        let status = cob.take("status");
        if status.is_some() && !cob.is_empty() {
            findings.add("cob.status", "a removal allows no other change", "");
        }
        if let Some(status) = &status
            && status.as_str() != Some("REMOVIDA_PELO_USUARIO_RECEBEDOR")
        {
            findings.add("cob.status", "must be REMOVIDA_PELO_USUARIO_RECEBEDOR", &shown(status));
        }
        let expires_in_s = cob.take("calendario").and_then(|value| expiry(value, &mut findings));
        let value = cob.take("valor").and_then(|value| cob_value::read(value, &mut findings));
        if let Some(key) = cob.take("chave") {
            check_key(key, own_key, &mut findings);
        }
        let optional = optional(&mut cob, locations, &mut findings);
        cob.close(&mut findings);
        Revision { remove: status.is_some(), expires_in_s, value, ..optional }
    });
    findings.conclude(Kind::CobInvalidOperation, revision)
}

fn optional(cob: &mut Object, locations: Locations, findings: &mut Findings) -> Revision {
    if let Some(loc) = cob.take("loc") {
        check_location(loc, locations, findings);
    }
    Revision {
        debtor: cob.take("devedor").and_then(|value| debtor(value, findings)).map(Box::new),
        payer_request: cob
            .take("solicitacaoPagador")
            .and_then(|value| fields::text("cob.solicitacaoPagador", value, MAX_PAYER_REQUEST, findings)),
        info: cob.take("infoAdicionais").and_then(|value| info(value, findings)),
        ..Revision::default()
    }
}

fn expiry(value: Value, findings: &mut Findings) -> Option<i32> {
    let path = "cob.calendario.expiracao";
    let mut calendar = Object::open("cob.calendario", value, findings)?;
    let seconds = match calendar.take("expiracao") {
        None => Some(DEFAULT_EXPIRY_S),
        Some(value) => fields::integer(path, &value, findings),
    };
    calendar.close(findings);
    if seconds.is_some_and(|seconds| seconds <= 0) {
        findings.add(path, "must be above zero", "");
        return None;
    }
    seconds
}

fn check_key(value: Value, own_key: &str, findings: &mut Findings) {
    if let Some(key) = fields::text("cob.chave", value, MAX_KEY, findings)
        && *key != *own_key
    {
        findings.add("cob.chave", "belongs to an account that is not this receiver's", &key);
    }
}

fn check_location(value: Value, locations: Locations, findings: &mut Findings) {
    let Some(mut loc) = Object::open("cob.loc", value, findings) else {
        return;
    };
    if let Some(id) = loc.require("id", findings) {
        let number = id.as_u64().and_then(|id| usize::try_from(id).ok());
        match number {
            None => findings.add("cob.loc.id", "must be an integer of 64 bits", &shown(&id)),
            Some(number) if Some(number) == locations.own => {}
            Some(number) if (1..=locations.count).contains(&number) => {
                findings.add("cob.loc.id", "the location is used by another charge", &shown(&id));
            }
            Some(_) => findings.add("cob.loc.id", "the location does not exist", &shown(&id)),
        }
    }
    loc.close(findings);
}

fn debtor(value: Value, findings: &mut Findings) -> Option<Debtor> {
    let mut debtor = Object::open("cob.devedor", value, findings)?;
    let name =
        debtor.require("nome", findings).and_then(|value| fields::text("cob.devedor.nome", value, MAX_NAME, findings));
    let cpf = debtor.take("cpf");
    let cnpj = debtor.take("cnpj");
    debtor.close(findings);
    if cpf.is_some() == cnpj.is_some() {
        findings.add("cob.devedor", "must have either cpf or cnpj", "");
        return None;
    }
    let cpf = cpf.map(|value| document("cob.devedor.cpf", value, is_cpf, findings));
    let cnpj = cnpj.map(|value| document("cob.devedor.cnpj", value, is_cnpj, findings));
    Some(Debtor { cpf: cpf.flatten(), cnpj: cnpj.flatten(), nome: name? })
}

fn document(path: &str, value: Value, valid: fn(&str) -> bool, findings: &mut Findings) -> Option<Box<str>> {
    let text = fields::text(path, value, 14, findings)?;
    if !valid(&text) {
        findings.add(path, "is not a valid number, without punctuation", &text);
        return None;
    }
    Some(text)
}

/// Returns whether the text is eleven digits with valid check digits.
#[must_use]
pub fn is_cpf(text: &str) -> bool {
    Cpf::parse(text).is_ok_and(|cpf| cpf.as_str() == text)
}

/// Returns whether the text is fourteen digits or capital letters with valid check digits.
#[must_use]
pub fn is_cnpj(text: &str) -> bool {
    Cnpj::parse(text).is_ok_and(|cnpj| cnpj.as_str() == text)
}

fn info(value: Value, findings: &mut Findings) -> Option<Box<[AdditionalInfo]>> {
    let path = "cob.infoAdicionais";
    let Value::Array(items) = value else {
        findings.add(path, "must be an array", &shown(&value));
        return None;
    };
    if items.len() > MAX_INFO {
        findings.add(path, "must have at most 50 items", "");
        return None;
    }
    // The first `collect` parses every item, so that all violations are reported. The second returns `None` if an item is invalid.
    let items: Vec<_> = items
        .into_iter()
        .enumerate()
        .map(|(index, item)| info_item(&format!("{path}[{index}]"), item, findings))
        .collect();
    items.into_iter().collect()
}

fn info_item(path: &str, value: Value, findings: &mut Findings) -> Option<AdditionalInfo> {
    let mut item = Object::open(path, value, findings)?;
    let mut text = |name: &str, max: usize| {
        let value = item.require(name, findings)?;
        fields::text(&item.path_of(name), value, max, findings)
    };
    let nome = text("nome", MAX_INFO_NAME);
    let valor = text("valor", MAX_INFO_VALUE);
    item.close(findings);
    Some(AdditionalInfo { nome: nome?, valor: valor? })
}
