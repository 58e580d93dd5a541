//! The texts of the settings.

use cais_domain::fee::Operation;
use cais_domain::merchant::account::{Feature, Kyc};

catalogue! {
    /// The texts of the settings.
    SettingsTexts, same: [email];

    title: "Configurações", "Settings";
    account: "Conta", "Account";
    read_only: "Só a equipe do serviço altera estes dados. Fale com o suporte.", "Only the operators of the service change this data. Contact support.";
    name: "Nome", "Name";
    email: "E-mail", "E-mail";
    document: "CPF ou CNPJ", "CPF or CNPJ";
    id: "Id da conta", "Account id";
    created: "Conta criada", "Account created";
    status: "Situação", "Status";
    active: "ativa", "active";
    suspended: "suspensa", "suspended";
    kyc: "Cadastro (KYC)", "Registration (KYC)";
    kyc_pending: "em análise", "under review";
    kyc_approved: "aprovado", "approved";
    kyc_rejected: "recusado", "rejected";
    features: "Funções", "Features";
    enabled: "habilitada", "enabled";
    disabled: "não habilitada", "not enabled";
    pix_in: "Cobranças Pix", "Pix charges";
    pix_out: "Saques Pix", "Pix payouts";
    split: "Repasses a outras contas (split)", "Splits to other accounts";
    crypto_in: "Depósitos em cripto", "Crypto deposits";
    crypto_out: "Saques em cripto", "Crypto withdrawals";
    fees: "Tarifas", "Fees";
    free: "sem tarifa", "no fee";
    at_least: "no mínimo", "at least";
    at_most: "no máximo", "at most";
    limits: "Limites por operação", "Limits per operation";
    charge_limit: "Cobrança ou depósito", "Charge or deposit";
    payout_limit: "Saque", "Payout";
    release: "Liberação do dinheiro recebido", "Release of received money";
    at_once: "na hora", "at once";
    after: "após", "after";
    days: "dia(s)", "day(s)";
    hours: "hora(s)", "hour(s)";
    minutes: "minuto(s)", "minute(s)";
    seconds: "segundo(s)", "second(s)";
    access: "Acesso", "Access";
    change_password: "Trocar a senha", "Change the password";
    show_sessions: "Ver as sessões abertas", "Show the open sessions";
    show_keys: "Ver as chaves de API", "Show the API keys";
    language: "Idioma", "Language";
}

impl SettingsTexts {
    /// Returns the name of a feature.
    pub(crate) const fn feature(&self, feature: Feature) -> &'static str {
        match feature {
            Feature::PixIn => self.pix_in,
            Feature::PixOut => self.pix_out,
            Feature::Split => self.split,
            Feature::CryptoIn => self.crypto_in,
            Feature::CryptoOut => self.crypto_out,
        }
    }

    /// Returns the name of an operation with a fee.
    pub(crate) const fn operation_of(&self, operation: Operation) -> &'static str {
        match operation {
            Operation::PixIn => self.pix_in,
            Operation::PixOut => self.pix_out,
            Operation::CryptoIn => self.crypto_in,
            Operation::CryptoOut => self.crypto_out,
        }
    }

    /// Returns the name of the state of the identity check.
    pub(crate) const fn kyc_of(&self, kyc: Kyc) -> &'static str {
        match kyc {
            Kyc::Pending => self.kyc_pending,
            Kyc::Approved => self.kyc_approved,
            Kyc::Rejected => self.kyc_rejected,
        }
    }
}
