//! The sandbox, used by Efí's official clients without changes but for the host.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Institution;

/// The answers that the schemas of version 2 refuse, and the reason why the sandbox has them. The client validates no
/// answer by itself. The page of the sandbox lists the reasons too.
const DIFFERENCES: [&str; 9] = [
    // The standard shows the value's components and the key of a Pix.
    "pixDetailCharge\tpix.0 unrecognized_keys componentesValor chave",
    "pixListCharges\tcobs.0.pix.0 unrecognized_keys componentesValor",
    // The standard shows the nature of a return, by which returns of infractions are recognized.
    "pixDetailCharge\tpix.0.devolucoes.0 unrecognized_keys natureza",
    "pixListCharges\tcobs.0.pix.0.devolucoes.0 unrecognized_keys natureza",
    "pixDetailReceived\tdevolucoes.0 unrecognized_keys natureza",
    "pixReceivedList\tpix.0.devolucoes.0 unrecognized_keys natureza",
    // Efí's documents show the recipient's name and document beside the key.
    "pixSendDetail\tfavorecido invalid_union",
    "pixSendDetailId\tfavorecido invalid_union",
    "pixSendList\tpix.0.favorecido invalid_union",
];

const NODE: &str = include_str!("client.cjs");
const PYTHON: &str = include_str!("client.py");

/// Returns a folder of a client that `scripts/setup` installed.
fn client_folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let verifiers = std::env::var_os("CAIS_VERIFIERS").map_or_else(|| root.join("target/verifiers"), PathBuf::from);
    verifiers.join(name)
}

/// Runs a client against a new sandbox. Returns the lines that it prints.
fn run(command: &mut Command) -> BTreeSet<String> {
    let institution = Institution::start();
    let folder = tempfile::tempdir().unwrap();
    // The clients read a certificate at each request, and do not use it without TLS.
    let file = folder.path().join("certificate");
    std::fs::write(&file, "").unwrap();
    for name in ["base_url", "client_id", "client_secret", "pix_key"] {
        command.arg(institution.credential(name));
    }
    // Requests to this machine pass no proxy.
    let output = command.arg(&file).env("NO_PROXY", "127.0.0.1").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    printed.lines().map(str::to_owned).collect()
}

fn run_node(version: &str) -> BTreeSet<String> {
    let modules = client_folder(version).join("node_modules");
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("client.cjs");
    std::fs::write(&script, NODE).unwrap();
    run(Command::new("node").arg(script).arg(modules))
}

#[test]
fn efi_node_client_1_works_with_the_sandbox() {
    assert_eq!(run_node("efi-node-1"), BTreeSet::new(), "this version has no schemas");
}

#[test]
fn efi_node_client_2_accepts_all_but_the_listed_answers() {
    assert_eq!(run_node("efi-node-2"), BTreeSet::from(DIFFERENCES.map(str::to_owned)));
}

#[test]
fn efi_python_client_works_with_the_sandbox() {
    run(Command::new("python3").args(["-c", PYTHON]).env("PYTHONPATH", client_folder("efi-python")));
}
