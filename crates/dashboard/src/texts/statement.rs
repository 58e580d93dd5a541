//! The texts of the statement.

use cais_domain::ledger::{Bucket, EntryKind};

catalogue! {
    /// The texts of the statement.
    StatementTexts, same: [];

    title: "Extrato", "Statement";
    none: "Nenhum lançamento neste período.", "No entries in this period.";
    from: "De", "From";
    to: "Até", "To";
    bucket: "Saldo", "Balance";
    any_bucket: "todos", "all";
    available: "disponível", "available";
    pending: "a liberar", "pending";
    blocked: "bloqueado", "blocked";
    kind: "Tipo", "Kind";
    any_kind: "todos", "all";
    apply: "Filtrar", "Filter";
    csv: "Baixar CSV", "Download CSV";
    excel: "Baixar CSV para Excel", "Download CSV for Excel in Brazil";
    older: "Mais antigos", "Older";
    newest: "Mais recentes", "Newest";
    wrong: "Filtro inválido: os dias devem existir, e o último não pode vir antes do primeiro.", "Invalid filter: the days must exist, and the last one must not be before the first one.";
    at: "Data", "Date";
    amount: "Valor", "Amount";
    after: "Saldo depois", "Balance after";
    resource: "Referência", "Reference";
    description: "Descrição", "Description";

    charge: "cobrança paga", "paid charge";
    extra_payment: "pagamento inesperado", "unexpected payment";
    fee: "tarifa", "fee";
    split: "repasse recebido", "split received";
    release: "liberação", "release";
    payout: "saque", "payout";
    payout_failed: "saque que falhou", "failed payout";
    payout_reversed: "saque devolvido", "returned payout";
    refund: "devolução", "refund";
    refund_failed: "devolução que falhou", "failed refund";
    infraction: "bloqueio por infração", "block for an infraction";
    infraction_released: "desbloqueio de infração", "released block";
    infraction_returned: "devolução por infração", "return for an infraction";
    crypto_deposit: "depósito em cripto", "crypto deposit";
    crypto_withdrawal: "saque em cripto", "crypto withdrawal";
    crypto_withdrawal_failed: "saque em cripto que falhou", "failed crypto withdrawal";
}

impl StatementTexts {
    /// Returns the name of a kind of entry.
    pub(crate) const fn kind_of(&self, kind: EntryKind) -> &'static str {
        match kind {
            EntryKind::Charge => self.charge,
            EntryKind::ExtraPayment => self.extra_payment,
            EntryKind::Fee => self.fee,
            EntryKind::Split => self.split,
            EntryKind::Release => self.release,
            EntryKind::Payout => self.payout,
            EntryKind::PayoutFailed => self.payout_failed,
            EntryKind::PayoutReversed => self.payout_reversed,
            EntryKind::Refund => self.refund,
            EntryKind::RefundFailed => self.refund_failed,
            EntryKind::Infraction => self.infraction,
            EntryKind::InfractionReleased => self.infraction_released,
            EntryKind::InfractionReturned => self.infraction_returned,
            EntryKind::CryptoDeposit => self.crypto_deposit,
            EntryKind::CryptoWithdrawal => self.crypto_withdrawal,
            EntryKind::CryptoWithdrawalFailed => self.crypto_withdrawal_failed,
        }
    }

    /// Returns the name of a part of the balance.
    pub(crate) const fn bucket_of(&self, bucket: Bucket) -> &'static str {
        match bucket {
            // Money in transit has no entries in the statement, so its name is never shown.
            Bucket::Available | Bucket::InTransit => self.available,
            Bucket::Pending => self.pending,
            Bucket::Blocked => self.blocked,
        }
    }
}
