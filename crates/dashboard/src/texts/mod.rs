//! The catalogues of all texts, in Portuguese and English. If a text lacks a language, the crate does not compile.
//!
//! Each group of pages has its own catalogue in a file of this folder, declared with `catalogue!`.

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Brazilian Portuguese, the default.
    Portuguese,
    /// English.
    English,
}

impl Language {
    /// Returns the language of a cookie's value; Portuguese for a missing or unknown value.
    pub(crate) fn of_cookie(value: Option<&str>) -> Self {
        if value == Some(Self::English.code()) { Self::English } else { Self::Portuguese }
    }

    /// Returns the language with this code; `None` for an unknown code.
    pub(crate) fn of_code(code: &str) -> Option<Self> {
        [Self::Portuguese, Self::English].into_iter().find(|language| language.code() == code)
    }

    /// Returns the language tag that HTML, the cookie and the query use.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Portuguese => "pt-BR",
            Self::English => "en",
        }
    }

    /// Returns the texts of the frame, of logins, keys and failures.
    pub(crate) const fn texts(self) -> &'static Texts {
        Texts::of(self)
    }

    /// Returns the other language, which the switch of each page offers.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Portuguese => Self::English,
            Self::English => Self::Portuguese,
        }
    }

    /// Returns the language's own name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Portuguese => "Português",
            Self::English => "English",
        }
    }
}

