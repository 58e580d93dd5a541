//! The texts of the differences that a reconciliation finds.

use cais_use_cases::reconcile::DifferenceKind;

catalogue! {
    /// The texts of the differences that a reconciliation finds.
    DifferenceTexts, same: [];

    payment_missed: "Pix recebido sem crédito", "Pix received, not credited";
    payment_unknown: "Pix recebido sem cobrança", "Pix received without a charge";
    payment_amount: "Pix creditado com outro valor", "Pix credited with another amount";
    payment_not_listed: "Pix creditado, ausente na adquirente", "Credited Pix missing at the acquirer";
    payout_unknown: "Pix enviado sem saque", "Pix sent without a payout";
    payout_amount: "Saque enviado com outro valor", "Payout sent with another amount";
    payout_outcome: "Saque com outra situação", "Payout with another status";
    payout_not_listed: "Saque ausente na adquirente", "Payout missing at the acquirer";
    payout_return_unknown: "Devolução de saque sem crédito", "Return of a payout, not credited";
    refund_unknown: "Devolução feita fora do serviço", "Return made outside the service";
    refund_outcome: "Devolução com outra situação", "Refund with another status";
    refund_amount: "Devolução com outro valor", "Refund with another amount";
    infraction_returned: "Outro valor devolvido por infração", "Another amount returned for an infraction";
    deposit_missed: "Moedas recebidas sem crédito", "Coins received, not credited";
    deposit_unknown: "Moedas para um depósito desconhecido", "Coins for an unknown deposit";
    deposit_amount: "Menos moedas que o creditado", "Fewer coins than credited";
    deposit_not_listed: "Pagamento creditado, ausente no processador", "Credited payment missing at the processor";
    withdrawal_unknown: "Saque em cripto desconhecido", "Unknown crypto withdrawal";
    withdrawal_repeated: "Saque em cripto enviado de novo", "Crypto withdrawal sent again";
    withdrawal_amount: "Saque em cripto com outras moedas ou outro endereço", "Crypto withdrawal with other coins or another address";
    withdrawal_outcome: "Saque em cripto com outra situação", "Crypto withdrawal with another status";
    withdrawal_not_listed: "Saque em cripto ausente no processador", "Crypto withdrawal missing at the processor";

    pending: "pendente", "pending";
    processing: "em processamento", "processing";
    completed: "concluído", "completed";
    finished: "concluído", "finished";
    failed: "falhou", "failed";
    rejected: "recusado", "rejected";
    reversed: "estornado", "reversed";
    refunded: "devolvido", "refunded";
    no_coins: "nenhuma moeda", "no coins";
}

impl DifferenceTexts {
    /// Returns the name of a kind.
    pub(crate) const fn kind(&self, kind: DifferenceKind) -> &'static str {
        match kind {
            DifferenceKind::PaymentMissed => self.payment_missed,
            DifferenceKind::PaymentUnknown => self.payment_unknown,
            DifferenceKind::PaymentAmount => self.payment_amount,
            DifferenceKind::PaymentNotListed => self.payment_not_listed,
            DifferenceKind::PayoutUnknown => self.payout_unknown,
            DifferenceKind::PayoutAmount => self.payout_amount,
            DifferenceKind::PayoutOutcome => self.payout_outcome,
            DifferenceKind::PayoutNotListed => self.payout_not_listed,
            DifferenceKind::PayoutReturnUnknown => self.payout_return_unknown,
            DifferenceKind::RefundUnknown => self.refund_unknown,
            DifferenceKind::RefundOutcome => self.refund_outcome,
            DifferenceKind::RefundAmount => self.refund_amount,
            DifferenceKind::InfractionReturned => self.infraction_returned,
            DifferenceKind::DepositMissed => self.deposit_missed,
            DifferenceKind::DepositUnknown => self.deposit_unknown,
            DifferenceKind::DepositAmount => self.deposit_amount,
            DifferenceKind::DepositNotListed => self.deposit_not_listed,
            DifferenceKind::WithdrawalUnknown => self.withdrawal_unknown,
            DifferenceKind::WithdrawalRepeated => self.withdrawal_repeated,
            DifferenceKind::WithdrawalAmount => self.withdrawal_amount,
            DifferenceKind::WithdrawalOutcome => self.withdrawal_outcome,
            DifferenceKind::WithdrawalNotListed => self.withdrawal_not_listed,
        }
    }

    /// Returns the name of a status; `None` for a text that is no single status.
    pub(crate) fn status(&self, status: &str) -> Option<&'static str> {
        let text = match status {
            "pending" => self.pending,
            "processing" => self.processing,
            "completed" => self.completed,
            "finished" => self.finished,
            "failed" => self.failed,
            "rejected" => self.rejected,
            "reversed" => self.reversed,
            "refunded" => self.refunded,
            "no coins" => self.no_coins,
            _ => return None,
        };
        Some(text)
    }
}
