//! The baseline for the service's GET of a charge: a minimal HTTP handler that parses the id and reads no database. Its
//! body is as long as the service's.

use std::io::Write as _;
use std::process::{Command, Stdio};

use actix_web::http::header::ContentType;
use actix_web::{App, HttpResponse, HttpServer, rt, web};
use anyhow::{Context as _, Result};
use cais_domain::ids::ChargeId;

use crate::process::Running;

/// The subcommand that runs the handler in its own process, as the service runs in its own.
pub const SUBCOMMAND: &str = "bare";

/// Starts the handler in its own process. Each body has `bytes` bytes. Returns the process and its address.
///
/// # Errors
/// If the handler does not start.
pub fn start(workers: usize, bytes: usize) -> Result<(Running, std::net::SocketAddr)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(SUBCOMMAND).args(["--workers", &workers.to_string(), "--bytes", &bytes.to_string()]);
    let mut running = Running::start(command.stdout(Stdio::piped()).stdin(Stdio::null()))?;
    let address = running.first_line()?;
    Ok((running, address.parse().with_context(|| format!("`{address}` is not an address"))?))
}

/// Serves until killed. Prints the address first.
///
/// # Errors
/// If no port can be opened, the address cannot be printed, or the server fails.
pub fn serve(workers: usize, bytes: usize) -> Result<()> {
    rt::System::new().block_on(async move {
        let rest = "x".repeat(bytes.saturating_sub(r#"{"id":"chg_00000000000000000000000000","rest":""}"#.len()));
        let rest = web::Data::new(rest);
        let server =
            HttpServer::new(move || App::new().app_data(rest.clone()).route("/v1/charges/{id}", web::get().to(charge)));
        let server = server.workers(workers).bind(("127.0.0.1", 0))?;
        let address = server.addrs().first().copied().context("no address")?;
        writeln!(std::io::stdout(), "{address}")?;
        server.run().await.context("the bare handler")
    })
}

async fn charge(id: web::Path<String>, rest: web::Data<String>) -> HttpResponse {
    match ChargeId::parse(&id) {
        Ok(id) => {
            let body = format!(r#"{{"id":"{id}","rest":"{}"}}"#, rest.as_str());
            HttpResponse::Ok().content_type(ContentType::json()).body(body)
        }
        Err(error) => HttpResponse::BadRequest().body(error.to_string()),
    }
}
