-- Each row is an acquirer that an operator drained at least once. `since` is null after the end of the drain.
CREATE TABLE acquirer_drains (
    acquirer TEXT PRIMARY KEY,
    since INTEGER,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
