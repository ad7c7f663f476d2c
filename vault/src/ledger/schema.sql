-- The ledger, version 1. Every rule that SQLite can hold is held here as well as in the code above it, so that a
-- mistake there is a failed statement and not a changed story.
--
-- Amounts and money are text of 39 digits: the width of 2^128 - 1, so that text order is number order.
-- Digests and nonces are 64 lower-case hex digits. Times are Unix seconds.

CREATE TABLE meta (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    ledger_id   TEXT    NOT NULL CHECK (length(ledger_id) = 32 AND ledger_id NOT GLOB '*[^0-9a-f]*'),
    setting     TEXT    NOT NULL CHECK (setting IN ('real', 'sandbox')),
    key_address TEXT    CHECK (length(key_address) = 42),
    created_s   INTEGER NOT NULL CHECK (created_s >= 0),
    recorded_s  INTEGER NOT NULL CHECK (recorded_s >= 0),
    boot_id     TEXT    NOT NULL,
    wall_s      INTEGER NOT NULL CHECK (wall_s >= 0),
    boot_ms     INTEGER NOT NULL CHECK (boot_ms >= 0),
    frozen      TEXT,
    latched     TEXT,
    event_seq   INTEGER NOT NULL CHECK (event_seq >= 0),
    event_hash  TEXT    NOT NULL CHECK (length(event_hash) = 64)
) STRICT;

CREATE TABLE session (
    seq       INTEGER PRIMARY KEY,
    id        TEXT    NOT NULL UNIQUE CHECK (id GLOB 's_*' AND length(id) = 34),
    name      TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 32 AND name NOT GLOB '*[^a-z0-9-]*'),
    currency  TEXT    NOT NULL CHECK (currency GLOB '[A-Z][A-Z][A-Z]'),
    budget    TEXT    NOT NULL CHECK (length(budget) = 39 AND budget NOT GLOB '*[^0-9]*'),
    created_s INTEGER NOT NULL,
    expires_s INTEGER NOT NULL CHECK (created_s < expires_s),
    closed_s  INTEGER CHECK (created_s <= closed_s)
) STRICT;
CREATE UNIQUE INDEX session_open_name ON session (name) WHERE closed_s IS NULL;
CREATE INDEX session_name ON session (name, seq);

