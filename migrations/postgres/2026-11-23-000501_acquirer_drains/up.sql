-- Each row is an acquirer that an operator drained at least once. `since` is null after the end of the drain.
CREATE TABLE acquirer_drains (
    acquirer TEXT COLLATE "C" PRIMARY KEY,
    since BIGINT,
    version BIGINT NOT NULL CHECK (version >= 1)
);
