-- How far each acquirer's list of infractions was read.
CREATE TABLE infraction_positions (
    acquirer TEXT COLLATE "C" PRIMARY KEY,
    seen_until BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1)
) WITH (fillfactor = 50);
