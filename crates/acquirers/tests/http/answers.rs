//! Answers of institutions, and adapters configured for tests.

use std::time::Duration;

use cais_acquirers::{BacenAcquirer, BacenConfig, EfiAcquirer, Secret};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use cais_ports::{
    AcquirerError, ChargeOrder, ListRequest, PayoutOrder, RefundOrder, ReturnNature, UpstreamProgress, UpstreamReturn,
};
use cais_sandbox::Credentials;
use serde_json::{Value, json};

use crate::server::Act;
use crate::tls::TRUSTED;

pub const TXID: &str = "01jd8x2m4pe9ktva0c6rzq5w3n";
pub const KEY: &str = "7d9f0335-8dcc-4054-9bf9-0dbd61d36906";
/// A dynamic code with a valid checksum and without an amount.
pub const CODE: &str = "00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca255204000053039865802BR5913EMPRESA TESTE6009SAO PAULO62070503***63042BF6";
/// A static code.
pub const STATIC_CODE: &str = "00020126330014br.gov.bcb.pix011112345678909520400005303986540510.005802BR5913EMPRESA TESTE6009SAO PAULO62140510PEDIDO000163047056";
/// The identifier of a payout, and of a refund.
pub const NAME: &str = "01jd8x2m4pe9ktva0c6rzq5w3p";
/// The Pix that is sent or returned.
pub const PIX: &str = "E12345678202611201500aaaaaaaaaaa";
/// The recipient's key of a payout.
pub const RECIPIENT: &str = "ana@example.com";
/// A budget that is longer than every test, except the tests of an expired budget.
pub const BUDGET: Duration = Duration::from_secs(9);

pub fn txid() -> Txid {
    Txid::parse(TXID).unwrap()
}

pub fn order() -> ChargeOrder {
    ChargeOrder {
        txid: txid(),
        amount: Money::from_centavos(1_050),
        expires_in_s: 3_600,
        payer: None,
        description: None,
    }
}

pub fn config(base_url: &str) -> BacenConfig {
    let mut config = BacenConfig::new(
        AcquirerName::parse("main").unwrap(),
        base_url,
        "client",
        Secret::new("hush"),
        PixKey::parse(KEY).unwrap(),
    );
    config.extra_root_pem = Some(TRUSTED.pem());
    config
}

/// Returns the configuration of an acquirer that is the sandbox's institution.
pub fn sandbox_config(credentials: &Credentials) -> BacenConfig {
    BacenConfig::new(
        AcquirerName::parse("main").unwrap(),
        credentials.base_url.as_str(),
        credentials.client_id.as_str(),
        Secret::new(credentials.client_secret.as_str()),
        PixKey::parse(&credentials.pix_key).unwrap(),
    )
}

pub fn acquirer(base_url: &str) -> BacenAcquirer {
    BacenAcquirer::new(&config(base_url)).unwrap()
}

pub fn efi(base_url: &str) -> EfiAcquirer {
    EfiAcquirer::new(&config(base_url)).unwrap()
}

pub fn instruction_id() -> InstructionId {
    InstructionId::parse(NAME).unwrap()
}

pub fn pix() -> EndToEndId {
    EndToEndId::parse(PIX).unwrap()
}

pub fn payout_order() -> PayoutOrder {
    PayoutOrder {
        instruction_id: instruction_id(),
        amount: Money::from_centavos(1_234),
        pix_key: PixKey::parse(RECIPIENT).unwrap(),
        recipient_document: None,
        description: None,
    }
}

pub fn refund_order() -> RefundOrder {
    RefundOrder {
        id: RefundId::from_suffix(NAME).unwrap(),
        end_to_end_id: pix(),
        amount: Money::from_centavos(400),
        description: None,
    }
}

/// Requests the first page of a day.
pub fn day(page: u32) -> ListRequest {
    ListRequest { from: "2026-11-20T00:00:00Z".parse().unwrap(), to: "2026-11-20T23:59:59.5Z".parse().unwrap(), page }
}

/// Returns the payout of [`payout_order`], in the form of a look-up.
pub fn sent() -> Value {
    json!({
        "endToEndId": PIX, "idEnvio": NAME, "valor": "12.34", "chave": KEY, "status": "EM_PROCESSAMENTO",
        "horario": {"solicitacao": "2026-11-20T15:00:00.000Z"},
        "favorecido": {"chave": RECIPIENT, "identificacao": {"nome": "Ana Lima", "cpf": "***.456.789-**"}}
    })
}

