//! The dashboard of the running program: over HTTP as a browser without scripts uses it, and in Chromium.

mod browser;
mod clicks;
mod flows;
mod orders;
mod pages;
mod payments;
mod plain;
mod routes;
mod webhooks;
