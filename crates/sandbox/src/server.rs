//! The HTTP server, with its routes. The server runs on its own thread.

use std::{any::Any, io, net::TcpListener, os::fd::AsFd, sync::Arc, thread, time::Duration};

use actix_web::{
    App, HttpServer,
    body::MessageBody,
    dev::{Extensions, ServerHandle, ServiceRequest, ServiceResponse},
    http::header::{DATE, HeaderValue},
    middleware::{Next, from_fn},
    rt::{System, net::TcpStream},
    web::{self, ServiceConfig},
};
use jiff::fmt::rfc2822::DateTimePrinter;
use reqwest::Client;
use tokio::sync::oneshot;

use crate::{
    callbacks, control,
    crypto::{
        self, CryptoError,
        http::{account, payment_list, payments, payout_list, payouts, rates},
        ipn::Ipns,
    },
    dialect,
    efi::{balance, infractions, refusal::Refusal, send, sent},
    faults::{self, Connection, ListenerSwitch},
    outbox,
    pix::{
        cob, oauth, payload,
        problem::{Kind, Problem},
        received, refund,
        views::PAYLOAD_PATH,
        webhook,
    },
    psp::Psp,
    ptax::{self, PtaxError},
    settlement,
    woovi::{self, WooviError, deliveries::Deliveries, http as woovi_http},
};

/// The seconds that a stopping server waits for running requests. Then it closes their connections.
const SHUTDOWN_TIMEOUT_S: u64 = 1;

/// The parameters of [`start`], apart from the institution.
pub struct Setup {
    /// The bound listener.
    pub listener: TcpListener,
    /// See [`crate::SandboxConfig::refuses_when_down`].
    pub refuses_when_down: bool,
    /// The number of HTTP worker threads.
    pub workers: usize,
    /// The HTTP client that sends callbacks, the processor's notifications and Woovi's webhooks.
    pub client: Client,
    /// The wait before the second attempt of a callback, notification or webhook. Later waits are computed from it.
    pub retry_base: Duration,
}

/// A server that runs on its own thread.
#[derive(Debug)]
pub struct Running {
    handle: ServerHandle,
    /// Resolves when the thread has ended, always with an error: the thread sends no value.
    ended: oneshot::Receiver<()>,
}

impl Running {
    /// Stops the server and waits for its thread.
    pub async fn stop(self) {
        self.handle.stop(true).await;
        // The error is expected: the thread drops the sender at its end.
        let _gone = self.ended.await;
    }

    /// Stops the server without waiting.
    pub fn abandon(&self) {
        drop(self.handle.stop(false));
    }
}

/// Starts the server on a thread with its own actix system, so that callers may use any runtime. Returns when the server listens.
///
/// # Errors
/// If no thread or no server can be created.
pub async fn start(psp: Arc<Psp>, setup: Setup) -> io::Result<Running> {
    let (started, start) = oneshot::channel();
    let (end, ended) = oneshot::channel::<()>();
    thread::Builder::new().name("cais-sandbox".to_owned()).spawn(move || {
        System::new().block_on(run(psp, setup, started));
        drop(end);
    })?;
    let handle = start.await.map_err(|_| io::Error::other("the server's thread ended at once"))??;
    Ok(Running { handle, ended })
}

