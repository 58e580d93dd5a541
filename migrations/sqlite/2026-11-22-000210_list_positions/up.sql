-- How far each of an acquirer's lists was read or compared.
CREATE TABLE list_positions (
    acquirer TEXT NOT NULL,
    list TEXT NOT NULL CHECK (list IN ('infractions', 'received', 'sent', 'returns')),
    seen_until INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (acquirer, list)
) STRICT;
INSERT INTO list_positions (acquirer, list, seen_until, version)
SELECT acquirer, 'infractions', seen_until, version FROM infraction_positions;
DROP TABLE infraction_positions;
