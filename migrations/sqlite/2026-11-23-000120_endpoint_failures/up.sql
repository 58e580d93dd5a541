-- Each row is an endpoint at which every attempt of an epoch failed since an instant. Endpoints without such a failure have no row.
CREATE TABLE endpoint_failures (
    account_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    failing_since INTEGER NOT NULL,
    PRIMARY KEY (account_id, endpoint_id, epoch)
) STRICT, WITHOUT ROWID;
