//! Tests the precedence of sources, the masks of secrets, and the report of all mistakes at once.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

fn sources(toml: &str, variables: &[(&str, &str)]) -> (tempfile::TempDir, Sources) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cais.toml");
    std::fs::write(&file, toml).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (folder, Sources { file: Some(file), variables, ..Sources::default() })
}

fn load(toml: &str, variables: &[(&str, &str)]) -> Result<Config, Problems> {
    let (_folder, sources) = sources(toml, variables);
    Config::load(&sources)
}

fn shown(config: &Config, key: &str) -> (String, String) {
    let entry = config.effective.iter().find(|entry| entry.key == key).unwrap();
    (entry.value.clone(), entry.origin.clone())
}

#[test]
fn empty_configuration_is_valid() {
    let config = Config::load(&Sources::default()).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.data_dir, Path::new("./data"));
    assert!(config.database_url.is_sqlite());
    assert!(config.acquirers.is_empty());
    assert_eq!(shown(&config, "database_url").0, "sqlite:./data/cais.db");
}

#[test]
fn configuration_from_a_pipe_is_complete() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut writer, b"workers = 3\ndata_dir = '/dev/null'").unwrap();
    drop(writer);
    let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    let sources = Sources { file: Some(path.clone().into()), ..Sources::default() };
    let config = Config::load(&sources).unwrap();
    assert_eq!(shown(&config, "workers"), ("3".to_owned(), path.clone()));
    let problem = data_dir_problem(&sources).unwrap();
    assert_eq!((problem.key.as_str(), problem.origin), (DATA_DIR, path), "the file is not read again");
}

#[test]
fn command_overrides_environment_which_overrides_file() {
    let toml = "workers = 3\ncommit_batch = 8\nlisten = '127.0.0.1:1'";
    let (_folder, sources) = sources(toml, &[("CAIS_WORKERS", "5"), ("CAIS_LISTEN", "127.0.0.1:2"), ("OTHER", "x")]);
    let config = Config::load(&sources.with("listen", "127.0.0.1:3")).unwrap();
    assert_eq!((config.workers, config.commit_batch, config.listen.port()), (5, 8, 3));
    assert_eq!(shown(&config, "workers"), ("5".into(), "CAIS_WORKERS".into()));
    assert!(shown(&config, "commit_batch").1.ends_with("cais.toml"));
    assert_eq!(shown(&config, "listen").1, "command line");
}

#[test]
fn wrong_values_are_all_reported_with_their_origins() {
    let toml = "
        listen = 'here'
        workers = '2'
        color = 'blue'
        log_format = 'xml'
        database_url = 'mysql://x'
        public_url = 'pay.example'
        client_secret_file = 'x'
        [acquirers.Main]
        kind = 'other'
        base_url = 'http://bank.example'
        certificate_file = '/nowhere/cert.pem'
        [acquirers.sandbox]
        kind = 'bacen'
    ";
    let problems = load(
        toml,
        &[("CAIS_RATE_LIMIT_PER_MINUTE", "0"), ("CAIS_MIGRATE_ON_START", "yes"), ("CAIS_MASTER_KEY", "short")],
    )
    .unwrap_err();
    let keys: Vec<&str> = problems.0.iter().map(|problem| problem.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "acquirers.Main",
            "acquirers.Main.base_url",
            "acquirers.Main.certificate_file",
            "acquirers.Main.client_id",
            "acquirers.Main.client_secret",
            "acquirers.Main.kind",
            "acquirers.Main.pix_key",
            "acquirers.sandbox",
            "acquirers.sandbox.base_url",
            "acquirers.sandbox.client_id",
            "acquirers.sandbox.client_secret",
            "acquirers.sandbox.pix_key",
            "client_secret_file",
            "color",
            "database_url",
            "listen",
            "log_format",
            "master_key",
            "migrate_on_start",
            "public_url",
            "rate_limit_per_minute",
            "workers",
        ]
    );
    let text = problems.to_string();
    assert!(text.contains("not supported in this version"), "{text}");
    assert!(text.contains("(CAIS_RATE_LIMIT_PER_MINUTE)"), "{text}");
    assert!(text.contains("cais.toml)"), "{text}");
    assert!(text.contains("acquirers.sandbox.pix_key: is missing (not set)"), "{text}");
}