async fn run(psp: Arc<Psp>, setup: Setup, started: oneshot::Sender<io::Result<ServerHandle>>) {
    let data = web::Data::new(psp.clone());
    let second_handle = match setup.refuses_when_down.then(|| setup.listener.try_clone()).transpose() {
        Ok(handle) => handle,
        Err(error) => {
            let _gone = started.send(Err(error));
            return;
        }
    };
    let server = HttpServer::new(move || {
        App::new()
            .app_data(data.clone())
            .wrap(from_fn(faults::inject))
            .wrap(from_fn(dialect::translate))
            .wrap(from_fn(dated))
            .configure(routes)
    })
    .on_connect(remember_socket)
    .workers(setup.workers.max(1))
    .shutdown_timeout(SHUTDOWN_TIMEOUT_S)
    .disable_signals()
    .listen(setup.listener);
    let server = match server {
        Ok(server) => server.run(),
        Err(error) => {
            // Sending fails only if the caller no longer waits. Then the error has no receiver.
            let _gone = started.send(Err(error));
            return;
        }
    };
    if let Some(listener) = second_handle {
        psp.faults.refuse_when_down(ListenerSwitch::new(listener, server.handle()));
    }
    let background = [
        tokio::spawn(settlement::settle_on_time(psp.clone())),
        tokio::spawn(callbacks::deliver(psp.clone(), setup.client.clone(), setup.retry_base)),
        tokio::spawn(outbox::deliver(Arc::new(Ipns {
            psp: psp.clone(),
            client: setup.client.clone(),
            repeat_after: setup.retry_base,
        }))),
        tokio::spawn(outbox::deliver(Arc::new(Deliveries {
            psp: psp.clone(),
            client: setup.client,
            repeat_after: setup.retry_base,
        }))),
    ];
    if started.send(Ok(server.handle())).is_ok()
        && let Err(error) = server.await
    {
        tracing::error!(%error, "server of the sandbox failed; the sandbox stops");
    }
    for task in background {
        task.abort();
    }
    psp.faults.drop_listener();
    psp.close();
}

/// Sets the header `Date` of responses to the instant of the simulator's clock, so that a client can compare it with its own clock.
async fn dated(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let now = request.app_data::<web::Data<Arc<Psp>>>().map(|psp| psp.clock.now());
    let mut response = next.call(request).await?;
    let date = now.and_then(|now| DateTimePrinter::new().timestamp_to_rfc9110_string(&now).ok());
    if let Some(date) = date.and_then(|date| HeaderValue::from_str(&date).ok()) {
        response.headers_mut().insert(DATE, date);
    }
    Ok(response)
}

/// Keeps a second handle on the socket of each connection, for faults that cut the connection.
fn remember_socket(connection: &dyn Any, extensions: &mut Extensions) {
    let socket = connection.downcast_ref::<TcpStream>().and_then(|tcp| tcp.as_fd().try_clone_to_owned().ok());
    if let Some(socket) = socket {
        extensions.insert(Connection(socket.into()));
    }
}

/// Defines a resource with its methods. Every other method is refused with 405. The form of this refusal is the type before `;`, by
/// default [`Problem`].
macro_rules! resource {
    ($refusal:ident; $path:expr, $allow:literal, $($method:ident => $handler:expr),+) => {
        web::resource($path)
            $(.route(web::$method().to($handler)))+
            .default_service(web::to(|| async { Err::<&str, _>($refusal::method_not_allowed($allow)) }))
    };
    ($path:expr, $allow:literal, $($method:ident => $handler:expr),+) => {
        resource!(Problem; $path, $allow, $($method => $handler),+)
    };
}

fn routes(config: &mut ServiceConfig) {
    config
        .app_data(
            web::PathConfig::default().error_handler(|error, _| {
                Problem::new(Kind::NotFound, format!("the path cannot be read: {error}")).into()
            }),
        )
        .service(resource!("/oauth/token", "POST", post => oauth::token))
        .service(resource!("/v2/cob", "GET, POST", get => cob::list, post => cob::post))
        .service(resource!("/v2/cob/{txid}", "GET, PUT, PATCH", get => cob::get, put => cob::put, patch => cob::patch))
        .service(resource!("/v2/pix", "GET", get => received::list))
        .service(resource!("/v2/pix/{e2eid}", "GET", get => received::get))
        .service(resource!("/v2/pix/{e2eid}/devolucao/{id}", "GET, PUT", get => refund::get, put => refund::put))
        .service(resource!("/v2/webhook", "GET", get => webhook::list))
        .service(resource!(
            "/v2/webhook/{chave}", "GET, PUT, DELETE",
            get => webhook::get, put => webhook::put, delete => webhook::delete
        ))
        .service(resource!(format!("{PAYLOAD_PATH}{{token}}"), "GET", get => payload::get))
        .configure(own_routes)
        .configure(crypto_routes)
        .configure(woovi_routes)
        .configure(control_routes)
        .default_service(web::to(|| async { Err::<&str, _>(Problem::new(Kind::NotFound, "there is no such path")) }));
}

