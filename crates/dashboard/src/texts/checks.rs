//! The texts of the ledger check and of the reconciliation.

catalogue! {
    /// The texts of the ledger check and of the reconciliation.
    CheckTexts, same: [];

    ledger: "Conferência do livro-razão", "Ledger check";
    ledger_text: "Cada saldo é recalculado a partir dos seus lançamentos e comparado com o saldo guardado. As moedas no processador são comparadas com o valor creditado por elas.", "Each balance is rebuilt from its entries and compared with the stored one. The coins at the processor are compared with the BRL that was credited for them.";
    ledger_start: "Conferir agora", "Check now";
    ledger_right: "O livro-razão fecha.", "The ledger adds up.";
    ledger_wrong: "O livro-razão não fecha.", "The ledger does not add up.";
    accounts: "Contas do livro-razão", "Ledger accounts";
    entries: "Lançamentos", "Entries";
    what: "Conta ou regra", "Account or rule";
    expected: "Esperado", "Expected";
    stored: "Guardado", "Stored";
    centavos: "Valores em centavos; sequências de eventos em números.", "Amounts in centavos; event sequences as numbers.";
    coins: "Moedas no processador", "Coins at the processor";
    currency: "Moeda", "Currency";
    amount: "Quantidade", "Coins";
    rate: "R$ por unidade", "BRL per coin";
    worth: "Valor", "Worth";
    owed: "Creditado por elas", "Credited for them";
    surplus: "Sobra", "Surplus";
    coins_unread: "As moedas não puderam ser conferidas:", "The coins could not be checked:";

    reconciliation: "Conciliação", "Reconciliation";
    reconciliation_text: "Compara um dia com as listas das adquirentes e do processador, e não altera nada. O serviço faz a mesma comparação a cada dez minutos e credita o que falta.", "Compares one day with the lists of the acquirers and of the processor, and changes nothing. The service makes the same comparison every ten minutes, and credits missed payments.";
    reconciliation_start: "Comparar", "Compare";
    day: "Dia", "Day";
    day_wrong: "Informe um dia que já começou, por exemplo 2026-01-31.", "Enter a day that has begun, such as 2026-01-31.";
    compared_day: "Dia comparado", "Compared day";
    received: "Pix recebidos", "Pix received";
    sent: "Pix enviados", "Pix sent";
    returned: "Devoluções", "Returns";
    deposits: "Pagamentos em cripto", "Crypto payments";
    withdrawals: "Saques em cripto", "Crypto withdrawals";
    no_difference: "Nenhuma diferença.", "No difference.";
    no_difference_read: "Nenhuma diferença no que foi lido.", "No difference in what could be read.";
    differences: "Diferenças", "Differences";
    unread: "Não lido até o fim", "Not read to the end";
    has_more: "Há mais diferenças ou linhas ilegíveis. O comando cais reconcile mostra até 10.000.", "There are more differences or unreadable rows. The command cais reconcile shows at most 10,000.";
    kind: "Diferença", "Difference";
    acquirer: "Adquirente", "Acquirer";
    ours: "Aqui", "Here";
    theirs: "Na adquirente", "At the acquirer";
    resource: "Registro", "Record";
    upstream_id: "Id na adquirente", "Id at the acquirer";

    running: "Em andamento desde", "Running since";
    again: "Atualizar", "Refresh";
    last: "Última conferência neste servidor", "Last check on this server";
    never: "Nenhuma conferência neste servidor desde o início dele.", "No check on this server since its start.";
    failed: "A conferência falhou:", "The check failed:";
}
