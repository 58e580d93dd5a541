//! The texts of the list of transactions.

catalogue! {
    /// The texts of the list of transactions.
    TransactionsTexts, same: [];

    title: "Transações", "Transactions";
    new_charge: "Nova cobrança", "New charge";
    search: "Buscar", "Search";
    search_hint: "Por id, seu identificador, txid, identificador fim a fim (E…), ou CPF/CNPJ do pagador.", "By id, your identifier, txid, end-to-end id (E…), or the payer's CPF/CNPJ.";
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
    apply: "Filtrar", "Filter";
    clear: "Limpar", "Clear";
    wrong: "Filtro inválido: confira a situação e as datas.", "Invalid filter: check the status and the dates.";
    csv: "Baixar CSV", "Download CSV";
    excel: "Baixar CSV para Excel", "Download CSV for Excel in Brazil";
    none: "Nenhuma transação.", "No transactions.";
    date: "Data", "Date";
    kind: "Tipo", "Type";
    reference: "Referência", "Reference";
    amount: "Valor", "Amount";
    fee: "Tarifa", "Fee";
    charge: "Cobrança", "Charge";
    payout: "Saque", "Payout";
    split: "Repasse recebido", "Split received";
    next: "Mais antigas", "Older";
    first: "Mais recentes", "Newest";
}