/// Declares a catalogue: a struct of texts, its function `of(language)`, and a test of its texts.
///
/// `same` names the texts that are equal in both languages.
macro_rules! catalogue {
    ($(#[$doc:meta])* $catalogue:ident, same: [$($same:ident),*]; $($name:ident: $portuguese:literal, $english:literal;)+) => {
        $(#[$doc])*
        #[derive(Debug, PartialEq, Eq)]
        pub(crate) struct $catalogue {
            $(pub(crate) $name: &'static str,)+
        }

        impl $catalogue {
            /// Returns the texts in a language.
            pub(crate) const fn of(language: $crate::texts::Language) -> &'static Self {
                const PORTUGUESE: $catalogue = $catalogue { $($name: $portuguese,)+ };
                const ENGLISH: $catalogue = $catalogue { $($name: $english,)+ };
                match language {
                    $crate::texts::Language::Portuguese => &PORTUGUESE,
                    $crate::texts::Language::English => &ENGLISH,
                }
            }
        }

        #[cfg(test)]
        mod catalogue {
            #[test]
            fn every_text_exists_in_both_languages() {
                let same: &[&str] = &[$(stringify!($same)),*];
                for (name, portuguese, english) in [$((stringify!($name), $portuguese, $english)),+] {
                    assert!(!portuguese.trim().is_empty() && !english.trim().is_empty(), "{name}");
                    assert!(!portuguese.contains(['<', '>']) && !english.contains(['<', '>']), "{name}");
                    assert_eq!(portuguese == english, same.contains(&name), "{name}");
                }
            }
        }
    };
}

pub(crate) mod actions;
pub(crate) mod charges;
pub(crate) mod checks;
pub(crate) mod crypto;
pub(crate) mod differences;
pub(crate) mod home;
pub(crate) mod infractions;
pub(crate) mod operator;
pub(crate) mod pay;
pub(crate) mod payouts;
pub(crate) mod reviews;
pub(crate) mod settings;
pub(crate) mod statement;
pub(crate) mod transactions;
pub(crate) mod webhooks;

catalogue! {
    /// The texts of the frame, of logins, keys and failures.
    Texts, same: [menu, email, webhooks];

    skip: "Ir para o conteúdo", "Skip to the content";
    menu: "Menu", "Menu";
    sandbox: "Ambiente de testes: dinheiro fictício", "Sandbox: play money";
    home: "Início", "Home";
    keys: "Chaves de API", "API keys";
    webhooks: "Webhooks", "Webhooks";
    transactions: "Transações", "Transactions";
    payouts: "Saques", "Payouts";
    statement: "Extrato", "Statement";
    infractions: "Infrações", "Infractions";
    crypto: "Cripto", "Crypto";
    settings: "Configurações", "Settings";
    sessions: "Sessões", "Sessions";
    password: "Senha", "Password";
    log_out: "Sair", "Log out";
    log_in: "Entrar", "Log in";
    docs: "Documentação da API", "API documentation";
    cancel: "Cancelar", "Cancel";
    copy: "Copiar", "Copy";
    copied: "Copiado", "Copied";
    next: "Continuar", "Continue";
    back_home: "Voltar ao início", "Back to the home page";

    email: "E-mail", "E-mail";
    new_password: "Nova senha", "New password";
    present_password: "Senha atual", "Current password";
    password_rule: "Pelo menos 12 caracteres.", "At least 12 characters.";
    password_wrong: "A senha deve ter de 12 a 200 caracteres. Ela não pode conter o e-mail nem ser um único caractere repetido.", "The password must have 12 to 200 characters. It must not contain the e-mail or be one repeated character.";
    code: "Código de 6 dígitos", "6-digit code";
    code_rule: "O código que o seu aplicativo autenticador mostra agora.", "The code that your authenticator app shows now.";
    code_needed: "É preciso um código do autenticador.", "A code of the authenticator is needed.";
    code_wrong: "Código incorreto ou já usado. Aguarde o próximo código.", "Wrong or already used code. Wait for the next code.";
    too_many_codes: "Muitos códigos incorretos. Comece de novo.", "Too many wrong codes. Start again.";
    throttled: "Muitas tentativas. Tente de novo em alguns minutos.", "Too many attempts. Try again in a few minutes.";

    log_in_wrong: "E-mail ou senha incorretos.", "Wrong e-mail or password.";
    log_in_no_account: "Ainda não tem conta?", "No account yet?";
    log_in_after_sign_up: "Cadastro recebido. Se o e-mail ainda não estava em uso, entre com a sua senha.", "Sign-up received. If the e-mail was not in use yet, log in with your password.";
    log_in_after_password: "Senha gravada. Entre com ela.", "Password saved. Log in with it.";
    log_in_after_enrolment: "O autenticador já foi ativado. Entre com a senha e um código dele. Se você não guardou os códigos de recuperação, crie outros em Senha, Códigos de recuperação.", "The authenticator is already set up. Log in with your password and a code of it. If you did not save the recovery codes, create other codes at Password, Recovery codes.";
    log_in_lost: "Perdeu a senha ou o autenticador? Peça um novo link ao suporte.", "Lost your password or authenticator? Ask support for a new link.";
    code_title: "Segundo passo", "Second step";
    code_or_recovery: "Código ou código de recuperação", "Code or recovery code";

    enrol_title: "Ativar o autenticador", "Set up the authenticator";
    enrol_text: "Leia o código QR com um aplicativo autenticador e digite o código que ele mostrar.", "Scan the QR code with an authenticator app and enter the code that it shows.";
    enrol_secret: "Sem câmera? Digite este segredo no aplicativo:", "No camera? Enter this secret in the app:";
    enrol_qr: "Código QR para o aplicativo autenticador", "QR code for the authenticator app";
    recovery_title: "Códigos de recuperação", "Recovery codes";
    recovery_text: "Guarde estes códigos em lugar seguro. Cada um substitui uma vez o autenticador. Eles não serão mostrados de novo.", "Keep these codes in a safe place. Each one replaces the authenticator once. They are not shown again.";
    recovery_left: "Códigos que ainda valem:", "Codes that are still valid:";
    recovery_hint: "Cada código substitui uma vez o autenticador na entrada. Ao criar novos códigos, os anteriores deixam de valer.", "Each code replaces the authenticator once at a login. When you create new codes, the old codes become invalid.";
    recovery_renew: "Criar novos códigos", "Create new codes";
    recovery_next: "Guardei os códigos", "I have saved the codes";

    sign_up: "Criar conta", "Create an account";
    sign_up_name: "Nome da empresa ou pessoa", "Name of the company or person";
    sign_up_document: "CPF ou CNPJ", "CPF or CNPJ";
    sign_up_email_wrong: "Informe um e-mail válido.", "Enter a valid e-mail.";
    sign_up_name_wrong: "Informe um nome de até 200 caracteres.", "Enter a name of at most 200 characters.";
    sign_up_document_wrong: "Informe um CPF ou CNPJ válido.", "Enter a valid CPF or CNPJ.";

    welcome_title: "Definir a senha", "Set your password";
    welcome_text: "Ao gravar a senha, as sessões abertas são encerradas. Na próxima entrada, um novo autenticador será ativado.", "Saving the password ends all open sessions. The next login sets up a new authenticator.";
    password_changed: "Senha alterada. As outras sessões foram encerradas.", "Password changed. The other sessions were ended.";
    password_present_wrong: "A senha atual está incorreta.", "The current password is wrong.";
    save: "Gravar", "Save";

    balance: "Saldo", "Balance";
    available: "Disponível", "Available";
    pending: "A liberar", "Pending";
    blocked: "Bloqueado", "Blocked";
    kyc_pending: "Seu cadastro está em análise. Cobranças e saques serão habilitados após a aprovação.", "Your registration is under review. Charges and payouts are enabled after its approval.";
    kyc_rejected: "Seu cadastro foi recusado. Fale com o suporte.", "Your registration was rejected. Contact support.";
    suspended: "Sua conta está suspensa.", "Your account is suspended.";
    operator_home: "Você é operador deste serviço.", "You are an operator of this service.";

    session_device: "Navegador", "Browser";
    session_address: "Endereço IP", "IP address";
    session_begun: "Aberta em", "Started";
    session_seen: "Último uso", "Last use";
    session_end: "Encerrar", "End";
    session_this: "esta sessão", "this session";

    key_new: "Nova chave", "New key";
    key_none: "Nenhuma chave ainda.", "No keys yet.";
    key_name: "Nome", "Name";
    key_name_rule: "Onde a chave será usada: caixa, loja, sistema.", "Where the key is used: till, shop, system.";
    key_name_wrong: "Informe um nome de até 100 caracteres.", "Enter a name of at most 100 characters.";
    key_prefix: "Prefixo", "Prefix";
    key_scopes: "Permissões", "Scopes";
    key_scopes_wrong: "Escolha pelo menos uma permissão.", "Choose at least one scope.";
    key_created: "Criada", "Created";
    key_expires: "Expira", "Expires";
    key_never: "nunca", "never";
    key_days: "Validade em dias (em branco: não expira)", "Lifetime in days (empty: no expiry)";
    key_days_wrong: "Informe de 1 a 3650 dias, ou deixe em branco.", "Enter 1 to 3650 days, or leave the field empty.";
    key_addresses: "Endereços IP permitidos (em branco: todos)", "Permitted IP addresses (empty: all)";
    key_addresses_rule: "Endereços ou blocos CIDR, separados por vírgulas, como 203.0.113.7, 198.51.100.0/24.", "Addresses or CIDR blocks, separated by commas, such as 203.0.113.7, 198.51.100.0/24.";
    key_addresses_wrong: "Informe no máximo 50 endereços IP ou blocos CIDR, separados por vírgulas.", "Enter at most 50 IP addresses or CIDR blocks, separated by commas.";
    key_addresses_list: "Endereços IP", "IP addresses";
    key_addresses_all: "todos", "all";
    key_status: "Situação", "Status";
    key_active: "ativa", "active";
    key_revoked: "revogada", "revoked";
    key_expired: "expirada", "expired";
    key_revoke: "Revogar", "Revoke";
    key_revoke_title: "Revogar a chave", "Revoke the key";
    key_revoke_text: "Os programas que usam esta chave deixam de funcionar em segundos. Esta ação não pode ser desfeita.", "Programs that use this key stop working within seconds. This cannot be undone.";
    key_secret_title: "Chave criada", "Key created";
    key_secret_text: "Copie a chave agora. Ela não será mostrada de novo.", "Copy the key now. It is not shown again.";
    key_revoked_title: "Chave revogada", "Key revoked";
    key_back: "Ver as chaves", "Show the keys";

    confirm_title: "Confirmar", "Confirm";
    confirm_create: "Criar a chave", "Create the key";
    confirm_until: "Válido até", "Valid until";

    done_title: "Já confirmado", "Already confirmed";
    done_key: "A chave já foi criada, e só foi mostrada uma vez. Se você não a copiou, revogue esta chave e crie outra.", "The key was already created, and was shown only once. If you did not copy the key, revoke it and create another key.";
    done_secret: "O segredo já foi trocado, e o novo só foi mostrado uma vez. Se você não copiou o novo segredo, troque o segredo outra vez.", "The secret was already rotated, and the new secret was shown only once. If you did not copy the new secret, rotate the secret again.";
    done_codes: "Os códigos já foram trocados, e os novos só foram mostrados uma vez. Se você não guardou os novos, crie outros.", "The codes were already replaced, and the new codes were shown only once. If you did not save the new codes, create other codes.";
    done_other: "A ação já foi feita, uma única vez.", "The action was already done, once.";

    forged_title: "Formulário recusado", "Form refused";
    forged_text: "O formulário não veio desta página, ou a sessão mudou. Abra a página e tente de novo.", "The form did not come from this page, or the session changed. Open the page and try again.";
    bad_form_title: "Formulário inválido", "Invalid form";
    bad_form_text: "O formulário chegou incompleto. Tente de novo.", "The form arrived incomplete. Try again.";
    not_found_title: "Página não encontrada", "Page not found";
    not_found_text: "A página não existe, ou o registro não está mais disponível.", "The page does not exist, or its record is no longer available.";
    other_method_title: "Abra a página de novo", "Open the page again";
    other_method_text: "Este endereço só recebe formulários. Se você enviou um formulário, confira antes na lista se ele já teve efeito.", "This address only receives forms. If you sent a form, check in the list whether it took effect before you send it again.";
    ended_title: "Ação encerrada", "Action ended";
    ended_text: "Cinco códigos incorretos encerraram esta ação. Nada foi feito. Confira o relógio do celular e comece a ação de novo.", "Five wrong codes ended this action. Nothing was done. Check the clock of your phone, and begin the action again.";
    file_unfinished_title: "Outro arquivo em andamento", "Another file in progress";
    file_unfinished_text: "Um arquivo desta conta ainda está sendo baixado. Espere até o fim e tente de novo.", "A file of this account is still being downloaded. Wait until the download ends, and try again.";
    throttled_title: "Muitas tentativas", "Too many attempts";
    throttled_text: "Tente de novo em alguns minutos.", "Try again in a few minutes.";
    unavailable_title: "Serviço indisponível", "Service unavailable";
    unavailable_text: "Tente de novo em alguns segundos. Se você enviou um formulário, confira antes na lista se ele já teve efeito.", "Try again in a few seconds. If you sent a form, check in the list whether it took effect before you send it again.";
}
