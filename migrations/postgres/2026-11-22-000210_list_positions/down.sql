CREATE TABLE infraction_positions (
    acquirer TEXT COLLATE "C" PRIMARY KEY,
    seen_until BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1)
) WITH (fillfactor = 50);
INSERT INTO infraction_positions (acquirer, seen_until, version)
SELECT acquirer, seen_until, version FROM list_positions WHERE list = 'infractions';
DROP TABLE list_positions;