/// Registers the routes of Efí's extensions.
fn own_routes(config: &mut ServiceConfig) {
    config
        .service(resource!(Refusal; "/v3/gn/pix/{id}", "PUT", put => send::put))
        .service(resource!(Refusal; "/v2/gn/pix/enviados", "GET", get => sent::list))
        .service(resource!(Refusal; "/v2/gn/pix/enviados/{e2eid}", "GET", get => sent::get))
        .service(resource!(Refusal; "/v2/gn/pix/enviados/id-envio/{id}", "GET", get => sent::get_by_id))
        .service(resource!(Refusal; "/v2/gn/infracoes", "GET", get => infractions::list))
        .service(resource!(Refusal; "/v2/gn/infracoes/{id}/defesa", "POST", post => infractions::defend))
        .service(resource!(Refusal; "/v2/gn/saldo", "GET", get => balance::get));
}

/// Registers the routes of the crypto processor and of the PTAX service.
fn crypto_routes(config: &mut ServiceConfig) {
    let processor = web::scope("/v1")
        .service(resource!(CryptoError; "/status", "GET", get => rates::status))
        .service(resource!(CryptoError; "/auth", "POST", post => account::login))
        .service(resource!(CryptoError; "/currencies", "GET", get => rates::currencies))
        .service(resource!(CryptoError; "/full-currencies", "GET", get => rates::full_currencies))
        .service(resource!(CryptoError; "/merchant/coins", "GET", get => rates::merchant_coins))
        .service(resource!(CryptoError; "/min-amount", "GET", get => rates::min_amount))
        .service(resource!(CryptoError; "/estimate", "GET", get => rates::estimate))
        .service(resource!(CryptoError; "/balance", "GET", get => rates::balance))
        .service(resource!(
            CryptoError; ["/payment", "/payment/"], "GET, POST",
            get => payment_list::list, post => payments::create
        ))
        .service(resource!(CryptoError; "/payment/{id}", "GET", get => payments::get))
        .service(resource!(
            CryptoError; "/payment/{id}/update-merchant-estimate", "POST", post => payments::update_estimate
        ))
        .service(resource!(CryptoError; "/payout-withdrawal/min-amount/{coin}", "GET", get => payouts::min_amount))
        .service(resource!(CryptoError; "/payout/validate-address", "POST", post => payouts::validate))
        .service(resource!(CryptoError; "/payout/fee", "GET", get => payouts::fee))
        .service(resource!(CryptoError; "/payout", "GET, POST", get => payout_list::list, post => payouts::create))
        .service(resource!(CryptoError; "/payout/{id}", "GET", get => payout_list::get))
        .service(resource!(CryptoError; "/payout/{id}/verify", "POST", post => payouts::verify))
        .service(resource!(CryptoError; "/payout/{id}/cancel", "POST", post => payouts::cancel))
        .default_service(web::to(|| async { Err::<&str, _>(CryptoError::not_found("Endpoint")) }));
    config.service(processor).service(resource!(
        PtaxError; format!("{}{{function}}", ptax::PATH), "GET", get => ptax::rates
    ));
}

