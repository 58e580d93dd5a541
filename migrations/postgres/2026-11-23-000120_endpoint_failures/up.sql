-- Each row is an endpoint at which every attempt of an epoch failed since an instant. Endpoints without such a failure have no row.
CREATE TABLE endpoint_failures (
    account_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    failing_since BIGINT NOT NULL,
    PRIMARY KEY (account_id, endpoint_id, epoch)
);
