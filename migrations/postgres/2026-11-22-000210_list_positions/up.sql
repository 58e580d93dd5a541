-- How far each of an acquirer's lists was read or compared.
CREATE TABLE list_positions (
    acquirer TEXT COLLATE "C" NOT NULL,
    list TEXT COLLATE "C" NOT NULL CHECK (list IN ('infractions', 'received', 'sent', 'returns')),
    seen_until BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (acquirer, list)
) WITH (fillfactor = 50);
INSERT INTO list_positions (acquirer, list, seen_until, version)
SELECT acquirer, 'infractions', seen_until, version FROM infraction_positions;
DROP TABLE infraction_positions;
