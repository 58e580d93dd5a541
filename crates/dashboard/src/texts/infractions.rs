//! The texts of the pages of infractions.

use cais_domain::infraction::{InfractionStatus, Situation};

catalogue! {
    /// The texts of the pages of infractions.
    InfractionTexts, same: [];

    title: "Infrações", "Infractions";
    intro: "O pagador contestou um Pix (MED). O valor fica bloqueado até a decisão da instituição parceira.", "The payer disputed a Pix (MED). The amount stays blocked until the acquirer's decision.";
    none: "Nenhuma infração nesta lista.", "No infractions in this list.";
    unresolved: "Em aberto, por prazo", "Unresolved, by deadline";
    cut: "A lista mostra as 50 infrações com os prazos mais próximos. Escolha uma situação para ver as outras.", "The list shows the 50 infractions with the nearest deadlines. Choose a status to see the others.";
    all: "Todas", "All";
    filter: "Filtro", "Filter";
    older: "Mais antigas", "Older";
    newest: "Mais recentes", "Newest";
    back: "Ver as infrações", "Show the infractions";

    status: "Situação", "Status";
    open: "aberta", "open";
    under_review: "em análise", "under review";
    won: "ganha", "won";
    lost: "perdida", "lost";
    cancelled: "cancelada", "cancelled";
    opened: "Aberta em", "Opened";
    deadline: "Prazo da defesa", "Deadline for the defense";
    left: "faltam", "left:";
    until: "até", "until";
    no_deadline: "sem prazo informado", "no deadline reported";
    amount: "Valor contestado", "Disputed amount";
    blocked: "Valor bloqueado", "Blocked amount";
    situation: "Relato do pagador", "Report of the payer";
    reason: "Motivo informado", "Reported reason";
    charge: "Cobrança", "Charge";
    external_id: "Seu identificador", "Your identifier";
    end_to_end_id: "Identificador fim a fim", "End-to-end id";
    defended: "defesa enviada", "defense sent";
    undefended: "sem defesa", "no defense";

    scam: "O pagador diz que foi enganado (golpe).", "The payer reports a scam.";
    account_takeover: "O pagador diz que outra pessoa assumiu o controle da conta dele.", "The payer reports that another person took over the account.";
    coercion: "O pagador diz que foi forçado a pagar.", "The payer reports coercion.";
    fraudulent_access: "O pagador diz que outra pessoa usou os dados de acesso dele.", "The payer reports that another person used the credentials.";
    other: "Outra situação.", "Another situation.";
    unknown: "A instituição parceira não informou a situação.", "The acquirer did not report the situation.";

    checklist: "O que ajuda uma defesa", "What helps a defense";
    checklist_delivery: "Prova de entrega: código de rastreio, assinatura ou foto, com data e endereço.", "Proof of delivery: tracking code, signature or photo, with date and address.";
    checklist_invoice: "Nota fiscal ou pedido com o mesmo valor, a mesma data e o nome do comprador.", "Invoice or order with the same amount, the same date and the name of the buyer.";
    checklist_identity: "Cadastro do comprador: CPF, e-mail e telefone, e se o CPF é o do pagador do Pix.", "Registration of the buyer: CPF, e-mail and phone, and a note whether the CPF is the payer's.";
    checklist_messages: "Conversas em que o comprador confirma a compra ou o recebimento.", "Messages in which the buyer confirms the purchase or the receipt.";
    checklist_access: "Produto digital: registros de acesso com data, hora e endereço IP.", "Digital product: access logs with date, time and IP address.";
    checklist_history: "Compras anteriores da mesma pessoa que não foram contestadas.", "Earlier purchases of the same person that were not disputed.";
    checklist_refund: "Devolução já feita: data, valor e identificador.", "A refund that was already made: date, amount and id.";

    defend: "Enviar a defesa", "Submit the defense";
    defend_once: "Cada infração aceita uma só defesa, que não pode ser alterada. Sem defesa, a contestação costuma ser aceita.", "An infraction has one defense, which cannot be changed. Without a defense, the dispute is usually accepted.";
    text: "Texto da defesa", "Text of the defense";
    text_rule: "De 1 a 2.000 caracteres. Comece pelos fatos: o que foi vendido, quando e como foi entregue.", "1 to 2,000 characters. Begin with the facts: the goods, the date and the delivery.";
    url: "Endereço das provas (opcional)", "Address of the evidence (optional)";
    url_rule: "Um endereço https com os documentos, de até 500 caracteres, sem usuário nem senha. Não é possível anexar arquivos.", "An https address of the documents, of at most 500 characters, without user or password. Files cannot be attached.";
    submitted: "Defesa", "Defense";
    submitted_elsewhere: "A defesa foi enviada fora deste serviço. O texto não está disponível.", "The defense was submitted outside this service. Its text is not available.";
    waiting: "A instituição parceira ainda não confirmou a defesa. A situação é consultada automaticamente.", "The acquirer has not confirmed the defense yet. The status is checked automatically.";
    evidence: "Provas", "Evidence";
    decision: "Decisão", "Decision";
    decision_won: "A contestação foi rejeitada. O valor bloqueado foi liberado.", "The dispute was rejected. The blocked amount was released.";
    decision_lost: "A contestação foi aceita. Voltou ao pagador:", "The dispute was accepted. Returned to the payer:";
    decision_cancelled: "A contestação foi retirada. O valor bloqueado foi liberado.", "The dispute was withdrawn. The blocked amount was released.";
    review: "Os registros da instituição parceira não permitem uma decisão automática. Um operador vai decidir; o valor fica bloqueado até lá.", "The acquirer's records do not allow an automatic decision. An operator decides, and the amount stays blocked until then.";

    timeline: "Histórico", "Timeline";
    event_opened: "O pagador abriu a contestação", "The payer opened the dispute";
    event_stored: "A contestação foi registrada aqui e o valor foi bloqueado", "The dispute was stored here, and the amount was blocked";
    event_sent: "Defesa enviada", "Defense sent";
    event_received: "A instituição parceira confirmou a defesa", "The acquirer confirmed the defense";
    event_resolved: "Decisão", "Decision";
    raw: "JSON da API", "JSON of the API";

    text_wrong: "O texto deve ter de 1 a 2.000 caracteres.", "The text must have 1 to 2,000 characters.";
    url_wrong: "O endereço deve começar com https://, ter até 500 caracteres e não conter usuário nem senha.", "The address must begin with https://, have at most 500 characters, and contain no user or password.";
    suspended: "Sua conta está suspensa e não pode enviar defesas.", "Your account is suspended and cannot submit defenses.";
    ended: "A infração já foi encerrada.", "The infraction has ended.";
    defended_already: "A infração já tem uma defesa.", "The infraction already has a defense.";
    too_late: "O prazo da defesa terminou.", "The deadline for the defense has passed.";
    refused: "A instituição parceira recusou esta defesa. Corrija e envie de novo. Motivo:", "The acquirer refused this defense. Correct it and send it again. Reason:";
    no_acquirer: "A instituição parceira não está disponível. A defesa não foi enviada. Tente de novo em alguns minutos.", "The acquirer is not available. The defense was not sent. Try again in a few minutes.";
}

impl InfractionTexts {
    /// Returns the name of a status.
    pub(crate) const fn status_of(&self, status: InfractionStatus) -> &'static str {
        match status {
            InfractionStatus::Open => self.open,
            InfractionStatus::UnderReview => self.under_review,
            InfractionStatus::Won => self.won,
            InfractionStatus::Lost => self.lost,
            InfractionStatus::Cancelled => self.cancelled,
        }
    }

    /// Returns the report of the payer.
    pub(crate) const fn situation_of(&self, situation: Situation) -> &'static str {
        match situation {
            Situation::Scam => self.scam,
            Situation::AccountTakeover => self.account_takeover,
            Situation::Coercion => self.coercion,
            Situation::FraudulentAccess => self.fraudulent_access,
            Situation::Other => self.other,
            Situation::Unknown => self.unknown,
        }
    }

    /// Returns the list of contents that help a defense.
    pub(crate) const fn checklist(&self) -> [&'static str; 7] {
        [
            self.checklist_delivery,
            self.checklist_invoice,
            self.checklist_identity,
            self.checklist_messages,
            self.checklist_access,
            self.checklist_history,
            self.checklist_refund,
        ]
    }
}
