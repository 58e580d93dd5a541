//! The drain of an acquirer, if the store refuses the row of the audit log.

use std::sync::Arc;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::IdGenerator;
use cais_use_cases::acquirer_drain;
use cais_use_cases::store_error::StoreError;
use uuid::Uuid;

use crate::bed::{TestBed, operator};

/// Returns the same id each time.
struct OneId;

impl IdGenerator for OneId {
    fn next_uuid(&self) -> Uuid {
        Uuid::from_u128(1)
    }
}

#[tokio::test]
async fn drain_with_existing_audit_row_fails_with_its_cause() {
    let mut ports = TestBed::new().ports.clone();
    ports.ids = Arc::new(OneId);
    let [main, backup] = ["main", "backup"].map(|name| AcquirerName::parse(name).unwrap());
    acquirer_drain::begin(&ports, &operator(), &main).await.unwrap();
    let failed = acquirer_drain::begin(&ports, &operator(), &backup).await;
    assert!(matches!(&failed, Err(StoreError::Internal(cause)) if cause.contains("Audit")), "{failed:?}");
    assert_eq!(acquirer_drain::drained(&ports).await.unwrap(), [main]);
}
