//! The texts of the pages of operators.

catalogue! {
    /// The texts of the pages of operators.
    OperatorTexts, same: [email, kyc];

    accounts: "Contas", "Accounts";
    accounts_back: "Ver as contas", "Show the accounts";
    accounts_all: "Todas as contas", "All accounts";
    accounts_queue: "Cadastros em análise", "Registrations under review";
    accounts_none: "Nenhuma conta encontrada.", "No accounts found.";
    accounts_search: "E-mail ou id da conta", "E-mail or account id";
    search: "Buscar", "Search";
    email: "E-mail", "E-mail";
    name: "Nome", "Name";
    document: "CPF ou CNPJ", "CPF or CNPJ";
    kyc: "KYC", "KYC";
    kyc_pending: "em análise", "under review";
    kyc_approved: "aprovado", "approved";
    kyc_rejected: "recusado", "rejected";
    status: "Situação", "Status";
    active: "ativa", "active";
    suspended: "suspensa", "suspended";
    created: "Criada", "Created";
    features: "Funções", "Features";
    none: "nenhuma", "none";
    next_page: "Próxima página", "Next page";
    changed: "Alteração gravada.", "The change is saved.";
    change_hint: "Cada alteração pede um código do autenticador.", "Each change needs a code from the authenticator.";
    changed_meanwhile: "A conta foi alterada enquanto o formulário estava aberto. Confira os valores e envie de novo.", "The account was changed while the form was open. Check the values and send the form again.";
    change_wrong: "O formulário não contém uma alteração conhecida.", "The form contains no known change.";

    approve: "Aprovar o cadastro", "Approve the registration";
    approve_text: "A aprovação habilita o recebimento e o envio de Pix.", "The approval enables receiving and sending Pix.";
    reject: "Recusar o cadastro", "Reject the registration";
    reject_text: "Com o cadastro recusado, a conta não usa nenhuma função. A aprovação ainda é possível depois.", "With a rejected registration the account can use no feature. The approval is still possible afterwards.";
    suspend: "Suspender a conta", "Suspend the account";
    suspend_text: "Uma conta suspensa só consulta os seus dados e não inicia operações.", "A suspended account can read its data and cannot start operations.";
    resume: "Reativar a conta", "Resume the account";
    set_features: "Alterar as funções", "Change the features";

    fees: "Tarifas", "Fees";
    set_fees: "Alterar a tarifa", "Change the fee";
    fees_text: "As cobranças existentes mantêm a tarifa do momento da criação.", "Existing charges keep the fee of the time of their creation.";
    operation: "Operação", "Operation";
    fee: "Tarifa", "Fee";
    fee_fixed: "Valor fixo (R$)", "Fixed part (R$)";
    fee_percentage: "Percentual", "Percentage";
    fee_min: "Mínimo (R$)", "Minimum (R$)";
    fee_max: "Máximo (R$)", "Maximum (R$)";
    example: "Tarifa de uma operação de R$ 100,00", "Fee of an operation of R$ 100.00";
    fee_wrong: "Informe valores em reais, por exemplo 0,50.", "Enter amounts in reais, such as 0.50.";
    percentage_wrong: "Informe um percentual de 0 a 100, por exemplo 0,99.", "Enter a percentage from 0 to 100, such as 0.99.";
    fee_bounds_wrong: "O mínimo não pode passar do máximo.", "The minimum must not exceed the maximum.";

    limits: "Limites por operação", "Limits per operation";
    set_limits: "Alterar os limites", "Change the limits";
    charge_limit: "Maior cobrança (R$)", "Largest charge (R$)";
    payout_limit: "Maior saque (R$)", "Largest payout (R$)";
    limit_wrong: "Informe limites acima de zero, por exemplo 50.000,00.", "Enter limits above zero, such as 50,000.00.";
    release_delay: "Prazo de liberação em segundos", "Release delay in seconds";
    set_release_delay: "Alterar o prazo de liberação", "Change the release delay";
    release_delay_text: "O dinheiro recebido fica “a liberar” durante este prazo. O maior prazo tem 90 dias.", "Received money stays pending for this time. The longest delay is 90 days.";
    release_delay_wrong: "Informe de 0 a 7776000 segundos.", "Enter 0 to 7776000 seconds.";

    splits: "Repasses", "Splits";
    splits_text: "Os repasses das 200 cobranças mais novas da conta, no máximo de 10 cobranças, e os 10 últimos repasses recebidos.", "The splits of the account's 200 newest charges, of at most 10 charges, and the 10 last splits received.";
    splits_none: "Nenhum repasse.", "No splits.";
    share_direction: "Sentido", "Direction";
    share_given: "enviado", "given";
    share_received: "recebido", "received";
    share_other: "Outra conta", "Other account";
    share_later: "definido pelo pagamento", "fixed by the payment";
    amount: "Valor", "Amount";
    charge: "Cobrança", "Charge";

    audit: "Auditoria", "Audit log";
    audit_none: "Nenhuma alteração.", "No changes.";
    account: "Conta", "Account";
    account_unknown: "Nenhuma conta tem este e-mail ou id.", "No account has this e-mail or id.";
    at: "Quando", "Time";
    who: "Quem", "User";
    from: "De onde", "From";
    action: "Alteração", "Change";
    subject: "Registro", "Record";
    before: "Antes", "Before";
    after: "Depois", "After";
    details: "Detalhes", "Details";

    callbacks: "Avisos sem correspondência", "Unmatched callbacks";
    callbacks_text: "Estes avisos não correspondem a nenhuma cobrança, saque, infração ou depósito em cripto.", "These callbacks match no charge, payout, infraction or crypto deposit.";
    callbacks_none: "Não há avisos sem correspondência.", "There are no unmatched callbacks.";
    acquirer: "Adquirente", "Acquirer";
    received: "Recebido", "Received";
    attempts: "Tentativas", "Attempts";
    names: "Conteúdo", "Names";
    retried: "O aviso será processado de novo em alguns segundos. Se ele continuar sem correspondência, volta a esta lista.", "The callback is processed again within seconds. If it still matches nothing, it returns to this list.";
    try_again: "Processar de novo", "Process again";

    ledger: "Livro-razão", "Ledger";
    reconciliation: "Conciliação", "Reconciliation";
    infractions_in_review: "Infrações a decidir", "Infractions in review";
    crypto_in_review: "Cripto a decidir", "Crypto in review";

    acquirers: "Adquirentes", "Acquirers";
    acquirers_text: "Na ordem da configuração, com as ordens em aberto.", "In the order of the configuration, with their open orders.";
    breaker: "Chamadas neste servidor", "Calls on this server";
    breaker_closed: "permitidas", "permitted";
    breaker_open: "recusadas após falhas seguidas", "refused after consecutive failures";
    charges: "Cobranças", "Charges";
    payouts: "Saques", "Payouts";
    refunds: "Devoluções", "Refunds";
    infractions: "Infrações", "Infractions";
    new_orders: "Novas ordens", "New orders";
    accepted: "sim", "yes";
    drained: "não, desde", "no, since";
}
