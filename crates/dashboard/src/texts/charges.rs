//! The texts of charges: the page of a charge, its refunds, and the form of a new one.

catalogue! {
    /// The texts of charges.
    ChargesTexts, same: [json];

    charge: "Cobrança", "Charge";
    pending: "aguardando pagamento", "waiting for payment";
    paid: "paga", "paid";
    expired: "expirada", "expired";
    cancelled: "cancelada", "cancelled";
    refunded: "devolvida", "refunded";
    qr: "Código QR do Pix", "QR code of the Pix";
    code: "Pix copia e cola", "Pix copy-and-paste code";
    copy: "Copiar", "Copy";
    copied: "Copiado", "Copied";
    left: "Expira em", "Expires in";
    back: "Ver as transações", "Show the transactions";
    page_link: "Página de pagamento", "Payment page";
    page_hint: "Envie este link ao pagador. Qualquer pessoa com o link pode ver e pagar a cobrança.", "Send this link to the payer. Anyone with the link can see and pay the charge.";
    sandbox_pay: "Pagar no ambiente de testes", "Pay in the sandbox";

    details: "Detalhes", "Details";
    amount: "Valor", "Amount";
    fee: "Tarifa", "Fee";
    net: "Líquido", "Net";
    description: "Descrição", "Description";
    payer: "Pagador", "Payer";
    pix: "Identificador fim a fim", "End-to-end id";
    created: "Criada", "Created";
    expires: "Expira", "Expires";
    acquirer: "Instituição parceira", "Acquirer";
    disputed: "Há uma infração aberta sobre esta cobrança. Até o fim da infração, a cobrança não pode ser devolvida.", "An infraction on this charge is open. Until its end, the charge cannot be refunded.";

    splits: "Repasses", "Splits";
    split_recipient: "Conta que recebe", "Recipient";
    split_percentage: "Percentual do líquido", "Percentage of the net amount";
    split_later: "definido pelo pagamento", "fixed by the payment";

    extras: "Pagamentos inesperados", "Unexpected payments";
    extras_text: "Este dinheiro entrou no seu saldo, mas não quitou a cobrança.", "This money was credited to your balance, but did not pay the charge.";
    reason: "Motivo", "Reason";
    overpaid: "pago a mais", "overpaid";
    duplicate: "pago de novo", "paid again";
    underpaid: "pago a menos", "underpaid";
    late: "pago a uma cobrança que ainda não existia para o pagador", "paid to a charge that did not exist for the payer yet";
    received: "Recebido", "Received";

    refunds: "Devoluções", "Refunds";
    status: "Situação", "Status";
    refund_processing: "em processamento", "processing";
    refund_completed: "concluída", "completed";
    refund_failed: "falhou", "failed";
    refund: "Devolver", "Refund";
    refund_requested: "Devolução pedida", "Refund requested";
    refund_line: "Devolução", "Refund";
    refund_which: "Pagamento", "Payment";
    refund_main: "o pagamento da cobrança", "the payment of the charge";
    refund_amount: "Valor (em branco: todo o restante)", "Amount (empty: all that is left)";
    refund_rest: "Ainda pode ser devolvido", "Still refundable";
    refund_reason: "Motivo, visível ao pagador", "Reason, visible to the payer";
    refund_amount_wrong: "Informe um valor como 1.234,56.", "Enter an amount such as 1,234.56.";
    refund_reason_wrong: "O motivo tem até 140 caracteres.", "The reason has at most 140 characters.";
    refund_pix_wrong: "Escolha um pagamento desta cobrança.", "Choose a payment of this charge.";
    refund_state: "Esta cobrança não pode ser devolvida.", "This charge cannot be refunded.";
    refund_infraction: "Há uma infração aberta sobre este pagamento.", "An infraction on this payment is open.";
    refund_deadline: "O prazo de 90 dias para a devolução terminou.", "The 90 days for a refund are over.";
    refund_exceeds: "O valor é maior que o que ainda pode ser devolvido:", "The amount is above the refundable amount:";
    refund_confirm_title: "Conferir a devolução", "Check the refund";
    refund_confirm_text: "Uma devolução enviada não pode ser cancelada. Confira o valor.", "A refund that was sent cannot be cancelled. Check the amount.";
    refund_code_above: "É preciso um novo código quando os saques e as devoluções desde o último código somam mais que este valor:", "A new code is needed when the payouts and refunds since the last code add up to more than this amount:";
    refund_approved: "Esta devolução já foi confirmada. Enviar de novo não cria uma segunda devolução.", "This refund was already confirmed. Sending it again creates no second refund.";
    refund_send: "Enviar a devolução", "Send the refund";
    no_balance: "Saldo disponível insuficiente.", "Insufficient available balance.";
    no_acquirer: "A instituição parceira não está disponível. Envie este formulário de novo em alguns minutos: nada será feito duas vezes.", "The acquirer is not available. Send this form again in a few minutes: nothing is done twice.";
    unknown: "O resultado ainda não é conhecido. Envie este formulário de novo: nada será feito duas vezes.", "The outcome is not known yet. Send this form again: nothing is done twice.";
    used: "Este formulário já foi usado. Abra a página de novo.", "This form was already used. Open the page again.";
    suspended: "Sua conta está suspensa.", "Your account is suspended.";
    kyc: "Seu cadastro ainda não foi aprovado.", "Your registration is not approved yet.";
    feature: "Esta função não está habilitada na sua conta. Fale com o suporte.", "This feature is not enabled for your account. Contact support.";

    timeline: "Histórico", "Timeline";
    timeline_more: "São mostrados só os primeiros eventos.", "Only the first events are shown.";
    event: "Evento", "Event";
    delivery_pending: "entrega pendente", "delivery pending";
    next_attempt: "próxima tentativa", "next attempt";
    took: "em", "in";
    json: "JSON", "JSON";
    curl: "Com curl", "As curl";

    new: "Nova cobrança", "New charge";
    new_amount_rule: "Pelo menos R$ 2,00.", "At least R$ 2.00.";
    new_description: "Descrição, visível ao pagador (opcional)", "Description, visible to the payer (optional)";
    new_minutes: "Validade em minutos (1 a 1440)", "Lifetime in minutes (1 to 1440)";
    new_payer_name: "Nome do pagador (opcional)", "Payer's name (optional)";
    new_payer_document: "CPF ou CNPJ do pagador (opcional)", "Payer's CPF or CNPJ (optional)";
    external_id: "Seu identificador", "Your identifier";
    new_external_id: "Seu identificador (opcional)", "Your identifier (optional)";
    create: "Criar cobrança", "Create the charge";
    amount_wrong: "Informe um valor de pelo menos R$ 2,00, como 1.234,56.", "Enter an amount of at least R$ 2.00, such as 1,234.56.";
    description_wrong: "A descrição tem até 140 caracteres.", "The description has at most 140 characters.";
    minutes_wrong: "Informe de 1 a 1440 minutos.", "Enter 1 to 1440 minutes.";
    payer_name_wrong: "O nome tem até 200 caracteres.", "The name has at most 200 characters.";
    payer_document_wrong: "Informe um CPF ou CNPJ válido, ou deixe em branco.", "Enter a valid CPF or CNPJ, or leave the field empty.";
    external_id_wrong: "O identificador tem até 120 caracteres.", "The identifier has at most 120 characters.";
    external_id_used: "Outra cobrança já tem este identificador.", "Another charge has this identifier.";
    limit: "O valor está acima do limite da sua conta:", "The amount is above your account's limit:";
}
