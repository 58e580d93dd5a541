//! Shared parts of adapters over HTTP: a client with limits, bounded answers, and the classification of failures.

mod answered;
mod certificate;
mod client;
mod exchange;
mod failure;
mod problem;
mod tls;
mod url;

pub use cais_ports::Secret;
pub use certificate::{Certificate, CertificateError};

pub(crate) use answered::observe;
pub(crate) use client::{ClientSettings, build};
pub(crate) use exchange::{MAX_ANSWER_BYTES, Reply, TransportError, send};
pub(crate) use failure::{of_order, of_reply, of_transport};
pub(crate) use problem::Problem;
pub(crate) use tls::TlsError;
pub(crate) use url::{UrlError, encode_segment, parse_base};
