//! The JSON forms of an infraction in lists and in callbacks.
//!
//! The protocol, the amount and the accounts are JSON numbers, as in Efí's newest client. Efí's documents show strings.

use cais_domain::{infraction::Situation, money::Money};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    psp::Psp,
    state::{
        cob::Cob,
        infraction::{Infraction, InfractionStatus},
        payment::{Nature, Payment},
    },
    wire,
};

/// The name of the institution at which all payers have their accounts.
const PAYERS_INSTITUTION: &str = "PSP DO PAGADOR";
/// The name of this institution.
const OWN_INSTITUTION: &str = "CAIS SANDBOX PSP";
/// The name and CPF of the payer of a charge without a debtor.
pub const PAYER: (&str, &str) = ("PAGADOR DO SANDBOX", "52998224725");
/// The CNPJ of the holder of the simulated account.
pub const OWN_DOCUMENT: &str = "12345678000195";
/// The account numbers of the payer and of the receiver, chosen arbitrarily.
const ACCOUNTS: (u32, u32) = (1_234_567, 7_654_321);

/// A row of the list of infractions.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InfractionView<'a> {
    id_infracao: &'a str,
    end_to_end_id: &'a str,
    protocolo: usize,
    #[serde(serialize_with = "wire::serialize_instant")]
    data_transacao: Timestamp,
    #[serde(with = "wire::number")]
    valor: Money,
    chave: &'a str,
    status: InfractionStatus,
    razao: &'static str,
    tipo_situacao: &'static str,
    comentario: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    defesa: Option<&'a str>,
    identificador_ticket: [u32; 0],
    dados_analise: Analysis,
    origem: Side<'a>,
    destino: Side<'a>,
    #[serde(serialize_with = "wire::serialize_instant")]
    criado_em: Timestamp,
    #[serde(serialize_with = "wire::serialize_instant")]
    atualizado_em: Timestamp,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Analysis {
    #[serde(serialize_with = "wire::serialize_instant")]
    abertura: Timestamp,
    #[serde(serialize_with = "wire::serialize_instant")]
    prazo_finalizacao: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::serialize_optional_instant")]
    recebimento_defesa: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::serialize_optional_instant")]
    finalizacao: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Side<'a> {
    nome_participante: &'static str,
    conta: u32,
    nome: &'a str,
    documento: &'a str,
}

/// An infraction in a callback. Efí documents no callback for infractions; this format belongs to the simulator.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InfractionCallback<'a> {
    id_infracao: &'a str,
    end_to_end_id: &'a str,
    status: InfractionStatus,
}

/// Returns the row of an infraction. `payment` is the disputed Pix, and `cob` its charge, whose debtor is shown as the payer. The protocol
/// number is `position + 1`.
#[must_use]
pub fn infraction<'a>(
    psp: &'a Psp,
    position: usize,
    infraction: &'a Infraction,
    (payment, cob): (&'a Payment, Option<&'a Cob>),
) -> InfractionView<'a> {
    let debtor = cob.and_then(|cob| cob.terms.debtor.as_deref());
    let payer = debtor.and_then(|debtor| Some((&*debtor.nome, debtor.cpf.as_deref().or(debtor.cnpj.as_deref())?)));
    let (nome, documento) = payer.unwrap_or(PAYER);
    let defense = infraction.defense.as_ref();
    InfractionView {
        id_infracao: &infraction.id,
        end_to_end_id: &infraction.end_to_end_id,
        protocolo: position + 1,
        data_transacao: payment.paid_at,
        valor: infraction.amount,
        chave: &psp.identity.pix_key,
        status: infraction.status,
        razao: reason(infraction.nature),
        tipo_situacao: situation(infraction.situation),
        comentario: "O pagador contesta este Pix.",
        defesa: defense.map(|defense| &*defense.text),
        identificador_ticket: [],
        dados_analise: Analysis {
            abertura: infraction.opened_at,
            prazo_finalizacao: infraction.deadline_at(),
            recebimento_defesa: defense.map(|defense| defense.at),
            finalizacao: infraction.ended_at,
        },
        origem: Side { nome_participante: PAYERS_INSTITUTION, conta: ACCOUNTS.0, nome, documento },
        destino: Side {
            nome_participante: OWN_INSTITUTION,
            conta: ACCOUNTS.1,
            nome: &psp.merchant.0,
            documento: OWN_DOCUMENT,
        },
        criado_em: infraction.created_at,
        atualizado_em: infraction.changed_at(),
    }
}

/// Returns the infraction in the form of a callback.
#[must_use]
pub fn callback(infraction: &Infraction) -> InfractionCallback<'_> {
    InfractionCallback {
        id_infracao: &infraction.id,
        end_to_end_id: &infraction.end_to_end_id,
        status: infraction.status,
    }
}

const fn reason(nature: Nature) -> &'static str {
    match nature {
        Nature::MedOperational => "falha operacional",
        Nature::MedFraud | Nature::Original | Nature::Withdrawal => "fraude",
    }
}

/// Returns Efí's name of a situation, the value of `tipoSituacao`.
#[must_use]
pub const fn situation(situation: Situation) -> &'static str {
    match situation {
        Situation::Scam => "golpe",
        Situation::AccountTakeover => "aquisição da conta",
        Situation::Coercion => "coerção",
        Situation::FraudulentAccess => "acesso fraudulento",
        Situation::Other => "outro",
        Situation::Unknown => "desconhecido",
    }
}