#[test]
fn secrets_are_masked_and_may_be_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "from-the-file\n").unwrap();
    let toml = format!(
        "database_url = 'postgres://cais:hush@db/cais?password=hush'
        master_key = '{key}'
        [acquirers.main]
        kind = 'bacen'
        base_url = 'https://bank.example/'
        client_id = 'id'
        client_secret_file = '{file}'
        pix_key = '71d8a7cf-4a5c-4f0b-9c9c-0a4f1f9d6f0e'",
        key = "abcd0123".repeat(8),
        file = file.display(),
    );
    let config = load(&toml, &[]).unwrap();
    let acquirer = config.acquirers.first().unwrap();
    assert_eq!(acquirer.client_secret.as_ref().unwrap().expose(), "from-the-file");
    assert_eq!(acquirer.base_url, "https://bank.example");
    let everything = format!("{config:?}");
    for secret in ["hush", "from-the-file", &"abcd0123".repeat(8)] {
        assert!(!everything.contains(secret), "{secret} in {everything}");
    }
    let shown_url = shown(&config, "database_url").0;
    assert!(shown_url.starts_with("postgres://cais:") && shown_url.contains("@db/cais"), "{shown_url}");
    assert_eq!(shown(&config, "master_key").0, "***");
}

#[test]
fn crypto_needs_all_keys_of_its_processor_or_none() {
    let none = load("", &[]).unwrap().crypto;
    assert!(none.processor.is_none());
    assert_eq!(none.spread.to_string(), "1");
    let spread = load("[crypto]\nspread = '2.5'", &[("CAIS_SANDBOX", "true")]).unwrap().crypto;
    assert!(spread.processor.is_none());
    assert_eq!(spread.spread.to_string(), "2.5");

    let keys =
        |toml: &str| -> Vec<String> { load(toml, &[]).unwrap_err().0.into_iter().map(|problem| problem.key).collect() };
    let required = ["api_key", "email", "ipn_secret", "kind", "password", "totp_secret"];
    let expected = required.map(|key| format!("crypto.{key}"));
    assert_eq!(keys("[crypto]\nbase_url = 'https://api.nowpayments.io'"), expected);

    let all = "[crypto]\nkind = 'nowpayments'\napi_key = 'hush'\nipn_secret = 'hush'\nemail = 'a@b.co'\npassword = 'hush'\ntotp_secret = 'hush'\n";
    let config = load(all, &[]).unwrap();
    assert_eq!(config.crypto.processor.as_ref().unwrap().base_url, "https://api.nowpayments.io");
    assert_eq!(shown(&config, "crypto.totp_secret").0, "***");
    assert!(!format!("{config:?}").contains("hush"));
    for (wrong, key) in [
        ("base_url = 'http://api.nowpayments.io'", "crypto.base_url"),
        ("base_url = 'https://api-sandbox.nowpayments.io'", "crypto.base_url"),
        ("spread = '11'", "crypto.spread"),
        ("ptax.base_url = 'http://bcb.example'", "crypto.ptax.base_url"),
    ] {
        assert_eq!(keys(&format!("{all}{wrong}")), [key], "{wrong}");
    }
    let beside = load(all, &[("CAIS_SANDBOX", "true")]).unwrap_err();
    assert_eq!(beside.0.first().unwrap().key, "sandbox");
    assert_eq!(keys("[acquirers.nowpayments]\nkind = 'bacen'").first().unwrap(), "acquirers.nowpayments");
}

#[test]
fn secret_of_digits_stays_text() {
    let toml = "[acquirers.main]\nkind = 'bacen'\nbase_url = 'https://bank.example'\nclient_id = 'id'\npix_key = '71d8a7cf-4a5c-4f0b-9c9c-0a4f1f9d6f0e'";
    let config = load(toml, &[("CAIS_ACQUIRERS__MAIN__CLIENT_SECRET", "00120")]).unwrap();
    assert_eq!(config.acquirers.first().unwrap().client_secret.as_ref().unwrap().expose(), "00120");
}

