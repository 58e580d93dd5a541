//! Texts of the command line: errors for programs, hints for people, completions and manual pages.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use cais_testkit::server::Cais;
use serde_json::Value;

use crate::support::{Engine, unstarted};

/// Runs a command, checks its exit code, and returns its output.
#[track_caller]
fn output_at_exit(place: &Cais, code: i32, words: &[&str]) -> String {
    let (exit, printed) = place.cli_raw(words).unwrap();
    assert_eq!(exit, Some(code), "{words:?}: {printed}");
    printed
}

#[test]
fn failure_with_json_is_one_object_with_its_code() {
    let place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    let error = |place: &Cais, exit: i32, words: &[&str]| -> Value {
        let printed = output_at_exit(place, exit, &[words, &["--json"]].concat());
        let object: Value = serde_json::from_str(printed.trim()).unwrap_or_else(|error| panic!("{error}: {printed}"));
        object["error"].clone()
    };
    let missing = error(&place, 1, &["account", "list"]);
    assert_eq!(missing["code"], "failed");
    assert!(missing["message"].as_str().unwrap().contains("there is no database at"), "{missing}");
    for words in [&["nonsense"][..], &["account", "limits", "--account", "a@b.co", "--charge", "x"], &["demo"]] {
        let usage = error(&place, 2, words);
        assert_eq!(usage["code"], "usage", "{usage}");
    }
    let wrong = unstarted(Engine::Sqlite, &[("CAIS_WORKERS", "many"), ("CAIS_COLOR", "blue")]);
    let mistakes = error(&wrong, 1, &["account", "list"]);
    assert_eq!(mistakes["code"], "configuration");
    let keys: Vec<&Value> = mistakes["problems"].as_array().unwrap().iter().map(|problem| &problem["key"]).collect();
    assert_eq!(keys, ["color", "workers"], "{mistakes}");
    assert!(output_at_exit(&place, 1, &["account", "list"]).starts_with("cais: "), "without --json, an error is text");
}

#[test]
fn help_and_version_with_json_stay_text() {
    let place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    for words in [&["--json", "--help"][..], &["--json", "--version"]] {
        let printed = output_at_exit(&place, 0, words);
        assert!(printed.contains("ais") && !printed.starts_with('{'), "{printed}");
    }
}

#[test]
fn usage_error_names_the_form_of_the_value() {
    let place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    let fees = ["account", "fees", "--account", "a@b.co", "--operation", "pix_in"];
    let key = ["key", "create", "--account", "a@b.co", "--name", "x", "--scopes", "charge:read"];
    for (words, hint) in [
        (&["account", "limits", "--account", "a@b.co", "--charge", "20.000,00"][..], "decimal point"),
        (&[&fees[..], &["--fixed", "0,50"]].concat(), "such as 20000.50"),
        (&[&fees[..], &["--percent", "0,99"]].concat(), "such as 0.99"),
        (&key, "charges:read, charges:write"),
        (&["infraction", "show", "x"], "inf_"),
        (&["listen", "--forward-to", "ftp://localhost"], "http or https"),
    ] {
        let printed = output_at_exit(&place, 2, words);
        assert!(printed.contains(hint), "{words:?}: {printed}");
    }
    assert!(output_at_exit(&place, 0, &["key", "create", "--help"]).contains("charges:read, charges:write"));
}

#[test]
fn global_options_stand_apart_in_every_help() {
    let place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    for words in [&["--help"][..], &["listen", "--help"], &["account", "fees", "--help"]] {
        let printed = output_at_exit(&place, 0, words);
        let (own, global) = printed.split_once("Global options:").unwrap();
        for option in ["--config", "--json", "--operator"] {
            assert!(global.contains(option) && !own.contains(&format!("{option} ")), "{words:?}: {printed}");
        }
    }
}

#[test]
fn migration_status_has_one_line_per_migration() {
    let place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    let lines = |exit: i32| output_at_exit(&place, exit, &["migrate", "--status"]);
    let before = lines(1);
    assert!(before.lines().count() > 10 && before.lines().skip(1).all(|line| line.ends_with("pending")), "{before}");
    place.cli(&["migrate"]).unwrap();
    let after = lines(0);
    assert!(after.lines().skip(1).all(|line| line.ends_with("applied")), "{after}");
    assert_eq!(after.lines().count(), before.lines().count());
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let place = Cais::prepare(Engine::Sqlite, &[]).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = output_at_exit(&place, 0, &["completions", shell]);
        assert!(["release-delay", "doctor", "forward-to"].iter().all(|word| script.contains(word)), "{shell}");
    }
    assert!(output_at_exit(&place, 0, &["man"]).contains(".SH SUBCOMMANDS"));
    let pages = place.data_dir().join("pages");
    output_at_exit(&place, 0, &["man", "--out", &pages.display().to_string()]);
    for page in ["cais.1", "cais-doctor.1", "cais-account-create.1"] {
        assert!(std::fs::read_to_string(pages.join(page)).unwrap().contains(".SH NAME"), "{page}");
    }
}
