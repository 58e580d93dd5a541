//! Parses the body of a request to send a Pix. The schema is checked first, then the values.

use actix_web::http::StatusCode;
use cais_domain::{
    document::{Cnpj, Cpf, Document},
    money::Money,
    pix_key::PixKey,
};
use serde_json::Value;

use super::{
    refusal::Refusal,
    schema::{self, Findings, Object},
};
use crate::sends::SendRequest;

const MAX_SEND_ID: usize = 35;
const MAX_KEY: usize = 77;
const MAX_PAYER_INFO: usize = 140;

/// A body that follows the schema, but whose keys and documents are not checked yet.
struct Shape {
    amount: Money,
    payer_key: Box<str>,
    payer_info: Option<Box<str>>,
    recipient: Recipient,
}

/// The recipient: a Pix key, and optionally the CPF or CNPJ that its owner must have.
struct Recipient {
    key: Box<str>,
    cpf: Option<Box<str>>,
    cnpj: Option<Box<str>>,
}

/// Parses `idEnvio` and the body of a request to send a Pix. `own_key` is the Pix key of the sending account.
///
/// # Errors
/// - 400 `json_invalido` if `idEnvio` or the body violates the schema.
/// - 400 `valor_invalido` for an amount of zero, and for a CPF or CNPJ that is not valid.
/// - 400 `chave_invalida` if the payer's key is not `own_key`.
/// - 404 `chave_favorecido_nao_encontrada` if the recipient's key does not exist.
pub fn read(id: &str, body: Value, own_key: &str) -> Result<SendRequest, Refusal> {
    let mut findings = Findings::default();
    if !(1..=MAX_SEND_ID).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        findings.add("pattern", ".params.idEnvio", "must match ^[a-zA-Z0-9]{1,35}$");
    }
    let shape = shape(body, &mut findings);
    to_request(id, findings.conclude(shape)?, own_key)
}

fn shape(body: Value, findings: &mut Findings) -> Option<Shape> {
    let mut body = Object::open(".body", body, findings)?;
    let amount = body.require("valor", findings).and_then(|value| schema::amount(".body.valor", value, findings));
    let payer = body.require("pagador", findings).and_then(|value| payer(value, findings));
    let recipient = body.require("favorecido", findings).and_then(|value| recipient(value, findings));
    body.close(findings);
    let (payer_key, payer_info) = payer?;
    Some(Shape { amount: amount?, payer_key, payer_info, recipient: recipient? })
}

fn payer(value: Value, findings: &mut Findings) -> Option<(Box<str>, Option<Box<str>>)> {
    let mut payer = Object::open(".body.pagador", value, findings)?;
    let key = payer.require("chave", findings);
    let key = key.and_then(|value| schema::text(".body.pagador.chave", value, MAX_KEY, findings));
    let info = payer.take("infoPagador");
    let info = info.and_then(|value| schema::text(".body.pagador.infoPagador", value, MAX_PAYER_INFO, findings));
    payer.close(findings);
    Some((key?, info))
}

/// Parses the recipient. Efí's other form, a bank account (`contaBanco`), is not supported.
fn recipient(value: Value, findings: &mut Findings) -> Option<Recipient> {
    const CPF: &str = "^[0-9]{11}$";
    const CNPJ: &str = "^[0-9A-Z]{14}$";
    let mut recipient = Object::open(".body.favorecido", value, findings)?;
    let key = recipient.require("chave", findings);
    let key = key.and_then(|value| schema::text(".body.favorecido.chave", value, MAX_KEY, findings));
    let (cpf, cnpj) = (recipient.take("cpf"), recipient.take("cnpj"));
    recipient.close(findings);
    if cpf.is_some() && cnpj.is_some() {
        findings.add("oneOf", ".body.favorecido", "must have either cpf or cnpj");
    }
    let is_cpf = |text: &str| text.len() == 11 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_cnpj =
        |text: &str| text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let cpf = cpf.and_then(|value| schema::matching(".body.favorecido.cpf", value, is_cpf, CPF, findings));
    let cnpj = cnpj.and_then(|value| schema::matching(".body.favorecido.cnpj", value, is_cnpj, CNPJ, findings));
    Some(Recipient { key: key?, cpf, cnpj })
}

/// Checks the amount, the documents and the keys of a body that follows the schema.
fn to_request(id: &str, shape: Shape, own_key: &str) -> Result<SendRequest, Refusal> {
    let invalid = |message: &str| Refusal::named(StatusCode::BAD_REQUEST, "valor_invalido", message);
    if !shape.amount.is_positive() {
        return Err(invalid("the field valor must be above zero"));
    }
    let Recipient { key, cpf, cnpj } = shape.recipient;
    let cpf = cpf.map(|text| Cpf::parse(&text)).transpose();
    let cpf = cpf.map_err(|_| invalid("the CPF in favorecido.cpf is not valid"))?;
    let cnpj = cnpj.map(|text| Cnpj::parse(&text)).transpose();
    let cnpj = cnpj.map_err(|_| invalid("the CNPJ in favorecido.cnpj is not valid"))?;
    if *shape.payer_key != *own_key {
        let message = "the key in pagador.chave is not one of this account";
        return Err(Refusal::named(StatusCode::BAD_REQUEST, "chave_invalida", message));
    }
    // In the simulated directory every valid key in its normal form exists. The account's own key counts as unknown, because an account
    // cannot pay itself.
    let found = PixKey::parse(&key).ok().filter(|found| found.as_str() == &*key && found.as_str() != own_key);
    let key = found.ok_or_else(|| {
        let message = "the key in favorecido.chave was not found";
        Refusal::named(StatusCode::NOT_FOUND, "chave_favorecido_nao_encontrada", message)
    })?;
    Ok(SendRequest {
        id: id.into(),
        amount: shape.amount,
        key,
        document: cpf.map(Document::Cpf).or(cnpj.map(Document::Cnpj)),
        payer_info: shape.payer_info,
    })
}
