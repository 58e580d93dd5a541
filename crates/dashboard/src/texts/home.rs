//! The texts of the first page and of the API log.

catalogue! {
    /// The texts of the first page and of the API log.
    HomeTexts, same: [id];

    today: "Hoje", "Today";
    last_days: "Últimos 30 dias", "Last 30 days";
    incoming: "Entradas", "Money in";
    outgoing: "Saídas", "Money out";
    incoming_today: "Entradas de hoje", "Money in today";
    outgoing_today: "Saídas de hoje", "Money out today";
    chart: "Gráfico de entradas e saídas por dia. A tabela abaixo tem os mesmos valores.", "Chart of money in and out by day. The table below has the same values.";
    chart_rule: "Cada valor conta no dia em que entra no saldo ou sai dele. Um saque que falha conta como saída e depois como entrada.", "Each amount counts on the day on which it enters or leaves the balance. A failed payout counts as money out, then as money in.";
    counting: "Os lançamentos desta conta ainda estão sendo somados. Os valores ficam completos em instantes.", "The entries of this account are still being summed. The totals are complete in a moment.";
    as_table: "Ver como tabela", "Show as a table";
    day: "Dia", "Day";

    attention: "Precisa de atenção", "Needs attention";
    nothing: "Nada no momento.", "Nothing at the moment.";
    deadline: "Infração: defesa até", "Infraction: defense until";
    no_deadline: "Infração aberta", "Open infraction";
    more_infractions: "Ver todas as infrações abertas", "Show all open infractions";
    endpoint_failing: "Webhook com falhas desde", "Webhook failing since";
    endpoint_disabled: "Webhook desativado em", "Webhook disabled at";
    unexpected: "Pagamento inesperado em", "Unexpected payment at";
    payout_failed: "Saque com falha em", "Payout failed at";

    api_log: "Requisições da API", "API log";
    api_log_text: "As últimas requisições das chaves da conta, por até 7 dias e até 10.000. Conteúdos e parâmetros não são guardados.", "The last requests of the account's keys, for at most 7 days and 10,000 requests. Bodies and parameters are not stored.";
    dropped: "Houve requisições demais, e este servidor não registrou todas. Não registradas desde o início do servidor:", "There were too many requests, and this server did not log all of them. Not logged since its start:";
    no_requests: "Nenhuma requisição ainda.", "No requests yet.";
    time: "Quando", "Time";
    request: "Requisição", "Request";
    status: "Resposta", "Status";
    took: "Duração", "Duration";
    key: "Chave", "Key";
    id: "Id", "Id";
    older: "Mais antigas", "Older";
    key_last_use: "Último uso", "Last use";
    key_unused: "nunca", "never";
}