/// Registers the routes of the institution's second API, that of Woovi.
fn woovi_routes(config: &mut ServiceConfig) {
    use woovi_http::{account, charge_list, charges, disputes, payments, refunds, transactions, webhooks};
    let api = web::scope("/woovi/api/v1")
        .service(resource!(
            WooviError; ["/charge", "/charge/"], "GET, POST", get => charge_list::list, post => charges::create
        ))
        .service(resource!(
            WooviError; "/charge/{id}", "GET, PATCH, DELETE",
            get => charges::get, patch => charges::patch, delete => charges::delete
        ))
        .service(resource!(
            WooviError; "/charge/{id}/refund", "GET, POST",
            get => refunds::of_charge, post => refunds::create_for_charge
        ))
        .service(resource!(WooviError; "/refund", "GET, POST", get => refunds::list, post => refunds::create))
        .service(resource!(WooviError; "/refund/{id}", "GET", get => refunds::get))
        .service(resource!(WooviError; "/transaction", "GET", get => transactions::list))
        .service(resource!(WooviError; "/transaction/{id}", "GET", get => transactions::get))
        .service(resource!(WooviError; "/payment", "GET, POST", get => payments::list, post => payments::create))
        .service(resource!(WooviError; "/payment/approve", "POST", post => payments::approve))
        .service(resource!(WooviError; "/payment/{id}", "GET", get => payments::get))
        .service(resource!(WooviError; "/dispute", "GET", get => disputes::list))
        .service(resource!(WooviError; "/dispute/{id}", "GET", get => disputes::get))
        .service(resource!(WooviError; "/dispute/{id}/evidence", "POST", post => disputes::evidence))
        .service(resource!(WooviError; ["/account", "/account/"], "GET", get => account::list))
        .service(resource!(WooviError; "/account/{id}", "GET", get => account::get))
        .service(resource!(WooviError; "/statement", "GET", get => account::statement))
        .service(resource!(WooviError; "/webhook", "GET, POST", get => webhooks::list, post => webhooks::create))
        .service(resource!(WooviError; "/webhook/events", "GET", get => webhooks::events))
        .service(resource!(WooviError; "/webhook/public-keys", "GET", get => webhooks::public_keys))
        .service(resource!(WooviError; "/webhook/{id}", "DELETE", delete => webhooks::delete))
        .default_service(web::to(|| async { Err::<&str, _>(WooviError::no_path()) }));
    config.service(api);
}

fn control_routes(config: &mut ServiceConfig) {
    use control::http as hand;
    use crypto::control::http as crypto_hand;
    config
        .service(resource!("/sandbox/cob/{txid}/pay", "POST", post => hand::pay))
        .service(resource!("/sandbox/cob/{txid}/expire", "POST", post => hand::expire))
        .service(resource!("/sandbox/pix/{e2eid}/devolucao/{id}/fail", "POST", post => hand::fail_refund))
        .service(resource!("/sandbox/pix/{e2eid}/infraction", "POST", post => control::infractions::open))
        .service(resource!("/sandbox/infractions/{id}/resolve", "POST", post => control::infractions::resolve))
        .service(resource!("/sandbox/sent/{id}/return", "POST", post => hand::return_sent))
        .service(resource!("/sandbox/payment/{id}/pay", "POST", post => crypto_hand::pay))
        .service(resource!("/sandbox/payment/{id}/{step}", "POST", post => crypto_hand::move_payment))
        .service(resource!("/sandbox/withdrawal/{id}/{step}", "POST", post => crypto_hand::move_withdrawal))
        .service(resource!("/sandbox/crypto/settings", "PUT", put => crypto_hand::settings))
        .service(resource!("/sandbox/crypto/coins/{code}", "PUT", put => crypto_hand::coin))
        .service(resource!("/sandbox/woovi/settings", "PUT", put => woovi::control::settings))
        .service(resource!("/sandbox/woovi/payment/{id}/remove", "POST", post => woovi::control::remove_payment))
        .service(resource!("/sandbox/ptax", "PUT", put => ptax::control::put))
        .service(resource!("/sandbox/saldo", "PUT", put => hand::balance))
        .service(resource!("/sandbox/faults", "PUT", put => hand::faults))
        .service(resource!("/sandbox/dialect", "PUT", put => hand::dialect))
        .service(resource!("/sandbox/clock", "PUT", put => hand::clock))
        .service(resource!("/sandbox/ledger", "GET", get => hand::ledger));
}
