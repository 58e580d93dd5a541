//! The texts of the list of transactions.

catalogue! {
    /// The texts of the list of transactions.
    TransactionsTexts, same: [csv];

    title: "Transações", "Transactions";
    new_charge: "Nova cobrança", "New charge";
    search: "Buscar", "Search";
    search_hint: "Por id, external_id, txid, id fim a fim (E…), ou CPF/CNPJ do pagador.", "By id, external_id, txid, end-to-end id (E…), or the payer's CPF/CNPJ.";
    found: "Resultado da busca", "Search result";
    all: "Ver todas as transações", "Show all transactions";
    filters: "Filtros", "Filters";
    direction: "Direção", "Direction";
    any: "todas", "all";
    cash_in: "entrada", "money in";
    cash_out: "saída", "money out";
    status: "Situação", "Status";
    pending: "pendente", "pending";
    processing: "em processamento", "processing";
    completed: "concluída", "completed";
    failed: "falhou", "failed";
    cancelled: "cancelada ou expirada", "cancelled or expired";
    refunded: "devolvida", "refunded";
    from: "De", "From";
    to: "Até", "To";
    apply: "Filtrar", "Apply";
    clear: "Limpar", "Clear";
    wrong: "Filtro inválido: confira a situação e as datas.", "Invalid filter: check the status and the dates.";
    csv: "CSV", "CSV";
    excel: "CSV para Excel", "CSV for Excel in Brazil";
    none: "Nenhuma transação.", "No transactions.";
    date: "Data", "Date";
    kind: "Tipo", "Type";
    reference: "Referência", "Reference";
    amount: "Valor", "Amount";
    fee: "Tarifa", "Fee";
    charge: "Cobrança", "Charge";
    payout: "Saque", "Payout";
    split: "Repasse recebido", "Share received";
    next: "Mais antigas", "Older";
    first: "Voltar às mais recentes", "Back to the newest";
}
