//! The texts of the pages on which operators decide records in review.

use cais_domain::infraction::ReviewReason;

catalogue! {
    /// The texts of the pages on which operators decide records in review.
    ReviewTexts, same: [];

    infractions: "Infrações a decidir", "Infractions in review";
    infractions_text: "Os registros da adquirente não decidem estas infrações. O valor fica bloqueado até a decisão de um operador.", "The acquirer's records do not decide these infractions. Their amounts stay blocked until an operator decides.";
    infractions_none: "Nenhuma infração espera uma decisão.", "No infraction waits for a decision.";
    infractions_back: "Ver as infrações a decidir", "Show the infractions in review";
    crypto: "Cripto a decidir", "Crypto in review";
    crypto_text: "Até 200 saques e 200 pagamentos aparecem aqui, os mais antigos primeiro. O processador é consultado de novo antes de cada decisão sobre um saque e antes de cada crédito.", "At most 200 withdrawals and 200 payments are shown, the oldest first. The processor is read again before each decision on a withdrawal and before each credit.";
    withdrawals_none: "Nenhum saque em cripto espera uma decisão.", "No crypto withdrawal waits for a decision.";
    payments: "Pagamentos de depósitos", "Payments of deposits";
    payments_none: "Nenhum pagamento espera uma decisão.", "No payment waits for a decision.";

    account: "Conta", "Account";
    since: "Em espera desde", "Waiting since";
    reason: "Motivo da espera", "Reason of the review";
    limit: "Valor a bloquear", "Amount to block";
    acquirer: "Adquirente", "Acquirer";
    deposit: "Depósito", "Deposit";
    processor: "Processador", "Processor";
    batch: "Id no processador", "Id at the processor";
    batch_unknown: "desconhecido", "unknown";
    unexplained_return: "foi devolvido mais do que as infrações explicam", "more was returned than the infractions explain";
    missing_return: "a contestação foi aceita, mas falta parte da devolução", "the dispute was accepted, and a part of the return is missing";
    reopened_unseen: "a contestação foi encerrada e reaberta entre duas consultas", "the dispute was resolved and reopened between two reads";

    decide: "Decidir", "Decide";
    outcome: "Decisão", "Decision";
    choose: "Escolha", "Choose";
    won: "ganha: o valor bloqueado volta à conta", "won: the blocked amount returns to the account";
    lost: "perdida: o valor foi devolvido ao pagador", "lost: the amount was returned to the payer";
    cancelled: "cancelada: a contestação foi retirada", "cancelled: the dispute was withdrawn";
    lost_amount: "Valor devolvido ao pagador (R$), só para “perdida”", "Amount returned to the payer (R$), for “lost” only";
    lost_amount_rule: "Vazio: todo o valor contestado. O resto volta à conta.", "Empty: the whole contested amount. The rest returns to the account.";
    whole: "todo o valor contestado", "the whole contested amount";
    sent: "Foi enviado", "The coins were sent";
    failed: "Não será enviado: devolver valor e tarifa à conta", "The coins are never sent: return amount and fee to the account";
    tx_hash: "Transação na rede", "Transaction on the network";
    credit: "Creditar um valor", "Credit an amount";
    credit_at_rate: "Creditar pela cotação do depósito, menos a tarifa", "Credit at the rate of the deposit, less the fee";
    credit_amount: "Valor a creditar, sem tarifa (R$)", "Amount to credit, without a fee (R$)";
    dismiss: "Não creditar", "Credit nothing more";
    note: "Justificativa, para a auditoria", "Reason of the decision, for the audit log";
    infraction: "Decidir a infração", "Decide the infraction";
    withdrawal: "Decidir o saque em cripto", "Decide the crypto withdrawal";
    payment: "Decidir o pagamento", "Decide the payment";

    outcome_wrong: "Escolha uma decisão.", "Choose a decision.";
    amount_wrong: "Informe um valor acima de zero, por exemplo 20,50.", "Enter an amount above zero, such as 20.50.";
    amount_unused: "O valor só se aplica à decisão “perdida”.", "The amount applies to the decision “lost” only.";
    note_wrong: "A justificativa deve ter de 1 a 500 caracteres, em uma linha.", "The reason must have 1 to 500 characters, in one line.";
    tx_hash_wrong: "Informe a transação na rede, em uma linha.", "Enter the transaction on the network, in one line.";

    not_waiting: "O registro não espera mais uma decisão. Nada foi alterado.", "The record no longer waits for a decision. Nothing was changed.";
    changed: "O registro mudou depois de ser exibido. Nada foi alterado. Confira e decida de novo.", "The record has changed since it was shown. Nothing was changed. Check it and decide again.";
    too_much: "O valor está acima do valor contestado. Nada foi alterado. Valor contestado:", "The amount is above the contested amount. Nothing was changed. Contested amount:";
    shown: "O registro do processador exclui esta decisão. Nada foi alterado.", "The processor's record excludes this decision. Nothing was changed.";
    not_shown: "O processador já mostrou este saque e não o mostra agora. Nada foi alterado. Pergunte ao processador.", "The processor has shown this withdrawal before, and does not show it now. Nothing was changed. Ask the processor.";
    unread: "O processador não respondeu. Nada foi alterado. Tente de novo em alguns minutos.", "The processor could not be read. Nothing was changed. Try again in a few minutes.";
    returned: "O processador devolveu o pagamento ao pagador. Nada foi alterado.", "The processor returned the coins to the payer. Nothing was changed.";
    coins_differ: "O processador mostra outra quantidade. Nada foi alterado. Abra o depósito antes de decidir.", "The processor shows other coins. Nothing was changed. Read the deposit before the decision.";
    nothing_left: "O processador mostra menos que a quantidade creditada. Nada foi alterado; não há o que creditar.", "The processor shows fewer coins than were credited. Nothing was changed; no coins are left to credit.";
    no_rate: "A cotação do depósito não vale para este pagamento: a moeda é outra, ou uma parte já foi creditada. Nada foi alterado.", "The deposit's rate does not apply to this payment: the currency is another one, or a part was credited before. Nothing was changed.";
    impossible: "A decisão não é possível para este pagamento. Nada foi alterado.", "The decision is not possible for this payment. Nothing was changed.";
}

impl ReviewTexts {
    /// Returns the reason for which an infraction waits for an operator.
    pub(crate) const fn reason_of(&self, reason: ReviewReason) -> &'static str {
        match reason {
            ReviewReason::UnexplainedReturn => self.unexplained_return,
            ReviewReason::MissingReturn => self.missing_return,
            ReviewReason::ReopenedUnseen => self.reopened_unseen,
        }
    }
}