-- What a purchase id means, for ever, in its session.
CREATE TABLE purchase (
    session     TEXT    NOT NULL REFERENCES session (id),
    purchase_id TEXT    NOT NULL CHECK (length(purchase_id) BETWEEN 1 AND 64),
    subject     TEXT    NOT NULL CHECK (length(subject) = 64 AND subject NOT GLOB '*[^0-9a-f]*'),
    bound_s     INTEGER NOT NULL,
    PRIMARY KEY (session, purchase_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE payment (
    seq          INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE CHECK (id GLOB 'p_*' AND length(id) = 34),
    state        TEXT    NOT NULL
                 CHECK (state IN ('held', 'exposed', 'settled', 'presumed_spent', 'lapsed', 'voided')),
    session      TEXT    NOT NULL REFERENCES session (id),
    identity     TEXT    NOT NULL CHECK (length(identity) = 64 AND identity NOT GLOB '*[^0-9a-f]*'),
    subject      TEXT    NOT NULL CHECK (length(subject) = 64 AND subject NOT GLOB '*[^0-9a-f]*'),
    purchase_id  TEXT    CHECK (length(purchase_id) BETWEEN 1 AND 64),
    origin       TEXT    NOT NULL,
    url          TEXT    NOT NULL CHECK (length(url) <= 8192),
    method       TEXT    NOT NULL CHECK (method IN ('GET', 'HEAD', 'POST')),
    body         TEXT    CHECK (length(body) = 64 AND body NOT GLOB '*[^0-9a-f]*'),
    terms        TEXT    NOT NULL CHECK (json_valid(terms)),
    version      INTEGER NOT NULL CHECK (version IN (1, 2)),
    chain        TEXT    NOT NULL CHECK (chain GLOB 'eip155:[0-9]*'),
    asset        TEXT    NOT NULL CHECK (length(asset) = 42),
    symbol       TEXT    NOT NULL,
    payee        TEXT    NOT NULL CHECK (length(payee) = 42),
    payer        TEXT    NOT NULL CHECK (length(payer) = 42),
    amount       TEXT    NOT NULL CHECK (length(amount) = 39 AND amount NOT GLOB '*[^0-9]*'
                                         AND amount <> '000000000000000000000000000000000000000'),
    money        TEXT    NOT NULL CHECK (length(money) = 39 AND money NOT GLOB '*[^0-9]*'),
    currency     TEXT    NOT NULL CHECK (currency GLOB '[A-Z][A-Z][A-Z]'),
    nonce        TEXT    NOT NULL CHECK (length(nonce) = 64 AND nonce NOT GLOB '*[^0-9a-f]*'),
    valid_after  INTEGER NOT NULL CHECK (valid_after >= 0),
    valid_before INTEGER NOT NULL CHECK (valid_after < valid_before),
    envelope     TEXT    NOT NULL CHECK (octet_length(envelope) <= 65536),
    created_s    INTEGER NOT NULL,
    -- What may be added later, each once:
    signature    TEXT    CHECK (length(signature) = 132 AND signature GLOB '0x*'),
    signed_s     INTEGER CHECK ((signed_s IS NULL) = (signature IS NULL)),
    delivery     TEXT    CHECK (json_valid(delivery)),
    claim        TEXT    CHECK (json_valid(claim)),
    tx           TEXT    CHECK (length(tx) = 66 AND tx GLOB '0x*'),
    updated_s    INTEGER NOT NULL,
    ended_s      INTEGER CHECK ((ended_s IS NULL) = (state IN ('held', 'exposed')))
) STRICT;
CREATE UNIQUE INDEX payment_nonce ON payment (chain, asset, payer, nonce);
CREATE UNIQUE INDEX payment_live ON payment (identity) WHERE state IN ('held', 'exposed');
CREATE INDEX payment_identity ON payment (identity, seq);
CREATE INDEX payment_due ON payment (valid_before) WHERE state IN ('held', 'exposed');
CREATE INDEX payment_open ON payment (session, seq) WHERE state IN ('held', 'exposed');

CREATE TRIGGER payment_begins BEFORE INSERT ON payment
WHEN NEW.state NOT IN ('held', 'exposed') OR NEW.signature IS NOT NULL OR NEW.delivery IS NOT NULL
     OR NEW.claim IS NOT NULL OR NEW.tx IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a payment begins as held or exposed, unsigned and unanswered'); END;

CREATE TRIGGER payment_stays BEFORE DELETE ON payment
BEGIN SELECT RAISE(ABORT, 'a payment row is never deleted'); END;

CREATE TRIGGER payment_story BEFORE UPDATE ON payment
WHEN NEW.seq IS NOT OLD.seq OR NEW.id IS NOT OLD.id OR NEW.session IS NOT OLD.session
     OR NEW.identity IS NOT OLD.identity OR NEW.subject IS NOT OLD.subject
     OR NEW.purchase_id IS NOT OLD.purchase_id OR NEW.origin IS NOT OLD.origin OR NEW.url IS NOT OLD.url
     OR NEW.method IS NOT OLD.method OR NEW.body IS NOT OLD.body OR NEW.terms IS NOT OLD.terms
     OR NEW.version IS NOT OLD.version OR NEW.chain IS NOT OLD.chain OR NEW.asset IS NOT OLD.asset
     OR NEW.symbol IS NOT OLD.symbol OR NEW.payee IS NOT OLD.payee OR NEW.payer IS NOT OLD.payer
     OR NEW.amount IS NOT OLD.amount OR NEW.money IS NOT OLD.money OR NEW.currency IS NOT OLD.currency
     OR NEW.nonce IS NOT OLD.nonce OR NEW.envelope IS NOT OLD.envelope OR NEW.created_s IS NOT OLD.created_s
     OR (NEW.valid_after IS NOT OLD.valid_after AND NOT (OLD.state = 'held' AND NEW.state = 'exposed'))
     OR (NEW.valid_before IS NOT OLD.valid_before AND NOT (OLD.state = 'held' AND NEW.state = 'exposed'))
BEGIN SELECT RAISE(ABORT, 'a payment row keeps its story'); END;

CREATE TRIGGER payment_added BEFORE UPDATE ON payment
WHEN (OLD.signature IS NOT NULL AND (NEW.signature IS NOT OLD.signature OR NEW.signed_s IS NOT OLD.signed_s))
     OR (OLD.signature IS NULL AND NEW.signature IS NOT NULL AND OLD.state <> 'exposed')
     OR (OLD.delivery IS NOT NULL AND NEW.delivery IS NOT OLD.delivery AND OLD.delivery NOT GLOB '{"silence":*')
     OR (OLD.claim IS NOT NULL AND NEW.claim IS NOT OLD.claim AND OLD.state NOT IN ('exposed', 'presumed_spent'))
     OR (OLD.tx IS NOT NULL AND NEW.tx IS NOT OLD.tx)
BEGIN SELECT RAISE(ABORT, 'what a payment row was told stays told'); END;

CREATE TRIGGER payment_moves BEFORE UPDATE ON payment
WHEN NEW.state <> OLD.state AND NOT (
     (OLD.state = 'held' AND NEW.state IN ('exposed', 'voided'))
     OR (OLD.state = 'exposed' AND NEW.state IN ('settled', 'presumed_spent', 'lapsed'))
     OR (OLD.state = 'exposed' AND NEW.state = 'voided' AND OLD.signature IS NULL)
     OR (OLD.state = 'presumed_spent' AND NEW.state IN ('settled', 'lapsed')))
BEGIN SELECT RAISE(ABORT, 'a payment does not move that way'); END;

-- Running totals, one row a key: what is pending and what was spent. A key names scope, subject and currency.
CREATE TABLE tally (
    key           TEXT    PRIMARY KEY,
    pending       TEXT    NOT NULL CHECK (length(pending) = 39 AND pending NOT GLOB '*[^0-9]*'),
    pending_count INTEGER NOT NULL CHECK (pending_count >= 0),
    spent         TEXT    NOT NULL CHECK (length(spent) = 39 AND spent NOT GLOB '*[^0-9]*'),
    spent_count   INTEGER NOT NULL CHECK (spent_count >= 0),
    spent_last_s  INTEGER NOT NULL CHECK (spent_last_s >= 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tally_stays BEFORE DELETE ON tally
BEGIN SELECT RAISE(ABORT, 'a running total is never deleted'); END;
CREATE TRIGGER tally_grows BEFORE UPDATE ON tally
WHEN NEW.key IS NOT OLD.key OR NEW.spent < OLD.spent OR NEW.spent_count < OLD.spent_count
     OR NEW.spent_last_s < OLD.spent_last_s
BEGIN SELECT RAISE(ABORT, 'what was spent is never spent less'); END;

-- Every spent payment under every key, with the sum so far, so that a rolling window is one subtraction. seq counts.
CREATE TABLE spent (
    key     TEXT    NOT NULL REFERENCES tally (key),
    seq     INTEGER NOT NULL CHECK (seq >= 1),
    at_s    INTEGER NOT NULL CHECK (at_s >= 0),
    payment TEXT    NOT NULL REFERENCES payment (id),
    total   TEXT    NOT NULL CHECK (length(total) = 39 AND total NOT GLOB '*[^0-9]*'),
    PRIMARY KEY (key, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX spent_once ON spent (payment, key);
CREATE INDEX spent_time ON spent (key, at_s, seq);

CREATE TRIGGER spent_stays BEFORE DELETE ON spent
BEGIN SELECT RAISE(ABORT, 'what was spent is never deleted'); END;
CREATE TRIGGER spent_story BEFORE UPDATE ON spent
BEGIN SELECT RAISE(ABORT, 'what was spent is never rewritten'); END;
CREATE TRIGGER spent_order BEFORE INSERT ON spent
WHEN NEW.seq <> 1 + coalesce((SELECT max(seq) FROM spent WHERE key = NEW.key), 0)
     OR NEW.at_s < coalesce((SELECT at_s FROM spent WHERE key = NEW.key ORDER BY seq DESC LIMIT 1), 0)
     OR NEW.total < coalesce((SELECT total FROM spent WHERE key = NEW.key ORDER BY seq DESC LIMIT 1), '')
BEGIN SELECT RAISE(ABORT, 'spending is written down in order'); END;

CREATE TABLE event_kind (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- The log: each event carries the hash of the one before.
CREATE TABLE event (
    seq     INTEGER PRIMARY KEY,
    at_s    INTEGER NOT NULL CHECK (at_s >= 0),
    kind    TEXT    NOT NULL REFERENCES event_kind (name),
    payment TEXT    REFERENCES payment (id),
    session TEXT    REFERENCES session (id),
    detail  TEXT    NOT NULL CHECK (octet_length(detail) <= 8192),
    fact    TEXT    CHECK (length(fact) = 64 AND fact NOT GLOB '*[^0-9a-f]*'),
    prev    TEXT    NOT NULL CHECK (length(prev) = 64 AND prev NOT GLOB '*[^0-9a-f]*'),
    hash    TEXT    NOT NULL CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*')
) STRICT;
CREATE INDEX event_payment ON event (payment, seq) WHERE payment IS NOT NULL;

CREATE TRIGGER event_stays BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'an event is never deleted'); END;
CREATE TRIGGER event_story BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'an event is never rewritten'); END;
CREATE TRIGGER event_chain BEFORE INSERT ON event
WHEN NEW.seq <> 1 + coalesce((SELECT max(seq) FROM event), 0)
     OR NEW.prev <> coalesce((SELECT hash FROM event ORDER BY seq DESC LIMIT 1), NEW.prev)
BEGIN SELECT RAISE(ABORT, 'an event follows the one before it'); END;

CREATE TRIGGER session_stays BEFORE DELETE ON session
BEGIN SELECT RAISE(ABORT, 'a session is never deleted'); END;
CREATE TRIGGER session_story BEFORE UPDATE ON session
WHEN NEW.seq IS NOT OLD.seq OR NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name
     OR NEW.currency IS NOT OLD.currency OR NEW.budget IS NOT OLD.budget OR NEW.created_s IS NOT OLD.created_s
     OR NEW.expires_s IS NOT OLD.expires_s OR OLD.closed_s IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a session is opened once and closed once'); END;

CREATE TRIGGER purchase_stays BEFORE DELETE ON purchase
BEGIN SELECT RAISE(ABORT, 'a purchase id is bound for ever'); END;
CREATE TRIGGER purchase_story BEFORE UPDATE ON purchase
BEGIN SELECT RAISE(ABORT, 'a purchase id is bound for ever'); END;

CREATE TRIGGER meta_stays BEFORE DELETE ON meta
BEGIN SELECT RAISE(ABORT, 'the ledger keeps its name'); END;
CREATE TRIGGER meta_story BEFORE UPDATE ON meta
WHEN NEW.ledger_id IS NOT OLD.ledger_id OR NEW.setting IS NOT OLD.setting OR NEW.created_s IS NOT OLD.created_s
     OR (OLD.key_address IS NOT NULL AND NEW.key_address IS NOT OLD.key_address)
     OR NEW.event_seq < OLD.event_seq
BEGIN SELECT RAISE(ABORT, 'the ledger keeps its name'); END;
