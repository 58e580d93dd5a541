//! The texts of the first page and of the API log.

catalogue! {
    /// The texts of the first page and of the API log.
    HomeTexts, same: [id];

    today: "Hoje", "Today";
    last_days: "Últimos 30 dias", "Last 30 days";
    incoming: "Entradas", "In";
    outgoing: "Saídas", "Out";
    incoming_today: "Entradas de hoje", "In today";
    outgoing_today: "Saídas de hoje", "Out today";
    chart: "Gráfico de entradas e saídas por dia. A tabela abaixo tem os mesmos valores.", "Chart of money in and out by day. The table below has the same values.";
    chart_rule: "Cada valor que entra ou sai do saldo conta no seu dia. Um saque que falha sai e volta a entrar.", "Each amount that enters or leaves the balance counts on its day. A payout that fails leaves and enters again.";
    counting: "Os lançamentos desta conta ainda estão sendo somados. Os valores aumentam em instantes.", "The entries of this account are still being summed. The values grow in a moment.";
    as_table: "Ver como tabela", "Show as a table";
    day: "Dia", "Day";

    attention: "Precisa de atenção", "Needs attention";
    nothing: "Nada agora.", "Nothing now.";
    deadline: "Infração: defesa até", "Infraction: defense until";
    no_deadline: "Infração aberta", "Open infraction";
    more_infractions: "Ver todas as infrações abertas", "Show all open infractions";
    endpoint_failing: "Webhook com falhas desde", "Webhook failing since";
    endpoint_disabled: "Webhook desativado em", "Webhook disabled at";
    unexpected: "Pagamento fora da cobrança em", "Payment that matches no open charge at";
    payout_failed: "Saque com falha em", "Payout failed at";

    api_log: "Registro da API", "API log";
    api_log_text: "As últimas requisições das chaves da conta, por até 7 dias e até 10.000. Conteúdos e parâmetros não são guardados.", "The last requests of the account's keys, for at most 7 days and 10,000 requests. Bodies and parameters are not stored.";
    dropped: "Este servidor não registrou todas as requisições desde o início, por excesso. Não registradas:", "This server did not log all requests since its start, because there were too many. Not logged:";
    no_requests: "Nenhuma requisição ainda.", "No requests yet.";
    time: "Quando", "Time";
    request: "Requisição", "Request";
    status: "Resposta", "Status";
    took: "Duração", "Latency";
    key: "Chave", "Key";
    id: "Id", "Id";
    older: "Mais antigas", "Older";
    key_last_use: "Último uso", "Last use";
    key_unused: "nunca", "never";
}