#[test]
fn woovi_has_keys_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("woovi.pem");
    std::fs::write(&file, "-----BEGIN PUBLIC KEY-----").unwrap();
    let base = "[acquirers.main]\nkind = 'woovi'\nbase_url = 'https://api.woovi.com'";
    let with = |lines: &str| load(&format!("{base}\n{lines}"), &[]);
    let public = format!("webhook_public_key_file = '{}'", file.display());
    let config = with(&format!("app_id = 'hush'\n{public}")).unwrap();
    let acquirer = config.acquirers.first().unwrap();
    assert_eq!((acquirer.app_id.as_ref().unwrap().expose(), acquirer.client_id.as_ref()), ("hush", None));
    assert!(!format!("{config:?}").contains("hush"), "secrets are masked");
    assert!(with("app_id = 'hush'\nwebhook_hmac_secret = 'x'").is_ok());
    for (lines, keys) in [
        ("", vec!["app_id", "webhook_hmac_secret"]),
        ("app_id = 'x'", vec!["webhook_hmac_secret"]),
        (public.as_str(), vec!["app_id"]),
        (
            "app_id = 'x'\nwebhook_hmac_secret = 'x'\nclient_id = 'x'\nclient_secret = 'x'\npix_key = 'a@b.example'",
            vec!["client_id", "client_secret", "pix_key"],
        ),
    ] {
        let problems = with(lines).unwrap_err();
        let found: Vec<_> = problems.0.iter().filter_map(|one| one.key.strip_prefix("acquirers.main.")).collect();
        assert_eq!(found, keys, "{problems}");
    }
    let efi = "[acquirers.main]\nkind = 'efi'\nbase_url = 'https://bank.example'\nclient_id = 'id'\nclient_secret = 'x'
        pix_key = 'a@b.example'\napp_id = 'x'";
    assert_eq!(load(efi, &[]).unwrap_err().0.first().unwrap().key, "acquirers.main.app_id");
}

#[test]
fn secret_set_twice_or_missing_for_postgresql_is_rejected() {
    let problems =
        load("database_url = 'postgres://db/cais'\nmaster_key_file = '/nowhere'", &[("CAIS_MASTER_KEY", "x")])
            .unwrap_err();
    assert!(problems.to_string().contains("not both"), "{problems}");
    let problems = load("database_url = 'postgres://db/cais'", &[]).unwrap_err();
    assert_eq!(problems.0.first().unwrap().key, "master_key");
}

#[test]
fn variables_of_commands_are_not_configuration_keys() {
    let variables = [("CAIS_API_KEY", "key_x"), ("CAIS_WEBHOOK_SECRET", "whsec_x"), ("CAIS_CONFIG", "")];
    let (_folder, sources) = sources("", &variables);
    assert!(Config::load(&sources).is_err());
    assert!(Config::load(&sources.without(&["CAIS_API_KEY", "CAIS_WEBHOOK_SECRET"])).is_ok());
    assert!(load("api_key = 'key_x'", &[]).is_err());
}

#[test]
fn variables_injected_by_kubernetes_are_ignored() {
    let injected = [
        ("CAIS_SERVICE_HOST", "10.96.0.7"),
        ("CAIS_SERVICE_PORT", "8080"),
        ("CAIS_SERVICE_PORT_HTTP", "8080"),
        ("CAIS_PORT", "tcp://10.96.0.7:8080"),
        ("CAIS_PORT_8080_TCP", "tcp://10.96.0.7:8080"),
        ("CAIS_PORT_8080_TCP_ADDR", "10.96.0.7"),
    ];
    assert!(load("", &injected).is_ok());
    let slip = load("", &[("CAIS_PORT", "8080")]).unwrap_err();
    assert_eq!(slip.0.first().unwrap().key, "port");
}

#[test]
fn master_key_of_equal_bytes_is_rejected() {
    for key in ["00", "5a"] {
        let problems = load("", &[("CAIS_MASTER_KEY", &key.repeat(32))]).unwrap_err();
        assert!(problems.to_string().contains("must be random"), "{problems}");
    }
}

#[test]
fn drain_delay_defaults_to_zero_on_a_single_node() {
    let postgres = "database_url = 'postgres://localhost/cais'\nmaster_key = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'";
    assert_eq!(load(postgres, &[]).unwrap().drain_delay_s, 5);
    assert_eq!(load(postgres, &[("CAIS_SANDBOX", "true")]).unwrap().drain_delay_s, 0);
    assert_eq!(load("", &[]).unwrap().drain_delay_s, 0);
    assert_eq!(load(postgres, &[("CAIS_DRAIN_DELAY_S", "0")]).unwrap().drain_delay_s, 0);
}

#[test]
fn admin_address_moves_only_in_development() {
    let may_move = |variables: &[(&str, &str)]| load("", variables).unwrap().admin_may_move();
    assert!(!may_move(&[]));
    assert!(may_move(&[("CAIS_SANDBOX", "true")]) && may_move(&[("CAIS_LISTEN", "127.0.0.1:0")]));
    assert!(!may_move(&[("CAIS_SANDBOX", "true"), ("CAIS_ADMIN_LISTEN", "127.0.0.1:9180")]));
}

