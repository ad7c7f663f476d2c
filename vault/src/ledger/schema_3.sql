-- The ledger, version 3: what was added to version 2.

-- What a session is for, as JSON; a session without a row is for everything that the rules allow.
CREATE TABLE mandate (
    session TEXT PRIMARY KEY REFERENCES session (id),
    mandate TEXT NOT NULL CHECK (json_valid(mandate) AND octet_length(mandate) <= 65536)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER mandate_begins BEFORE INSERT ON mandate
WHEN EXISTS (SELECT 1 FROM payment WHERE session = NEW.session)
BEGIN SELECT RAISE(ABORT, 'a session has its mandate before it pays'); END;
CREATE TRIGGER mandate_stays BEFORE DELETE ON mandate
BEGIN SELECT RAISE(ABORT, 'a mandate is never taken away'); END;
CREATE TRIGGER mandate_story BEFORE UPDATE ON mandate
BEGIN SELECT RAISE(ABORT, 'a mandate is never changed'); END;

-- Purchases that a person has to look at, or did. A binding is the digest of session, method, URL, body, headers and
-- every term.
CREATE TABLE approval (
    seq       INTEGER PRIMARY KEY,
    id        TEXT    NOT NULL UNIQUE CHECK (id GLOB 'a_*' AND length(id) = 34),
    state     TEXT    NOT NULL CHECK (state IN ('waiting', 'approved', 'denied', 'used', 'expired')),
    session   TEXT    NOT NULL REFERENCES session (id),
    binding   TEXT    NOT NULL CHECK (length(binding) = 64 AND binding NOT GLOB '*[^0-9a-f]*'),
    method    TEXT    NOT NULL CHECK (method IN ('GET', 'HEAD', 'POST')),
    url       TEXT    NOT NULL CHECK (length(url) <= 8192),
    body      TEXT    CHECK (length(body) = 64 AND body NOT GLOB '*[^0-9a-f]*'),
    headers   TEXT    NOT NULL CHECK (json_valid(headers) AND octet_length(headers) <= 8192),
    terms     TEXT    NOT NULL CHECK (json_valid(terms)),
    symbol    TEXT    NOT NULL,
    money     TEXT    NOT NULL CHECK (length(money) = 39 AND money NOT GLOB '*[^0-9]*'),
    currency  TEXT    NOT NULL CHECK (currency GLOB '[A-Z][A-Z][A-Z]'),
    concerns  TEXT    NOT NULL CHECK (json_valid(concerns)),
    asked_s   INTEGER NOT NULL CHECK (asked_s >= 0),
    -- When a waiting one is over, and when a yes or a no is.
    expires_s INTEGER NOT NULL CHECK (asked_s < expires_s),
    decided_s INTEGER CHECK ((decided_s IS NULL) = (state = 'waiting' OR (state = 'expired' AND decided_s IS NULL))),
    -- The event that tells the word, with its digest: a word that the log does not know of is none.
    said      INTEGER REFERENCES event (seq) CHECK ((said IS NULL) = (decided_s IS NULL)),
    payment   TEXT    REFERENCES payment (id) CHECK ((payment IS NULL) = (state <> 'used'))
) STRICT;
CREATE UNIQUE INDEX approval_live ON approval (binding) WHERE state IN ('waiting', 'approved', 'denied');
CREATE INDEX approval_waiting ON approval (session, seq) WHERE state = 'waiting';
CREATE INDEX approval_due ON approval (expires_s) WHERE state IN ('waiting', 'approved', 'denied');
CREATE UNIQUE INDEX approval_payment ON approval (payment) WHERE payment IS NOT NULL;

CREATE TRIGGER approval_begins BEFORE INSERT ON approval
WHEN NEW.state <> 'waiting'
BEGIN SELECT RAISE(ABORT, 'an approval begins as a question'); END;
CREATE TRIGGER approval_stays BEFORE DELETE ON approval
BEGIN SELECT RAISE(ABORT, 'an approval is never deleted'); END;
CREATE TRIGGER approval_story BEFORE UPDATE ON approval
WHEN NEW.seq IS NOT OLD.seq OR NEW.id IS NOT OLD.id OR NEW.session IS NOT OLD.session
     OR NEW.binding IS NOT OLD.binding OR NEW.method IS NOT OLD.method OR NEW.url IS NOT OLD.url
     OR NEW.body IS NOT OLD.body OR NEW.headers IS NOT OLD.headers OR NEW.terms IS NOT OLD.terms OR NEW.symbol IS NOT OLD.symbol
     OR NEW.money IS NOT OLD.money OR NEW.currency IS NOT OLD.currency OR NEW.concerns IS NOT OLD.concerns
     OR NEW.asked_s IS NOT OLD.asked_s
     OR (NEW.expires_s IS NOT OLD.expires_s AND NOT (OLD.state = 'waiting' AND NEW.state IN ('approved', 'denied')))
     OR (NEW.decided_s IS NOT OLD.decided_s AND OLD.state <> 'waiting')
     OR (NEW.said IS NOT OLD.said AND NEW.state NOT IN ('approved', 'denied'))
BEGIN SELECT RAISE(ABORT, 'an approval keeps its story'); END;
CREATE TRIGGER approval_moves BEFORE UPDATE ON approval
WHEN NOT (
     (OLD.state = 'waiting' AND NEW.state IN ('approved', 'denied', 'expired'))
     OR (OLD.state = 'approved' AND NEW.state IN ('used', 'expired', 'denied'))
     OR (OLD.state = 'denied' AND NEW.state = 'expired'))
BEGIN SELECT RAISE(ABORT, 'an approval does not move that way'); END;

-- What went wrong with an origin since the last good delivery, and its quarantine.
CREATE TABLE breaker (
    origin   TEXT    PRIMARY KEY,
    failures INTEGER NOT NULL CHECK (failures >= 0),
    strikes  INTEGER NOT NULL CHECK (strikes >= 0),
    until_s  INTEGER NOT NULL CHECK (until_s >= 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX breaker_until ON breaker (until_s) WHERE until_s > 0;

CREATE TRIGGER breaker_stays BEFORE DELETE ON breaker
BEGIN SELECT RAISE(ABORT, 'an origin keeps its record'); END;

-- Lost payments that a person put up with: they are no longer counted against their host, or against their payee.
CREATE TABLE pardon (
    payment TEXT NOT NULL REFERENCES payment (id),
    scope   TEXT NOT NULL CHECK (scope IN ('host', 'payee')),
    PRIMARY KEY (payment, scope)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER pardon_begins BEFORE INSERT ON pardon
WHEN NOT EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment AND state = 'presumed_spent')
BEGIN SELECT RAISE(ABORT, 'only what ran out can be put up with'); END;
CREATE TRIGGER pardon_stays BEFORE DELETE ON pardon
BEGIN SELECT RAISE(ABORT, 'what a person put up with stays so'); END;
CREATE TRIGGER pardon_story BEFORE UPDATE ON pardon
BEGIN SELECT RAISE(ABORT, 'what a person put up with stays so'); END;

CREATE INDEX payment_ran_out_host ON payment (origin, seq) WHERE state = 'presumed_spent';
CREATE INDEX payment_ran_out_payee ON payment (chain, payee, seq) WHERE state = 'presumed_spent';

-- Whom, on what network and with what asset an origin was paid before.
CREATE TABLE familiar (
    origin  TEXT NOT NULL,
    kind    TEXT NOT NULL CHECK (kind IN ('payee', 'network', 'asset')),
    value   TEXT NOT NULL,
    payment TEXT NOT NULL REFERENCES payment (id),
    PRIMARY KEY (origin, kind, value)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER familiar_stays BEFORE DELETE ON familiar
BEGIN SELECT RAISE(ABORT, 'what is known stays known'); END;
CREATE TRIGGER familiar_story BEFORE UPDATE ON familiar
BEGIN SELECT RAISE(ABORT, 'what is known stays known'); END;

-- What the names of hosts that were paid look like, so that one that looks alike is found without reading them all.
CREATE TABLE likeness (
    shape TEXT NOT NULL,
    host  TEXT NOT NULL,
    PRIMARY KEY (shape, host)
) STRICT, WITHOUT ROWID;

CREATE INDEX payment_subject ON payment (subject, seq);

-- Which payment a stored body came from.
CREATE INDEX payment_content ON payment (json_extract(delivery, '$.answer.content.digest'), seq)
    WHERE delivery IS NOT NULL;
