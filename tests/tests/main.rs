//! The black-box tests of Cais, one module per concern.

mod acquirer_trial;
mod acquirers;
mod architecture;
mod cli;
mod cli_messages;
mod clients;
mod contract;
mod crash;
mod credentials;
mod crypto;
mod crypto_client;
mod dashboard;
mod doctor;
mod efi_clients;
mod failing_parts;
mod idempotency;
mod infractions;
mod installation;
mod main_job;
mod money_out;
mod observation;
mod support;
mod two_nodes;
mod upstream;
mod webhooks;
mod woovi;
