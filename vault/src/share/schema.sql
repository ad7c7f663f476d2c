-- The center of shares, version 1: which vault holds how much of which limit. Amounts are text of 39 digits, the width of
-- 2^128 - 1; times are Unix seconds by this server's clock.

CREATE TABLE bursar_share.vault (
    ledger text   COLLATE "C" PRIMARY KEY CHECK (ledger ~ '^[0-9a-f]{32}$'),
    life   text   COLLATE "C" NOT NULL CHECK (life ~ '^[0-9a-f]{32}$'),
    turn   bigint NOT NULL CHECK (turn >= 0),
    seen_s bigint NOT NULL CHECK (seen_s >= 0)
);

-- A limit's name, the key that is added up, and who could not have what it needed of it when.
CREATE TABLE bursar_share.line (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name     text   COLLATE "C" NOT NULL CHECK (name ~ '^[0-9a-f]{64}$'),
    key      text   COLLATE "C" NOT NULL,
    wanted   text   COLLATE "C" REFERENCES bursar_share.vault (ledger),
    wanted_s bigint CHECK ((wanted_s IS NULL) = (wanted IS NULL)),
    UNIQUE (name, key)
);
CREATE INDEX line_wanted ON bursar_share.line (wanted_s) WHERE wanted_s IS NOT NULL;

CREATE TABLE bursar_share.part (
    line    bigint NOT NULL REFERENCES bursar_share.line (id),
    ledger  text   COLLATE "C" NOT NULL REFERENCES bursar_share.vault (ledger),
    amount  text   COLLATE "C" NOT NULL CHECK (amount ~ '^[0-9]{39}$'),
    lasts_s bigint CHECK (lasts_s > 0),
    PRIMARY KEY (line, ledger)
);
CREATE INDEX part_of ON bursar_share.part (ledger, line);

-- Whose counting under which limit was told.
CREATE TABLE bursar_share.declared (
    name   text COLLATE "C" NOT NULL CHECK (name ~ '^[0-9a-f]{64}$'),
    ledger text COLLATE "C" NOT NULL REFERENCES bursar_share.vault (ledger),
    PRIMARY KEY (name, ledger)
);