#[test]
fn development_receivers_are_read() {
    let variables =
        [("CAIS_WEBHOOKS__ALLOW_INSECURE", "true"), ("CAIS_WEBHOOKS__ALLOW_ADDRESSES", "127.0.0.0/8, ::1/128")];
    let webhooks = load("", &variables).unwrap().webhooks;
    assert!(webhooks.allow_insecure);
    assert_eq!(webhooks.allow_addresses, ["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()]);
    assert_eq!(load("", &[]).unwrap().webhooks, WebhookSettings::default());
    assert!(load("[webhooks]\nallow_addresses = ['here']", &[]).is_err());
}

#[test]
fn missing_or_malformed_file_is_reported() {
    let problems = load("listen = ", &[]).unwrap_err();
    assert!(problems.to_string().contains("not valid TOML"), "{problems}");
    let problems = load("listen = '127.0.0.1:1'\nmaster_key = hushhush", &[]).unwrap_err().to_string();
    assert!(problems.contains("line 2") && !problems.contains("hushhush"), "{problems}");
    let missing = Sources { file: Some("/nowhere/cais.toml".into()), ..Sources::default() };
    assert!(Config::load(&missing).unwrap_err().to_string().contains("/nowhere/cais.toml"));
}

#[test]
fn configuration_page_matches_the_key_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CONFIGURATION.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page, docs::markdown()).unwrap();
    }
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(written == docs::markdown(), "run `cais config docs > docs/CONFIGURATION.md`");
}

keys! {
    /// A table of two keys.
    #[derive(Debug)]
    struct Sample {
        /// The size of the
        /// sample.
        size: u32 = number(1..=3).default("2");
        /// The secret.
        code: Option<String> = secret("text", |text| if text == "bad" { Err("is bad") } else { Ok(text.to_owned()) })
            .optional()
            .required_if(size == Some(3), "give one");
    }
}

#[test]
fn declared_key_is_read_checked_shown_and_described() {
    let read = |toml: &str, variables: &[(&str, &str)]| {
        let (_folder, sources) = sources(toml, variables);
        let mut reader = Reader::new(sources.merge().unwrap());
        let sample = Sample::read(&mut reader, "t");
        let effective: Vec<_> =
            reader.effective().iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect();
        (sample, effective, reader)
    };
    let (sample, effective, reader) = read("", &[("CAIS_T__SIZE", "1"), ("CAIS_T__CODE", "hush")]);
    let sample = sample.unwrap();
    assert_eq!((sample.size, sample.code.as_deref()), (1, Some("hush")));
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(effective, [pair("t.size", "1"), pair("t.code", "***")]);
    let [size, code] = &reader.into_described()[..] else { panic!("two keys") };
    assert_eq!((size.path.as_str(), size.takes.as_str(), size.default.as_str()), ("t.size", "1 to 3", "2"));
    assert_eq!((size.text.as_str(), size.is_secret), ("The size of the sample.", false));
    assert_eq!((code.default.as_str(), code.is_secret), ("", true));

    let problems = |toml: &str, variables: &[(&str, &str)]| {
        let (sample, _, reader) = read(toml, variables);
        assert!(sample.is_none());
        reader.finish().0.into_iter().map(|problem| format!("{}: {}", problem.key, problem.what)).collect::<Vec<_>>()
    };
    assert_eq!(problems("", &[("CAIS_T__SIZE", "4")]), ["t.size: must be a whole number from 1 to 3"]);
    assert_eq!(problems("t.size = '1'", &[]), ["t.size: must be a whole number from 1 to 3"]);
    assert_eq!(problems("t.code = 1", &[]), ["t.code: must be a text in quotes"]);
    assert_eq!(problems("t.size = 3\nt.sise = 2", &[]), ["t.code: is missing: give one", "t.sise: is not a known key"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("code");
    for (content, rule) in [("bad", "is bad".to_owned()), (" ", format!("`{}` is empty", file.display()))] {
        std::fs::write(&file, content).unwrap();
        let found = problems("", &[("CAIS_T__CODE_FILE", &file.display().to_string())]);
        assert_eq!(found, [format!("t.code_file: {rule}")], "{content}");
    }
}

#[test]
fn malformed_redis_url_is_reported_without_its_secret() {
    let Problems(problems) = load("redis_url = 'http://secret@127.0.0.1'", &[]).unwrap_err();
    assert_eq!(problems.iter().map(|problem| problem.key.as_str()).collect::<Vec<_>>(), ["redis_url"]);
    assert!(!problems.iter().any(|problem| problem.to_string().contains("secret")), "{problems:?}");
    assert!(load("redis_url = 'redis://:secret@127.0.0.1:6379'", &[]).unwrap().redis_url.is_some());
}
