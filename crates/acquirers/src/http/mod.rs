//! Shared parts of adapters over HTTP: a client with limits, bounded answers, and the classification of failures.

mod answered;
mod certificate;
mod client;
mod defect;
mod exchange;
mod failure;
mod fold;
mod json;
mod problem;
mod tls;
mod token;
mod url;

pub use cais_ports::Secret;
pub use certificate::{Certificate, CertificateError};

pub(crate) use answered::observe;
pub(crate) use client::{ClientSettings, build};
pub(crate) use defect::{Defect, FindError, instant};
pub(crate) use exchange::{MAX_ANSWER_BYTES, Reply, send};
pub(crate) use failure::{of_order, of_problem, of_reply, of_transport};
pub(crate) use fold::folded;
pub(crate) use json::{part, text};
pub(crate) use problem::Problem;
pub(crate) use tls::TlsError;
pub(crate) use token::{Granted, Token, TokenGrant, Tokens};
pub(crate) use url::{UrlError, encode_segment, parse_base};
