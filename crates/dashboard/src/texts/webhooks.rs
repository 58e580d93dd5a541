//! The texts of webhook endpoints, deliveries and events.

catalogue! {
    /// The texts of webhook endpoints, deliveries and events.
    WebhookTexts, same: [webhooks];

    webhooks: "Webhooks", "Webhooks";
    webhooks_text: "O serviço envia os eventos da conta a estes endereços, com assinatura.", "The service sends the events of the account to these addresses, with a signature.";
    new: "Novo endereço", "New endpoint";
    none: "Nenhum endereço ainda. Sem webhooks, consulte as cobranças pela API.", "No endpoints yet. Without webhooks, read the charges through the API.";
    url: "Endereço (URL)", "URL";
    url_rule: "Um endereço público com https, de até 500 caracteres.", "A public address with https, of at most 500 characters.";
    description: "Descrição (opcional)", "Description (optional)";
    subscription: "Eventos", "Events";
    list_back: "Ver os webhooks", "Show the webhooks";
    all_events: "Todos os eventos, também os de versões futuras", "All events, including those of later versions";
    status: "Situação", "Status";
    waiting: "Na fila", "Queue";
    last_success: "Último sucesso", "Last success";
    no_success: "nenhum nas últimas 100 entregas", "none in the last 100 deliveries";
    failing_since: "Falhas desde", "Failing since";
    not_failing: "sem falhas", "no failures";
    created: "Criado", "Created";
    more_than: "mais de", "more than";

    active: "ativo", "active";
    inactive: "pausado: as entregas esperam", "paused: deliveries wait";
    disabled_gone: "desativado: o endereço respondeu 410", "disabled: the receiver answered 410";
    disabled_failing: "desativado: só falhas por cinco dias", "disabled: only failures for five days";
    disabled_at: "Desativado em", "Disabled at";

    url_wrong: "Informe uma URL de até 500 caracteres, sem espaços.", "Enter a URL of at most 500 characters, without blanks.";
    url_scheme: "O endereço deve começar com https.", "The address must begin with https.";
    url_credentials: "O endereço não pode conter usuário ou senha.", "The address must not contain a user name or password.";
    url_port: "A porta deve ser 443 ou a partir de 1024.", "The port must be 443, or 1024 or higher.";
    url_not_public: "O endereço não é público.", "The address is not public.";
    url_taken: "Este endereço já está cadastrado.", "This address is already registered.";
    url_taken_secret: "O segredo foi mostrado na criação. Se você não o copiou, troque o segredo na página do endereço.", "The secret was shown at the creation. If you did not copy the secret, rotate it on the page of the endpoint.";
    description_wrong: "A descrição pode ter até 200 caracteres.", "The description can have at most 200 characters.";
    subscription_wrong: "Escolha pelo menos um evento da lista.", "Choose at least one event from the list.";
    limit_reached: "Uma conta tem no máximo 20 endereços.", "An account has at most 20 endpoints.";
    suspended: "Sua conta está suspensa e não pode mudar nada.", "Your account is suspended and cannot change anything.";

    create: "Criar o endereço", "Create the endpoint";
    secret_title: "Segredo de assinatura", "Signing secret";
    secret_text: "Copie o segredo agora. Ele não será mostrado de novo. Com ele, o seu sistema confere a assinatura de cada entrega.", "Copy the secret now. It is not shown again. With it, your system checks the signature of each delivery.";
    secret_grace: "O segredo anterior também assina até", "The previous secret also signs until";
    copy: "Copiar", "Copy";
    copied: "Copiado", "Copied";
    back: "Ver o endereço", "Show the endpoint";

    change: "Alterar", "Change";
    move_title: "Enviar os eventos a este endereço", "Send the events to this address";
    save: "Gravar", "Save";
    send_test: "Enviar um teste", "Send a test";
    pause: "Pausar", "Pause";
    activate: "Reativar", "Enable again";
    activate_text: "As entregas que esperam e os próximos eventos são enviados. Entregas que foram canceladas continuam canceladas.", "Waiting deliveries and the next events are sent. Cancelled deliveries stay cancelled.";
    rotate: "Trocar o segredo", "Rotate the secret";
    rotate_grace: "O segredo atual ainda assina por", "The current secret also signs for";
    grace_none: "nenhum tempo", "no time";
    grace_hour: "1 hora", "1 hour";
    grace_day: "1 dia", "1 day";
    grace_week: "7 dias", "7 days";
    grace_wrong: "Escolha um dos prazos.", "Choose one of the periods.";
    delete: "Excluir", "Delete";
    delete_title: "Excluir o endereço", "Delete the endpoint";
    delete_text: "As entregas em espera são canceladas. Esta ação não pode ser desfeita.", "Waiting deliveries are cancelled. This cannot be undone.";
    cancel: "Cancelar", "Cancel";

    deliveries: "Entregas", "Deliveries";
    no_deliveries: "Nenhuma entrega ainda.", "No deliveries yet.";
    event: "Evento", "Event";
    delivery: "Entrega", "Delivery";
    endpoint: "Endereço", "Endpoint";
    attempts: "Tentativas", "Attempts";
    next_attempt: "Próxima tentativa", "Next attempt";
    payload: "Conteúdo enviado", "Payload";
    no_payload: "O evento não está mais guardado.", "The event is no longer kept.";
    answer: "Resposta", "Answer";
    no_answer: "sem resposta", "no answer";
    at: "Quando", "Time";
    duration: "Duração", "Duration";
    result: "Resultado", "Result";
    resend: "Reenviar", "Resend";
    older: "Mais antigas", "Older";
    newest: "Mais recentes", "Newest";

    pending: "em espera", "pending";
    succeeded: "entregue", "succeeded";
    failed: "falhou", "failed";
    cancelled: "cancelada", "cancelled";

    accepted: "aceita", "accepted";
    address_not_allowed: "endereço não permitido", "address not allowed";
    name_not_resolved: "nome não encontrado", "name not resolved";
    connection_failed: "conexão recusada", "connection failed";
    connection_lost: "conexão interrompida", "connection lost";
    tls_failed: "falha de TLS (certificado)", "TLS failed (certificate)";
    timed_out: "sem resposta em 15 segundos", "no answer within 15 seconds";
    redirected: "redirecionamento, que não é seguido", "redirect, which is not followed";
    refused: "resposta diferente de 2xx", "answer other than 2xx";
    unsigned: "segredo ilegível: fale com o suporte", "secret unreadable: contact support";

    not_active: "O endereço não está ativo e não recebe entregas.", "The endpoint is not active and receives no deliveries.";
    delivery_cancelled: "A entrega foi cancelada e não pode ser reenviada.", "The delivery is cancelled and cannot be sent again.";
    too_many: "Muitos testes e reenvios em espera. Tente de novo em 15 segundos.", "Too many waiting tests and resends. Try again in 15 seconds.";
    no_receiver: "Nenhum endereço ativo recebe este evento.", "No active endpoint receives this event.";

    events: "Eventos da conta", "Events of the account";
    events_back: "Ver os eventos", "Show the events";
    events_text: "Os eventos ficam guardados por 90 dias.", "Events are kept for 90 days.";
    no_events: "Nenhum evento com este filtro.", "No events with this filter.";
    kind: "Tipo", "Type";
    any_kind: "todos", "all";
    resource: "Recurso", "Resource";
    sequence: "Número", "Number";
    after_sequence: "Depois do número", "After number";
    after_sequence_wrong: "Informe um número a partir de 0.", "Enter a number of at least 0.";
    kind_wrong: "Escolha um tipo da lista.", "Choose a type from the list.";
    filter: "Filtrar", "Filter";
    next_page: "Próxima página", "Next page";
    resend_event: "Reenviar a todos os endereços", "Resend to all endpoints";
}
