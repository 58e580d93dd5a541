//! The texts of the pages of crypto.

use cais_domain::crypto::deposit::{DepositStatus, PaymentResolution, PaymentReview, Resolution};
use cais_domain::crypto::withdrawal::WithdrawalStatus;

catalogue! {
    /// The texts of the pages of crypto.
    CryptoTexts, same: [];

    title: "Cripto", "Crypto";
    unavailable: "Cripto não está disponível neste serviço.", "Crypto is not available in this service.";
    no_prices: "As cotações não estão disponíveis agora. Tente de novo em alguns segundos.", "Rates are not available now. Try again in a few seconds.";
    deposits: "Depósitos", "Deposits";
    withdrawals: "Saques em cripto", "Crypto withdrawals";
    new_deposit: "Novo depósito", "New deposit";
    new_withdrawal: "Novo saque em cripto", "New crypto withdrawal";
    currencies: "Moedas e mínimos", "Currencies and minimums";
    currency: "Moeda", "Currency";
    network: "Rede", "Network";
    min_deposit: "Depósito mínimo", "Minimum deposit";
    min_withdrawal: "Saque mínimo", "Minimum withdrawal";
    now_unavailable: "indisponível agora", "not available now";
    no_deposits: "Nenhum depósito ainda.", "No deposits yet.";
    no_withdrawals: "Nenhum saque em cripto ainda.", "No crypto withdrawals yet.";
    older: "Mais antigos", "Older";
    newest: "Mais recentes", "Newest";

    status: "Situação", "Status";
    pending: "aguardando", "waiting";
    confirming: "confirmando na rede", "confirming on the network";
    completed: "concluído", "completed";
    underpaid: "pago a menos", "underpaid";
    expired: "expirado", "expired";
    failed: "falhou", "failed";
    refunded: "devolvido", "refunded";
    processing: "em processamento", "processing";
    amount: "Valor", "Amount";
    amount_rule: "Em reais: 1.234,56", "In reais: 1,234.56";
    fee: "Tarifa", "Fee";
    net: "Valor líquido", "Net amount";
    total: "Total debitado", "Total debit";
    rate: "Cotação", "Rate";
    rate_unit: "por unidade", "per coin";
    coins: "Quantidade", "Coins";
    coins_to_pay: "Quantidade a pagar", "Coins to pay";
    coins_received: "Quantidade creditada", "Credited coins";
    coins_estimate: "Quantidade, pela cotação atual", "Coins, at the current rate";
    price_holds: "Se a cotação expirar antes do envio, a página mostra uma nova, e você envia de novo.", "If the quote expires before you send, the page shows a new one, and you send again.";
    price_renewed: "A cotação expirou e nada foi enviado. Confira a nova cotação e envie de novo.", "The quote has expired, and nothing was sent. Check the new quote and send again.";
    network_fee: "Taxa da rede (informativa)", "Network fee (for information)";
    address: "Endereço", "Address";
    memo: "Memo (obrigatório)", "Memo (required)";
    qr: "Código QR do pagamento", "QR code of the payment";
    copy: "Copiar", "Copy";
    copied: "Copiado", "Copied";
    expires: "Expira em", "Expires";
    left: "Faltam", "Left:";
    until: "Até", "Until";
    created: "Criado", "Created";
    confirmed_at: "Visto na rede em", "Seen on the network at";
    completed_at: "Concluído em", "Completed at";
    tx_hash: "Transação na rede", "Transaction on the network";
    external_id: "Seu identificador", "Your identifier";
    external_id_optional: "Seu identificador (opcional)", "Your identifier (optional)";
    description: "Descrição", "Description";
    description_optional: "Descrição (opcional)", "Description (optional)";
    failure: "Motivo da falha", "Reason for the failure";
    review: "Um operador vai conferir este saque. O valor fica reservado até lá.", "An operator checks this withdrawal. The amount stays reserved until then.";
    resolution: "Resultado", "Result";
    payments: "Pagamentos recebidos", "Received payments";
    credited: "Creditado", "Credited";
    payment_credited: "creditado", "credited";
    payment_in_review: "em conferência por um operador:", "under review by an operator:";
    payment_dismissed: "não creditado", "not credited";
    live: "A situação é atualizada automaticamente.", "The status is updated automatically.";
    raw: "JSON da API", "JSON of the API";
    back: "Ver cripto", "Show crypto";

    exact: "valor exato", "exact";
    less: "a menos", "underpaid";
    more: "a mais", "overpaid";
    late: "atrasado", "late";
    repeated: "pagamento repetido", "repeated payment";
    wrong_asset: "outra moeda", "another currency";
    too_late: "chegou tarde demais para a cotação", "arrived too late for the rate";
    too_many: "mais que o dobro da quantidade pedida", "more than twice the request";
    unexpected: "o depósito já estava encerrado", "the deposit was over already";
    fewer: "o processador mostra menos que a quantidade creditada", "the processor shows fewer coins than were credited";
    not_finished: "o processador talvez não tenha recebido o pagamento", "the processor may not have the coins";

    quote: "Conferir a cotação", "Check the quote";
    quote_valid: "A cotação vale por 60 segundos.", "The quote is valid for 60 seconds.";
    quote_over: "A cotação expirou ou já foi usada. Peça outra.", "The quote has expired or was used. Request another one.";
    create: "Criar o depósito", "Create the deposit";
    confirm_title: "Conferir o saque em cripto", "Check the crypto withdrawal";
    confirm_text: "Um envio em cripto não pode ser desfeito. Confira a moeda, a rede e cada caractere do endereço.", "A crypto withdrawal cannot be undone. Check the currency, the network and each character of the address.";
    code_always: "Cada saque em cripto exige um código do autenticador.", "Each crypto withdrawal needs a code from the authenticator.";
    approved: "Este saque já foi confirmado. Enviar de novo não cria um segundo saque.", "This withdrawal was already confirmed. Sending it again creates no second withdrawal.";
    send: "Enviar o saque", "Send the withdrawal";

    amount_wrong: "Informe um valor em reais, com até duas casas decimais.", "Enter an amount in reais, with at most two decimals.";
    currency_wrong: "Escolha uma moeda da lista.", "Choose a currency from the list.";
    address_wrong: "O endereço não é válido para esta moeda e rede.", "The address is not valid for this currency and network.";
    description_wrong: "A descrição deve ter até 140 caracteres, em uma linha.", "The description must have at most 140 characters, in one line.";
    external_id_wrong: "O identificador deve ter até 120 caracteres, em uma linha.", "The identifier must have at most 120 characters, in one line.";
    suspended: "Sua conta está suspensa.", "Your account is suspended.";
    kyc: "Seu cadastro ainda não foi aprovado.", "Your registration is not approved yet.";
    feature: "Esta função não está habilitada na sua conta. Fale com o suporte.", "This feature is not enabled for your account. Contact support.";
    limit: "O valor está acima do limite da sua conta:", "The amount is above your account's limit:";
    minimum: "O valor está abaixo do mínimo atual:", "The amount is below the current minimum:";
    not_covered: "O saldo disponível não cobre o valor e a tarifa. Nada foi enviado.", "The available balance does not cover the amount and the fee. Nothing was sent.";
    external_id_taken: "Já existe um registro com este identificador e outros dados. Nada foi criado.", "A record with this identifier and other data already exists. Nothing was created.";
    in_progress: "O pedido está em andamento. Tente de novo em alguns segundos: nada será feito duas vezes.", "The request is in progress. Try again in a few seconds: nothing is done twice.";
    no_processor: "O processador não está disponível agora. Nada foi criado. Tente de novo em alguns minutos.", "The processor is not available now. Nothing was created. Try again in a few minutes.";
}

