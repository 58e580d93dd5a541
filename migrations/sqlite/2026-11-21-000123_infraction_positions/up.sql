-- How far each acquirer's list of infractions was read.
CREATE TABLE infraction_positions (
    acquirer TEXT PRIMARY KEY,
    seen_until INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
