//! The names of the actions of the audit log.

catalogue! {
    /// The names of the actions of the audit log.
    ActionTexts, same: [];

    account_create: "Conta aberta", "Account opened";
    account_approve: "Cadastro aprovado", "Registration approved";
    account_reject: "Cadastro recusado", "Registration rejected";
    account_suspend: "Conta suspensa", "Account suspended";
    account_resume: "Conta reativada", "Account resumed";
    account_features: "Funções alteradas", "Features changed";
    account_fees: "Tarifa alterada", "Fee changed";
    account_limits: "Limites alterados", "Limits changed";
    account_release_delay: "Prazo de liberação alterado", "Release delay changed";
    account_crypto_spread: "Spread de cripto alterado", "Crypto spread changed";
    account_acquirers: "Ordem das adquirentes alterada", "Order of acquirers changed";
    key_create: "Chave de API criada", "API key created";
    key_revoke: "Chave de API revogada", "API key revoked";
    operator_create: "Operador criado", "Operator created";
    user_set_password: "Senha definida por link", "Password set by a link";
    user_change_password: "Senha trocada", "Password changed";
    user_enrol_totp: "Autenticador configurado", "Authenticator set up";
    user_login_link: "Link de acesso emitido", "Login link issued";
    user_renew_recovery_codes: "Códigos de recuperação trocados", "Recovery codes renewed";
    webhook_endpoint_create: "Endereço de webhooks criado", "Webhook endpoint created";
    webhook_endpoint_change: "Endereço de webhooks alterado", "Webhook endpoint changed";
    webhook_endpoint_delete: "Endereço de webhooks excluído", "Webhook endpoint deleted";
    webhook_endpoint_rotate_secret: "Segredo de webhooks trocado", "Webhook secret rotated";
    payout_send: "Saque enviado", "Payout sent";
    payout_credit_return: "Devolução de saque creditada", "Return of a payout credited";
    refund_send: "Devolução enviada", "Refund sent";
    crypto_withdrawal_send: "Saque em cripto enviado", "Crypto withdrawal sent";
    crypto_withdrawal_resolve: "Saque em cripto decidido", "Crypto withdrawal decided";
    crypto_payment_resolve: "Pagamento em cripto decidido", "Crypto payment decided";
    crypto_rate_accept: "Cotação de cripto aceita", "Crypto rate accepted";
    infraction_resolve: "Infração decidida", "Infraction decided";
    infraction_take_precedence: "Infração posta antes das outras do mesmo Pix", "Infraction placed before the others of its Pix";
    callback_retry: "Aviso processado de novo", "Callback processed again";
    acquirer_drain: "Novas ordens à adquirente interrompidas", "New orders to the acquirer stopped";
    acquirer_undrain: "Novas ordens à adquirente retomadas", "New orders to the acquirer resumed";
}

impl ActionTexts {
    /// Returns the name of an action; `None` for an action of another version of the service.
    pub(crate) fn action(&self, action: &str) -> Option<&'static str> {
        let text = match action {
            "account.create" => self.account_create,
            "account.approve" => self.account_approve,
            "account.reject" => self.account_reject,
            "account.suspend" => self.account_suspend,
            "account.resume" => self.account_resume,
            "account.features" => self.account_features,
            "account.fees" => self.account_fees,
            "account.limits" => self.account_limits,
            "account.release_delay" => self.account_release_delay,
            "account.crypto_spread" => self.account_crypto_spread,
            "account.acquirers" => self.account_acquirers,
            "key.create" => self.key_create,
            "key.revoke" => self.key_revoke,
            "operator.create" => self.operator_create,
            "user.set_password" => self.user_set_password,
            "user.change_password" => self.user_change_password,
            "user.enrol_totp" => self.user_enrol_totp,
            "user.login_link" => self.user_login_link,
            "user.renew_recovery_codes" => self.user_renew_recovery_codes,
            "webhook_endpoint.create" => self.webhook_endpoint_create,
            "webhook_endpoint.change" => self.webhook_endpoint_change,
            "webhook_endpoint.delete" => self.webhook_endpoint_delete,
            "webhook_endpoint.rotate_secret" => self.webhook_endpoint_rotate_secret,
            "payout.send" => self.payout_send,
            "payout.credit_return" => self.payout_credit_return,
            "refund.send" => self.refund_send,
            "crypto_withdrawal.send" => self.crypto_withdrawal_send,
            "crypto_withdrawal.resolve" => self.crypto_withdrawal_resolve,
            "crypto_payment.resolve" => self.crypto_payment_resolve,
            "crypto_rate.accept" => self.crypto_rate_accept,
            "infraction.resolve" => self.infraction_resolve,
            "infraction.take_precedence" => self.infraction_take_precedence,
            "callback.retry" => self.callback_retry,
            "acquirer.drain" => self.acquirer_drain,
            "acquirer.undrain" => self.acquirer_undrain,
            _ => return None,
        };
        Some(text)
    }
}