/// Returns the refund of [`refund_order`], in the institution's form.
pub fn devolucao() -> Value {
    json!({
        "id": NAME, "rtrId": "D12345678202611201501bbbbbbbbbbb", "valor": "4.00", "natureza": "ORIGINAL",
        "horario": {"solicitacao": "2026-11-20T15:01:00Z"}, "status": "EM_PROCESSAMENTO"
    })
}

/// Returns `value` with the part at `pointer` replaced, or removed if `None`.
pub fn changed(mut value: Value, pointer: &str, part: Option<Value>) -> Value {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match part {
        Some(part) => parent.insert(field.to_owned(), part),
        None => parent.remove(field),
    };
    value
}

/// Answers with Efí's `nome` and `mensagem`.
pub fn nome(status: u16, nome: &str) -> Act {
    json_reply(status, &json!({"nome": nome, "mensagem": "Em português."}))
}

/// Returns the charge of [`order`], in the institution's form.
pub fn cob() -> Value {
    json!({
        "calendario": {"criacao": "2026-11-20T12:00:00.123456789-03:00", "expiracao": 3600},
        "txid": TXID,
        "revisao": 0,
        "status": "ATIVA",
        "valor": {"original": "10.50"},
        "chave": KEY,
        "location": "pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25",
        "pixCopiaECola": CODE
    })
}

/// Returns [`cob`] with the value at `pointer` replaced, or removed if `None`.
pub fn cob_with(pointer: &str, value: Option<Value>) -> Value {
    changed(cob(), pointer, value)
}

pub fn http(status: u16, content_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

pub fn json_reply(status: u16, body: &Value) -> Act {
    Act::Reply(http(status, "application/json; charset=utf-8", &body.to_string()))
}

pub fn html(status: u16) -> Act {
    Act::Reply(http(status, "text/html", "<html>Gateway</html>"))
}

pub fn problem(status: u16, kind: &str) -> Act {
    let body = json!({
        "type": format!("https://pix.bcb.gov.br/api/v2/error/{kind}"), "title": "Recusado.", "status": status
    });
    Act::Reply(http(status, "application/problem+json", &body.to_string()))
}

pub fn not_found() -> Act {
    problem(404, "CobNaoEncontrado")
}

/// Answers with a token; `expires_in` is written literally.
pub fn token(text: &str, expires_in: &str) -> Act {
    Act::Reply(token_bytes(text, expires_in))
}

pub fn token_bytes(text: &str, expires_in: &str) -> Vec<u8> {
    let body =
        format!(r#"{{"access_token":"{text}","token_type":"Bearer","expires_in":{expires_in},"scope":"cob.write"}}"#);
    http(200, "application/json", &body)
}

/// Formats a return: id, nationwide id, amount, progress, whether the id may be a refund of ours, and whether an
/// infraction took it.
pub fn returned(value: &UpstreamReturn) -> String {
    let id = value.return_id.as_ref().map_or("-", |id| id.as_str());
    let ours = if value.refund().is_some() { " ours" } else { "" };
    let nature = match value.nature {
        ReturnNature::Ordinary => "",
        ReturnNature::Infraction => " med",
    };
    format!("{} {id} {} {}{ours}{nature}", value.name, value.amount, progress(&value.progress))
}

/// Formats progress: `open`, `done` with the instant, or `failed` with the reason.
pub fn progress(value: &UpstreamProgress) -> String {
    match value {
        UpstreamProgress::Processing => "open".to_owned(),
        UpstreamProgress::Done { at } => format!("done {}", at.map_or("-".to_owned(), |at| at.to_string())),
        UpstreamProgress::Failed { reason } => format!("failed {}", reason.as_deref().unwrap_or("-")),
    }
}

/// Returns `ok`, `refused`, `unavailable` or `unknown`.
pub fn kind<T>(result: &Result<T, AcquirerError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(AcquirerError::Refused(_)) => "refused",
        Err(AcquirerError::Unavailable(_)) => "unavailable",
        Err(AcquirerError::OutcomeUnknown(_)) => "unknown",
    }
}

/// Returns the message of the error; empty for success.
pub fn reason<T>(result: &Result<T, AcquirerError>) -> String {
    result.as_ref().err().map(ToString::to_string).unwrap_or_default()
}