impl CryptoTexts {
    /// Returns the name of a deposit's status.
    pub(crate) const fn deposit(&self, status: DepositStatus) -> &'static str {
        match status {
            DepositStatus::Creating | DepositStatus::Abandoned | DepositStatus::Pending => self.pending,
            DepositStatus::Confirming => self.confirming,
            DepositStatus::Completed => self.completed,
            DepositStatus::Underpaid => self.underpaid,
            DepositStatus::Expired => self.expired,
            DepositStatus::Failed => self.failed,
            DepositStatus::Refunded => self.refunded,
        }
    }

    /// Returns the name of a withdrawal's status.
    pub(crate) const fn withdrawal(&self, status: WithdrawalStatus) -> &'static str {
        match status {
            WithdrawalStatus::Pending | WithdrawalStatus::Abandoned | WithdrawalStatus::Processing => self.processing,
            WithdrawalStatus::Completed => self.completed,
            WithdrawalStatus::Failed => self.failed,
        }
    }

    /// Returns the name of a deposit's result.
    pub(crate) const fn resolution_of(&self, resolution: Resolution) -> &'static str {
        match resolution {
            Resolution::Exact => self.exact,
            Resolution::Underpaid => self.less,
            Resolution::Overpaid => self.more,
            Resolution::Late => self.late,
        }
    }

    /// Returns the text for a payment compared with its deposit, such as underpaid or late.
    pub(crate) const fn payment(&self, resolution: PaymentResolution) -> &'static str {
        match resolution {
            PaymentResolution::Exact => self.exact,
            PaymentResolution::Underpaid => self.less,
            PaymentResolution::Overpaid => self.more,
            PaymentResolution::Late => self.late,
            PaymentResolution::Repeated => self.repeated,
            PaymentResolution::WrongAsset => self.wrong_asset,
        }
    }

    /// Returns the reason why an operator must decide on a payment.
    pub(crate) const fn review_of(&self, review: PaymentReview) -> &'static str {
        match review {
            PaymentReview::WrongAsset => self.wrong_asset,
            PaymentReview::TooLate => self.too_late,
            PaymentReview::TooMany => self.too_many,
            PaymentReview::UnexpectedState => self.unexpected,
            PaymentReview::FewerCoins => self.fewer,
            PaymentReview::NotFinished => self.not_finished,
        }
    }
}
