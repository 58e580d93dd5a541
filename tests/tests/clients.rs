//! Clients generated from the `OpenAPI` document by published generators, with their default settings.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use cais_testkit::server::cais_binary;

/// A program that uses the generated types: the README's smallest charge, an event's typed data, and an error code.
const TYPESCRIPT: &str = r#"
import type { components, paths } from "./schema";

export const smallest: components["schemas"]["NewCharge"] = { amount: 25.9 };
export const code: components["schemas"]["ErrorCode"] = "insufficient_balance";
export type Created = paths["/v1/charges"]["post"]["responses"]["201"]["content"]["application/json"];

export function amountOf(event: components["schemas"]["Event"]): number | null {
  switch (event.type) {
    case "charge.paid":
      return event.data.amount;
    case "payout.completed":
      return event.data.gross_amount;
    default:
      return null;
  }
}
"#;

/// Imports all generated modules, writes the README's smallest charge, and reads an event.
const PYTHON: &str = r#"
import importlib, pkgutil
import client, client.models as models

for module in pkgutil.walk_packages(client.__path__, "client."):
    importlib.import_module(module.name)
assert models.NewCharge(amount=25.9).to_dict() == {"amount": 25.9}
event = models.TestEvent.from_dict({
    "id": "evt_1", "type": "webhook.test", "timestamp": "2026-01-02T12:00:00Z", "sequence": None, "api_version": "1.1.0",
    "data": {"endpoint_id": "whe_1", "message": "hello"},
})
assert event.data.endpoint_id == "whe_1"
"#;

/// Returns the folder of a generator installed by `scripts/setup`.
fn generator(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let verifiers = std::env::var_os("CAIS_VERIFIERS").map_or_else(|| root.join("target/verifiers"), PathBuf::from);
    verifiers.join(name)
}

/// Runs a command in `folder`. If the command fails, the test fails with the command's output.
#[track_caller]
fn run(folder: &Path, command: &mut Command) {
    let output = command.current_dir(folder).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&text));
}

/// Returns a folder with the document as `openapi.json`.
fn document() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(cais_binary().unwrap()).arg("openapi").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    std::fs::write(folder.path().join("openapi.json"), output.stdout).unwrap();
    folder
}

#[test]
fn typescript_client_compiles_under_strict() {
    let folder = document();
    let programs = generator("typescript").join("node_modules/.bin");
    let folder = folder.path();
    run(folder, Command::new(programs.join("openapi-typescript")).args(["openapi.json", "-o", "schema.d.ts"]));
    std::fs::write(folder.join("use.ts"), TYPESCRIPT).unwrap();
    run(folder, Command::new(programs.join("tsc")).args(["--strict", "--noEmit", "use.ts"]));
}

#[test]
fn python_client_generates_and_imports() {
    let folder = document();
    let generator = generator("python-client");
    // The generator formats its output with a program in its folder `bin`.
    let path = std::env::join_paths(
        [generator.join("bin")].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let generate =
        "-m openapi_python_client generate --path openapi.json --meta none --output-path client --fail-on-warning";
    let mut command = Command::new("python3");
    command.args(generate.split(' ')).env("PYTHONPATH", &generator).env("PATH", path.unwrap());
    run(folder.path(), &mut command);
    let mut command = Command::new("python3");
    run(folder.path(), command.args(["-c", PYTHON]).env("PYTHONPATH", &generator));
}
