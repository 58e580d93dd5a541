CREATE TABLE infraction_positions (
    acquirer TEXT PRIMARY KEY,
    seen_until INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
INSERT INTO infraction_positions (acquirer, seen_until, version)
SELECT acquirer, seen_until, version FROM list_positions WHERE list = 'infractions';
DROP TABLE list_positions;
