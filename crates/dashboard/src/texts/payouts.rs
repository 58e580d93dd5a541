//! The texts of the pages of payouts.

use cais_domain::payout::PayoutStatus;
use cais_domain::pix_key::PixKeyType;

catalogue! {
    /// The texts of the pages of payouts.
    PayoutTexts, same: [kind_cpf, kind_cnpj, kind_email];

    title: "Saques", "Payouts";
    none: "Nenhum saque ainda.", "No payouts yet.";
    new: "Novo saque", "New payout";
    older: "Mais antigos", "Older";
    newest: "Mais recentes", "Newest";

    status: "Situação", "Status";
    processing: "em processamento", "processing";
    completed: "concluído", "completed";
    failed: "falhou", "failed";
    reversed: "devolvido", "reversed";
    kind: "Tipo de chave", "Key type";
    kind_cpf: "CPF", "CPF";
    kind_cnpj: "CNPJ", "CNPJ";
    kind_email: "e-mail", "e-mail";
    kind_phone: "telefone", "phone";
    kind_evp: "aleatória", "random";
    key: "Chave Pix", "Pix key";
    key_rule: "CPF, CNPJ, e-mail, telefone com + e o código do país (+5511987654321), ou chave aleatória.", "CPF, CNPJ, e-mail, phone with + and the country code (+5511987654321), or random key.";
    recipient: "Favorecido", "Recipient";
    document: "CPF ou CNPJ do favorecido", "CPF or CNPJ of the recipient";
    amount: "Valor", "Amount";
    amount_rule: "Em reais: 1.234,56", "In reais: 1,234.56";
    fee: "Tarifa", "Fee";
    total: "Total debitado", "Total debit";
    returned: "Valor devolvido", "Returned amount";
    description: "Descrição para o favorecido (opcional)", "Description for the recipient (optional)";
    described: "Descrição", "Description";
    external_id: "Seu identificador", "Your identifier";
    external_id_optional: "Seu identificador (opcional)", "Your identifier (optional)";
    external_id_rule: "Repetir um identificador não cria outro saque.", "A repeated identifier creates no second payout.";
    end_to_end_id: "Identificador fim a fim", "End-to-end id";
    created: "Criado", "Created";
    completed_at: "Concluído em", "Completed at";
    origin: "Origem", "Origin";
    origin_api: "pela API", "by the API";
    origin_manual: "pelo painel", "by the dashboard";
    failure: "Motivo da falha", "Reason for the failure";
    failure_message: "Mensagem da instituição parceira", "Message of the acquirer";
    given_back: "O valor e a tarifa voltaram para o saldo disponível.", "The amount and the fee are available again.";
    live: "A situação é atualizada automaticamente até o resultado do saque.", "The status is updated automatically until the payout has a result.";
    raw: "JSON da API", "JSON of the API";
    back: "Ver os saques", "Show the payouts";

    confirm_title: "Conferir o saque", "Check the payout";
    confirm_text: "Um Pix enviado não pode ser cancelado. Confira a chave e o valor.", "A Pix that was sent cannot be cancelled. Check the key and the amount.";
    available_before: "Saldo disponível antes", "Available balance before";
    available_after: "Saldo disponível depois", "Available balance after";
    code_above: "É preciso um novo código quando os saques e as devoluções desde o último código somam mais que este valor:", "A new code is needed when the payouts and refunds since the last code add up to more than this amount:";
    approved: "Este saque já foi confirmado. Enviar de novo não cria um segundo saque.", "This payout was already confirmed. Sending it again creates no second payout.";
    send: "Enviar o saque", "Send the payout";

    amount_wrong: "Informe um valor em reais a partir de 0,01, com até duas casas decimais.", "Enter an amount in reais of at least 0.01, with at most two decimals.";
    key_wrong: "A chave Pix não é válida. Um telefone começa com + e o código do país: +5511987654321.", "The Pix key is not valid. A phone begins with + and the country code: +5511987654321.";
    description_wrong: "A descrição deve ter até 140 caracteres, em uma linha.", "The description must have at most 140 characters, in one line.";
    external_id_wrong: "O identificador deve ter até 120 caracteres, em uma linha.", "The identifier must have at most 120 characters, in one line.";
    suspended: "Sua conta está suspensa e não pode enviar saques.", "Your account is suspended and cannot send payouts.";
    kyc: "Seu cadastro ainda não foi aprovado.", "Your registration is not approved yet.";
    feature: "Saques não estão habilitados na sua conta. Fale com o suporte.", "Payouts are not enabled for your account. Contact support.";
    limit: "O valor está acima do limite da sua conta por saque:", "The amount is above your account's limit per payout:";
    not_covered: "O saldo disponível não cobre o valor e a tarifa. Nada foi enviado.", "The available balance does not cover the amount and the fee. Nothing was sent.";
    external_id_taken: "Já existe um saque com este identificador e outro valor ou outra chave. Nada foi enviado.", "A payout with this identifier and another amount or key already exists. Nothing was sent.";
    in_progress: "O saque está sendo enviado. Tente de novo em alguns segundos: ele não será enviado duas vezes.", "The payout is being sent. Try again in a few seconds: it is not sent twice.";
    no_acquirer: "A instituição parceira não está disponível agora. Nada foi enviado. Tente de novo em alguns minutos.", "The acquirer is not available now. Nothing was sent. Try again in a few minutes.";

    code_account: "A conta do favorecido não existe ou não é válida.", "The recipient's account does not exist or is not valid.";
    code_closed: "A conta do favorecido está encerrada.", "The recipient's account is closed.";
    code_blocked: "A conta do favorecido está bloqueada.", "The recipient's account is blocked.";
    code_kind: "A conta do favorecido não recebe este tipo de pagamento.", "The recipient's account does not accept this kind of payment.";
    code_limit: "O valor está acima do limite de uma das instituições.", "The amount is above the limit of one of the institutions.";
    code_funds: "A instituição parceira não tinha saldo na conta de liquidação.", "The acquirer had no funds in its settlement account.";
    code_document: "O documento informado não é o do titular da chave.", "The document is not that of the owner of the key.";
    code_rejected: "A instituição do favorecido recusou o Pix.", "The institution of the recipient rejected the Pix.";
    code_time: "A instituição do favorecido não respondeu a tempo.", "The institution of the recipient did not answer in time.";
    code_other: "Veja abaixo a mensagem da instituição parceira.", "See the message of the acquirer below.";
}

impl PayoutTexts {
    /// Returns the name of a status.
    pub(crate) const fn status_of(&self, status: PayoutStatus) -> &'static str {
        match status {
            PayoutStatus::Pending | PayoutStatus::Abandoned | PayoutStatus::Processing => self.processing,
            PayoutStatus::Completed => self.completed,
            PayoutStatus::Failed => self.failed,
            PayoutStatus::Reversed => self.reversed,
        }
    }

    /// Returns the name of a kind of Pix key.
    pub(crate) const fn kind_of(&self, kind: PixKeyType) -> &'static str {
        match kind {
            PixKeyType::Cpf => self.kind_cpf,
            PixKeyType::Cnpj => self.kind_cnpj,
            PixKeyType::Email => self.kind_email,
            PixKeyType::Phone => self.kind_phone,
            PixKeyType::Evp => self.kind_evp,
        }
    }

    /// Finds the payment system's code in the reason of a failure. Returns the code and its meaning. If the reason
    /// contains no known code, returns `None` and a general text.
    pub(crate) fn failure_of<'r>(&self, reason: &'r str) -> (Option<&'r str>, &'static str) {
        let words = reason.split(|character: char| !character.is_ascii_alphanumeric());
        let mut known = words.filter_map(|word| self.code_of(word).map(|text| (Some(word), text)));
        known.next().unwrap_or((None, self.code_other))
    }

    /// Returns the meaning of a code of the payment system (ISO 20022, external status reasons).
    fn code_of(&self, code: &str) -> Option<&'static str> {
        Some(match code {
            "AC03" | "AC01" => self.code_account,
            "AC04" | "AC07" => self.code_closed,
            "AC06" => self.code_blocked,
            "AC14" | "AG03" => self.code_kind,
            "AM02" | "AM14" => self.code_limit,
            "AM04" => self.code_funds,
            "BE01" => self.code_document,
            "DS04" | "DS0G" | "RR04" | "SL02" => self.code_rejected,
            "AB03" | "AB09" | "AB11" => self.code_time,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::Language;

    #[test]
    fn failure_code_is_found_in_the_reason() {
        let t = PayoutTexts::of(Language::Portuguese);
        assert_eq!(t.failure_of("AC03"), (Some("AC03"), t.code_account));
        assert_eq!(t.failure_of("rejected (AB09): timeout"), (Some("AB09"), t.code_time));
        assert_eq!(t.failure_of("the account is closed"), (None, t.code_other));
        assert_eq!(t.failure_of("XAC03"), (None, t.code_other));
    }
}
