-- The ledger on PostgreSQL, version 1: what versions 1 to 6 are on SQLite, and who of several vaults does what. Every rule
-- that the database can hold is held here as well as in the code above it.
--
-- The columns are those of SQLite, in the same order and of the same two kinds, so that a row has the same digest on both.
-- Text is compared by its bytes, whatever the database's language is. Functions name their tables with the schema, so that
-- nobody puts another table in the place of one.

CREATE TABLE schema_version (
    version     bigint PRIMARY KEY,
    fingerprint text   NOT NULL COLLATE "C"
);

-- A value of a document, as text; the path is `$.one.two`.
CREATE FUNCTION json_extract(doc text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN doc::json #>> string_to_array(substr(path, 3), '.');

-- What every guard does when it stands: says no with the sentence that it was made with.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = TG_ARGV[0];
END $$;

-- Rows are numbered without a gap, in the order in which they are added.
CREATE FUNCTION numbered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT 1 + coalesce(max(seq), 0) FROM bursar.%I', TG_TABLE_NAME) INTO NEW.seq;
    RETURN NEW;
END $$;

CREATE TABLE meta (
    id          bigint PRIMARY KEY CHECK (id = 1),
    ledger_id   text   NOT NULL COLLATE "C" CHECK (ledger_id ~ '^[0-9a-f]{32}$'),
    setting     text   NOT NULL COLLATE "C" CHECK (setting IN ('real', 'sandbox')),
    key_address text   COLLATE "C" CHECK (length(key_address) = 42),
    created_s   bigint NOT NULL CHECK (created_s >= 0),
    recorded_s  bigint NOT NULL CHECK (recorded_s >= 0),
    boot_id     text   NOT NULL COLLATE "C",
    wall_s      bigint NOT NULL CHECK (wall_s >= 0),
    boot_ms     bigint NOT NULL CHECK (boot_ms >= 0),
    frozen      text   COLLATE "C",
    latched     text   COLLATE "C",
    event_seq   bigint NOT NULL CHECK (event_seq >= 0),
    event_hash  text   NOT NULL COLLATE "C" CHECK (length(event_hash) = 64)
);

CREATE TRIGGER meta_changes BEFORE UPDATE ON meta FOR EACH ROW WHEN (
    ROW(NEW.id, NEW.ledger_id, NEW.setting, NEW.created_s)
        IS DISTINCT FROM ROW(OLD.id, OLD.ledger_id, OLD.setting, OLD.created_s)
    OR (OLD.key_address IS NOT NULL AND NEW.key_address IS DISTINCT FROM OLD.key_address)
    OR NEW.event_seq < OLD.event_seq)
    EXECUTE FUNCTION refuse('the ledger keeps its name');
CREATE TRIGGER meta_stays BEFORE DELETE ON meta FOR EACH ROW EXECUTE FUNCTION refuse('the ledger keeps its name');

CREATE TABLE session (
    seq       bigint PRIMARY KEY,
    id        text   NOT NULL UNIQUE COLLATE "C" CHECK (id ~ '^s_.{32}$'),
    name      text   NOT NULL COLLATE "C" CHECK (name ~ '^[a-z0-9-]{1,32}$'),
    currency  text   NOT NULL COLLATE "C" CHECK (currency ~ '^[A-Z]{3}$'),
    budget    text   NOT NULL COLLATE "C" CHECK (budget ~ '^[0-9]{39}$'),
    created_s bigint NOT NULL,
    expires_s bigint NOT NULL CHECK (created_s < expires_s),
    closed_s  bigint CHECK (created_s <= closed_s)
);
CREATE UNIQUE INDEX session_open_name ON session (name) WHERE closed_s IS NULL;
CREATE INDEX session_name ON session (name, seq);

CREATE TRIGGER session_numbered BEFORE INSERT ON session FOR EACH ROW EXECUTE FUNCTION numbered();
CREATE TRIGGER session_changes BEFORE UPDATE ON session FOR EACH ROW WHEN (
    ROW(NEW.seq, NEW.id, NEW.name, NEW.currency, NEW.budget, NEW.created_s, NEW.expires_s)
        IS DISTINCT FROM ROW(OLD.seq, OLD.id, OLD.name, OLD.currency, OLD.budget, OLD.created_s, OLD.expires_s)
    OR OLD.closed_s IS NOT NULL)
    EXECUTE FUNCTION refuse('a session is opened once and closed once');
CREATE TRIGGER session_stays BEFORE DELETE ON session FOR EACH ROW EXECUTE FUNCTION refuse('a session is never deleted');

-- What a purchase id means, for ever, in its session.
CREATE TABLE purchase (
    session     text   NOT NULL COLLATE "C" REFERENCES session (id),
    purchase_id text   NOT NULL COLLATE "C" CHECK (length(purchase_id) BETWEEN 1 AND 64),
    subject     text   NOT NULL COLLATE "C" CHECK (subject ~ '^[0-9a-f]{64}$'),
    bound_s     bigint NOT NULL,
    PRIMARY KEY (session, purchase_id)
);
CREATE TRIGGER purchase_never_changes BEFORE UPDATE ON purchase FOR EACH ROW
    EXECUTE FUNCTION refuse('a purchase id is bound for ever');
CREATE TRIGGER purchase_stays BEFORE DELETE ON purchase FOR EACH ROW EXECUTE FUNCTION refuse('a purchase id is bound for ever');

CREATE TABLE payment (
    seq          bigint PRIMARY KEY,
    id           text   NOT NULL UNIQUE COLLATE "C" CHECK (id ~ '^p_.{32}$'),
    state        text   NOT NULL COLLATE "C"
                 CHECK (state IN ('held', 'exposed', 'settled', 'presumed_spent', 'lapsed', 'voided')),
    session      text   NOT NULL COLLATE "C" REFERENCES session (id),
    identity     text   NOT NULL COLLATE "C" CHECK (identity ~ '^[0-9a-f]{64}$'),
    subject      text   NOT NULL COLLATE "C" CHECK (subject ~ '^[0-9a-f]{64}$'),
    purchase_id  text   COLLATE "C" CHECK (length(purchase_id) BETWEEN 1 AND 64),
    origin       text   NOT NULL COLLATE "C",
    url          text   NOT NULL COLLATE "C" CHECK (length(url) <= 8192),
    method       text   NOT NULL COLLATE "C" CHECK (method IN ('GET', 'HEAD', 'POST')),
    body         text   COLLATE "C" CHECK (body ~ '^[0-9a-f]{64}$'),
    terms        text   NOT NULL COLLATE "C" CHECK (terms::json IS NOT NULL),
    version      bigint NOT NULL CHECK (version IN (1, 2)),
    chain        text   NOT NULL COLLATE "C" CHECK (chain ~ '^eip155:[0-9]'),
    asset        text   NOT NULL COLLATE "C" CHECK (length(asset) = 42),
    symbol       text   NOT NULL COLLATE "C",
    payee        text   NOT NULL COLLATE "C" CHECK (length(payee) = 42),
    payer        text   NOT NULL COLLATE "C" CHECK (length(payer) = 42),
    amount       text   NOT NULL COLLATE "C" CHECK (amount ~ '^[0-9]{39}$' AND amount ~ '[1-9]'),
    money        text   NOT NULL COLLATE "C" CHECK (money ~ '^[0-9]{39}$'),
    currency     text   NOT NULL COLLATE "C" CHECK (currency ~ '^[A-Z]{3}$'),
    nonce        text   NOT NULL COLLATE "C" CHECK (nonce ~ '^[0-9a-f]{64}$'),
    valid_after  bigint NOT NULL CHECK (valid_after >= 0),
    valid_before bigint NOT NULL CHECK (valid_after < valid_before),
    envelope     text   NOT NULL COLLATE "C" CHECK (octet_length(envelope) <= 65536),
    created_s    bigint NOT NULL,
    -- What may be added later, each once:
    signature    text   COLLATE "C" CHECK (length(signature) = 132 AND signature LIKE '0x%'),
    signed_s     bigint CHECK ((signed_s IS NULL) = (signature IS NULL)),
    delivery     text   COLLATE "C" CHECK (delivery IS NULL OR delivery::json IS NOT NULL),
    claim        text   COLLATE "C" CHECK (claim IS NULL OR claim::json IS NOT NULL),
    tx           text   COLLATE "C" CHECK (length(tx) = 66 AND tx LIKE '0x%'),
    updated_s    bigint NOT NULL,
    ended_s      bigint CHECK ((ended_s IS NULL) = (state IN ('held', 'exposed')))
);
CREATE UNIQUE INDEX payment_nonce ON payment (chain, asset, payer, nonce);
CREATE UNIQUE INDEX payment_live ON payment (identity) WHERE state IN ('held', 'exposed');
CREATE INDEX payment_identity ON payment (identity, seq);
CREATE INDEX payment_due ON payment (valid_before) WHERE state IN ('held', 'exposed');
CREATE INDEX payment_open ON payment (session, seq) WHERE state IN ('held', 'exposed');
CREATE INDEX payment_ran_out_host ON payment (origin, seq) WHERE state = 'presumed_spent';
CREATE INDEX payment_ran_out_payee ON payment (chain, payee, seq) WHERE state = 'presumed_spent';
CREATE INDEX payment_subject ON payment (subject, seq);
CREATE INDEX payment_content ON payment (json_extract(delivery, '$.answer.content.digest'), seq)
    WHERE delivery IS NOT NULL;

CREATE TRIGGER payment_begins BEFORE INSERT ON payment FOR EACH ROW WHEN (
    NEW.state NOT IN ('held', 'exposed') OR NEW.signature IS NOT NULL OR NEW.delivery IS NOT NULL
    OR NEW.claim IS NOT NULL OR NEW.tx IS NOT NULL)
    EXECUTE FUNCTION refuse('a payment begins as held or exposed, unsigned and unanswered');
CREATE TRIGGER payment_numbered BEFORE INSERT ON payment FOR EACH ROW EXECUTE FUNCTION numbered();
CREATE TRIGGER payment_stays BEFORE DELETE ON payment FOR EACH ROW EXECUTE FUNCTION refuse('a payment row is never deleted');

CREATE TRIGGER payment_story BEFORE UPDATE ON payment FOR EACH ROW WHEN (
    ROW(NEW.seq, NEW.id, NEW.session, NEW.identity, NEW.subject, NEW.purchase_id, NEW.origin, NEW.url, NEW.method,
        NEW.body, NEW.terms, NEW.version, NEW.chain, NEW.asset, NEW.symbol, NEW.payee, NEW.payer, NEW.amount, NEW.money,
        NEW.currency, NEW.nonce, NEW.envelope, NEW.created_s)
        IS DISTINCT FROM
    ROW(OLD.seq, OLD.id, OLD.session, OLD.identity, OLD.subject, OLD.purchase_id, OLD.origin, OLD.url, OLD.method,
        OLD.body, OLD.terms, OLD.version, OLD.chain, OLD.asset, OLD.symbol, OLD.payee, OLD.payer, OLD.amount, OLD.money,
        OLD.currency, OLD.nonce, OLD.envelope, OLD.created_s)
    OR (ROW(NEW.valid_after, NEW.valid_before) IS DISTINCT FROM ROW(OLD.valid_after, OLD.valid_before)
        AND NOT (OLD.state = 'held' AND NEW.state = 'exposed')))
    EXECUTE FUNCTION refuse('a payment row keeps its story');
CREATE TRIGGER payment_added BEFORE UPDATE ON payment FOR EACH ROW WHEN (
    (OLD.signature IS NOT NULL
     AND ROW(NEW.signature, NEW.signed_s) IS DISTINCT FROM ROW(OLD.signature, OLD.signed_s))
    OR (OLD.signature IS NULL AND NEW.signature IS NOT NULL AND OLD.state <> 'exposed')
    OR (OLD.delivery IS NOT NULL AND NEW.delivery IS DISTINCT FROM OLD.delivery
        AND OLD.delivery NOT LIKE '{"silence":%')
    OR (OLD.claim IS NOT NULL AND NEW.claim IS DISTINCT FROM OLD.claim
        AND OLD.state NOT IN ('exposed', 'presumed_spent'))
    OR (OLD.tx IS NOT NULL AND NEW.tx IS DISTINCT FROM OLD.tx))
    EXECUTE FUNCTION refuse('what a payment row was told stays told');
CREATE TRIGGER payment_moves BEFORE UPDATE ON payment FOR EACH ROW WHEN (
    NEW.state <> OLD.state AND NOT (
        (OLD.state = 'held' AND NEW.state IN ('exposed', 'voided'))
        OR (OLD.state = 'exposed' AND NEW.state IN ('settled', 'presumed_spent', 'lapsed'))
        OR (OLD.state = 'exposed' AND NEW.state = 'voided' AND OLD.signature IS NULL)
        OR (OLD.state = 'presumed_spent' AND NEW.state IN ('settled', 'lapsed'))))
    EXECUTE FUNCTION refuse('a payment does not move that way');
-- Money that is set aside is given to nobody while its handle is open.
CREATE FUNCTION handle_is_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM bursar.handle WHERE payment = OLD.id AND state = 'open') THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payment_held_ends BEFORE UPDATE ON payment FOR EACH ROW WHEN (OLD.state = 'held' AND NEW.state = 'voided')
    EXECUTE FUNCTION handle_is_open('money is set aside as long as its handle is open');
CREATE FUNCTION proof_is_missing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM bursar.proof WHERE payment = NEW.id AND verdict <> 'paid') THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payment_lapses BEFORE UPDATE ON payment FOR EACH ROW WHEN (NEW.state = 'lapsed' AND OLD.state <> 'lapsed')
    EXECUTE FUNCTION proof_is_missing('only a proof lets a payment lapse');

-- The tags that a payment carried when it was counted, whatever the rules say later.
CREATE TABLE payment_tag (
    payment text NOT NULL COLLATE "C" REFERENCES payment (id),
    tag     text NOT NULL COLLATE "C" CHECK (tag ~ '^[a-z0-9-]{1,24}$'),
    PRIMARY KEY (payment, tag)
);
CREATE FUNCTION payment_tag_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM bursar.payment WHERE id = NEW.payment AND state IN ('held', 'exposed')
                   AND signature IS NULL AND created_s = updated_s) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payment_tag_begins BEFORE INSERT ON payment_tag FOR EACH ROW
    EXECUTE FUNCTION payment_tag_begins('a payment is tagged when it begins');
CREATE TRIGGER payment_tag_never_changes BEFORE UPDATE ON payment_tag FOR EACH ROW
    EXECUTE FUNCTION refuse('a payment keeps its tags');
CREATE TRIGGER payment_tag_stays BEFORE DELETE ON payment_tag FOR EACH ROW EXECUTE FUNCTION refuse('a payment keeps its tags');

-- Running totals, one row a key: what is pending and what was spent. A key names scope, subject and currency.
CREATE TABLE tally (
    key           text   PRIMARY KEY COLLATE "C",
    pending       text   NOT NULL COLLATE "C" CHECK (pending ~ '^[0-9]{39}$'),
    pending_count bigint NOT NULL CHECK (pending_count >= 0),
    spent         text   NOT NULL COLLATE "C" CHECK (spent ~ '^[0-9]{39}$'),
    spent_count   bigint NOT NULL CHECK (spent_count >= 0),
    spent_last_s  bigint NOT NULL CHECK (spent_last_s >= 0)
);
CREATE TRIGGER tally_changes BEFORE UPDATE ON tally FOR EACH ROW WHEN (
    NEW.key <> OLD.key OR NEW.spent < OLD.spent OR NEW.spent_count < OLD.spent_count
    OR NEW.spent_last_s < OLD.spent_last_s)
    EXECUTE FUNCTION refuse('what was spent is never spent less');
CREATE TRIGGER tally_stays BEFORE DELETE ON tally FOR EACH ROW EXECUTE FUNCTION refuse('a running total is never deleted');

-- Every spent payment under every key, with the sum so far, so that a rolling window is one subtraction. seq counts, and
-- never against the time.
CREATE TABLE spent (
    key     text   NOT NULL COLLATE "C" REFERENCES tally (key),
    seq     bigint NOT NULL CHECK (seq >= 1),
    at_s    bigint NOT NULL CHECK (at_s >= 0),
    payment text   NOT NULL COLLATE "C" REFERENCES payment (id),
    total   text   NOT NULL COLLATE "C" CHECK (total ~ '^[0-9]{39}$'),
    PRIMARY KEY (key, at_s, seq)
);
CREATE FUNCTION spent_begins() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before record;
BEGIN
    SELECT seq, at_s, total INTO before FROM bursar.spent WHERE key = NEW.key
    ORDER BY at_s DESC, seq DESC LIMIT 1;
    IF NEW.seq <> 1 + coalesce(before.seq, 0) OR NEW.at_s < coalesce(before.at_s, 0)
       OR NEW.total < coalesce(before.total, '') THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER spent_begins BEFORE INSERT ON spent FOR EACH ROW
    EXECUTE FUNCTION spent_begins('spending is written down in order');
CREATE TRIGGER spent_never_changes BEFORE UPDATE ON spent FOR EACH ROW
    EXECUTE FUNCTION refuse('what was spent is never rewritten');
CREATE TRIGGER spent_stays BEFORE DELETE ON spent FOR EACH ROW EXECUTE FUNCTION refuse('what was spent is never deleted');

CREATE TABLE event_kind (name text PRIMARY KEY COLLATE "C");

-- The log: each event carries the hash of the one before.
CREATE TABLE event (
    seq     bigint PRIMARY KEY,
    at_s    bigint NOT NULL CHECK (at_s >= 0),
    kind    text   NOT NULL COLLATE "C" REFERENCES event_kind (name),
    payment text   COLLATE "C" REFERENCES payment (id),
    session text   COLLATE "C" REFERENCES session (id),
    detail  text   NOT NULL COLLATE "C" CHECK (octet_length(detail) <= 8192),
    fact    text   COLLATE "C" CHECK (fact ~ '^[0-9a-f]{64}$'),
    prev    text   NOT NULL COLLATE "C" CHECK (prev ~ '^[0-9a-f]{64}$'),
    hash    text   NOT NULL COLLATE "C" CHECK (hash ~ '^[0-9a-f]{64}$')
);
CREATE INDEX event_payment ON event (payment, seq) WHERE payment IS NOT NULL;
CREATE INDEX event_session ON event (session, seq) WHERE kind IN ('session_opened', 'session_closed');
CREATE INDEX event_freeze ON event (seq, kind) WHERE kind IN ('frozen', 'thawed');
CREATE FUNCTION event_begins() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before record;
BEGIN
    SELECT seq, hash INTO before FROM bursar.event ORDER BY seq DESC LIMIT 1;
    IF NEW.seq <> 1 + coalesce(before.seq, 0) OR NEW.prev <> coalesce(before.hash, NEW.prev) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER event_begins BEFORE INSERT ON event FOR EACH ROW
    EXECUTE FUNCTION event_begins('an event follows the one before it');
CREATE TRIGGER event_never_changes BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION refuse('an event is never rewritten');
CREATE TRIGGER event_stays BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION refuse('an event is never deleted');
CREATE TRIGGER event_is_not_emptied BEFORE TRUNCATE ON event FOR EACH STATEMENT
    EXECUTE FUNCTION refuse('the log is never emptied');

-- What a session is for, as JSON; a session without a row is for everything that the rules allow.
CREATE TABLE mandate (
    session text PRIMARY KEY COLLATE "C" REFERENCES session (id),
    mandate text NOT NULL COLLATE "C" CHECK (mandate::json IS NOT NULL AND octet_length(mandate) <= 65536)
);
CREATE FUNCTION mandate_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM bursar.payment WHERE session = NEW.session) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER mandate_begins BEFORE INSERT ON mandate FOR EACH ROW
    EXECUTE FUNCTION mandate_begins('a session has its mandate before it pays');
CREATE TRIGGER mandate_never_changes BEFORE UPDATE ON mandate FOR EACH ROW
    EXECUTE FUNCTION refuse('a mandate is never changed');
CREATE TRIGGER mandate_stays BEFORE DELETE ON mandate FOR EACH ROW EXECUTE FUNCTION refuse('a mandate is never taken away');

-- Purchases that a person has to look at, or did. A binding is the digest of session, method, URL, body, headers and
-- every term.
CREATE TABLE approval (
    seq       bigint PRIMARY KEY,
    id        text   NOT NULL UNIQUE COLLATE "C" CHECK (id ~ '^a_.{32}$'),
    state     text   NOT NULL COLLATE "C" CHECK (state IN ('waiting', 'approved', 'denied', 'used', 'expired')),
    session   text   NOT NULL COLLATE "C" REFERENCES session (id),
    binding   text   NOT NULL COLLATE "C" CHECK (binding ~ '^[0-9a-f]{64}$'),
    method    text   NOT NULL COLLATE "C" CHECK (method IN ('GET', 'HEAD', 'POST')),
    url       text   NOT NULL COLLATE "C" CHECK (length(url) <= 8192),
    body      text   COLLATE "C" CHECK (body ~ '^[0-9a-f]{64}$'),
    headers   text   NOT NULL COLLATE "C" CHECK (headers::json IS NOT NULL AND octet_length(headers) <= 8192),
    terms     text   NOT NULL COLLATE "C" CHECK (terms::json IS NOT NULL),
    symbol    text   NOT NULL COLLATE "C",
    money     text   NOT NULL COLLATE "C" CHECK (money ~ '^[0-9]{39}$'),
    currency  text   NOT NULL COLLATE "C" CHECK (currency ~ '^[A-Z]{3}$'),
    concerns  text   NOT NULL COLLATE "C" CHECK (concerns::json IS NOT NULL),
    asked_s   bigint NOT NULL CHECK (asked_s >= 0),
    -- When a waiting one is over, and when a yes or a no is.
    expires_s bigint NOT NULL CHECK (asked_s < expires_s),
    decided_s bigint CHECK ((decided_s IS NULL) = (state = 'waiting' OR (state = 'expired' AND decided_s IS NULL))),
    -- The event that tells the word, with its digest: a word that the log does not know of is none.
    said      bigint REFERENCES event (seq) CHECK ((said IS NULL) = (decided_s IS NULL)),
    payment   text   COLLATE "C" REFERENCES payment (id) CHECK ((payment IS NULL) = (state <> 'used'))
);
CREATE UNIQUE INDEX approval_live ON approval (binding) WHERE state IN ('waiting', 'approved', 'denied');
CREATE INDEX approval_waiting ON approval (session, seq) WHERE state = 'waiting';
CREATE INDEX approval_due ON approval (expires_s) WHERE state IN ('waiting', 'approved', 'denied');
CREATE UNIQUE INDEX approval_payment ON approval (payment) WHERE payment IS NOT NULL;
CREATE TRIGGER approval_begins BEFORE INSERT ON approval FOR EACH ROW WHEN (
    NEW.state <> 'waiting')
    EXECUTE FUNCTION refuse('an approval begins as a question');
CREATE TRIGGER approval_numbered BEFORE INSERT ON approval FOR EACH ROW EXECUTE FUNCTION numbered();
CREATE TRIGGER approval_story BEFORE UPDATE ON approval FOR EACH ROW WHEN (
    ROW(NEW.seq, NEW.id, NEW.session, NEW.binding, NEW.method, NEW.url, NEW.body, NEW.headers, NEW.terms, NEW.symbol,
        NEW.money, NEW.currency, NEW.concerns, NEW.asked_s)
        IS DISTINCT FROM
    ROW(OLD.seq, OLD.id, OLD.session, OLD.binding, OLD.method, OLD.url, OLD.body, OLD.headers, OLD.terms, OLD.symbol,
        OLD.money, OLD.currency, OLD.concerns, OLD.asked_s)
    OR (NEW.expires_s <> OLD.expires_s AND NOT (OLD.state = 'waiting' AND NEW.state IN ('approved', 'denied')))
    OR (NEW.decided_s IS DISTINCT FROM OLD.decided_s AND OLD.state <> 'waiting')
    OR (NEW.said IS DISTINCT FROM OLD.said AND NEW.state NOT IN ('approved', 'denied')))
    EXECUTE FUNCTION refuse('an approval keeps its story');
CREATE TRIGGER approval_moves BEFORE UPDATE ON approval FOR EACH ROW WHEN (
    NOT ((OLD.state = 'waiting' AND NEW.state IN ('approved', 'denied', 'expired'))
         OR (OLD.state = 'approved' AND NEW.state IN ('used', 'expired', 'denied'))
         OR (OLD.state = 'denied' AND NEW.state = 'expired')))
    EXECUTE FUNCTION refuse('an approval does not move that way');
CREATE TRIGGER approval_stays BEFORE DELETE ON approval FOR EACH ROW EXECUTE FUNCTION refuse('an approval is never deleted');

-- What went wrong with an origin since the last good delivery, and its quarantine.
CREATE TABLE breaker (
    origin   text   PRIMARY KEY COLLATE "C",
    failures bigint NOT NULL CHECK (failures >= 0),
    strikes  bigint NOT NULL CHECK (strikes >= 0),
    until_s  bigint NOT NULL CHECK (until_s >= 0)
);
CREATE INDEX breaker_until ON breaker (until_s) WHERE until_s > 0;
CREATE TRIGGER breaker_stays BEFORE DELETE ON breaker FOR EACH ROW EXECUTE FUNCTION refuse('an origin keeps its record');

-- Lost payments that a person put up with: they are no longer counted against their host, or against their payee.
CREATE TABLE pardon (
    payment text NOT NULL COLLATE "C" REFERENCES payment (id),
    scope   text NOT NULL COLLATE "C" CHECK (scope IN ('host', 'payee')),
    PRIMARY KEY (payment, scope)
);
CREATE FUNCTION pardon_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM bursar.payment WHERE id = NEW.payment AND state = 'presumed_spent') THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER pardon_begins BEFORE INSERT ON pardon FOR EACH ROW
    EXECUTE FUNCTION pardon_begins('only what ran out can be put up with');
CREATE TRIGGER pardon_never_changes BEFORE UPDATE ON pardon FOR EACH ROW
    EXECUTE FUNCTION refuse('what a person put up with stays so');
CREATE TRIGGER pardon_stays BEFORE DELETE ON pardon FOR EACH ROW EXECUTE FUNCTION refuse('what a person put up with stays so');

-- Whom, on what network and with what asset an origin was paid before.
CREATE TABLE familiar (
    origin  text NOT NULL COLLATE "C",
    kind    text NOT NULL COLLATE "C" CHECK (kind IN ('payee', 'network', 'asset')),
    value   text NOT NULL COLLATE "C",
    payment text NOT NULL COLLATE "C" REFERENCES payment (id),
    PRIMARY KEY (origin, kind, value)
);
CREATE TRIGGER familiar_never_changes BEFORE UPDATE ON familiar FOR EACH ROW
    EXECUTE FUNCTION refuse('what is known stays known');
CREATE TRIGGER familiar_stays BEFORE DELETE ON familiar FOR EACH ROW EXECUTE FUNCTION refuse('what is known stays known');

-- What the names of hosts that were paid look like, so that one that looks alike is found without reading them all.
CREATE TABLE likeness (
    shape text NOT NULL COLLATE "C",
    host  text NOT NULL COLLATE "C",
    PRIMARY KEY (shape, host)
);

-- Handles of payments that a browser makes, by digest: open until redeemed, once, or over. One is open for a payment.
CREATE TABLE handle (
    digest    text   PRIMARY KEY COLLATE "C" CHECK (digest ~ '^[0-9a-f]{64}$'),
    payment   text   NOT NULL COLLATE "C" REFERENCES payment (id),
    state     text   NOT NULL COLLATE "C" CHECK (state IN ('open', 'redeemed', 'over')),
    -- The payment document without the signature.
    blank     text   NOT NULL COLLATE "C" CHECK (blank::json IS NOT NULL AND octet_length(blank) <= 131072),
    created_s bigint NOT NULL CHECK (created_s >= 0),
    expires_s bigint NOT NULL CHECK (created_s < expires_s),
    ended_s   bigint CHECK ((ended_s IS NULL) = (state = 'open')),
    CHECK (state <> 'redeemed' OR ended_s < expires_s)
);
CREATE UNIQUE INDEX handle_open ON handle (payment) WHERE state = 'open';
CREATE INDEX handle_due ON handle (expires_s) WHERE state = 'open';
CREATE FUNCTION handle_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state <> 'open'
       OR NOT EXISTS (SELECT 1 FROM bursar.payment WHERE id = NEW.payment AND state IN ('held', 'exposed')
                      AND method = 'GET' AND body IS NULL) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER handle_begins BEFORE INSERT ON handle FOR EACH ROW
    EXECUTE FUNCTION handle_begins('a handle begins open, for a page that is not paid for');
CREATE TRIGGER handle_story BEFORE UPDATE ON handle FOR EACH ROW WHEN (
    OLD.state <> 'open'
    OR ROW(NEW.digest, NEW.payment, NEW.blank, NEW.created_s, NEW.expires_s)
       IS DISTINCT FROM ROW(OLD.digest, OLD.payment, OLD.blank, OLD.created_s, OLD.expires_s))
    EXECUTE FUNCTION refuse('a handle ends once and keeps its story');
CREATE FUNCTION payment_is_not_exposed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM bursar.payment WHERE id = NEW.payment AND state = 'exposed') THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER handle_redeemed BEFORE UPDATE ON handle FOR EACH ROW WHEN (NEW.state = 'redeemed')
    EXECUTE FUNCTION payment_is_not_exposed('a handle is redeemed for money that is counted as spent');
CREATE TRIGGER handle_stays BEFORE DELETE ON handle FOR EACH ROW EXECUTE FUNCTION refuse('a handle is never deleted');

-- How the log is vouched for: which restart of the books this is, which key signs checkpoints, and where the last one is.
CREATE TABLE audit (
    id             bigint PRIMARY KEY CHECK (id = 1),
    epoch          bigint NOT NULL CHECK (epoch >= 1),
    key            text   COLLATE "C" CHECK (key ~ '^[0-9a-f]{66}$'),
    checkpoint_seq bigint NOT NULL CHECK (checkpoint_seq >= 0),
    checkpoint_s   bigint NOT NULL CHECK (checkpoint_s >= 0)
);
INSERT INTO audit (id, epoch, checkpoint_seq, checkpoint_s) VALUES (1, 1, 0, 0);
CREATE TRIGGER audit_changes BEFORE UPDATE ON audit FOR EACH ROW WHEN (
    NEW.id <> OLD.id OR NEW.epoch < OLD.epoch OR NEW.checkpoint_seq < OLD.checkpoint_seq
    OR (OLD.key IS NOT NULL AND NEW.key IS DISTINCT FROM OLD.key))
    EXECUTE FUNCTION refuse('the log stays vouched for');
CREATE TRIGGER audit_stays BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse('the log stays vouched for');

-- What a chain showed of a payment, at a block that is final; once, and for good.
CREATE TABLE proof (
    payment   text   PRIMARY KEY COLLATE "C" REFERENCES payment (id),
    verdict   text   NOT NULL COLLATE "C" CHECK (verdict IN ('paid', 'unused', 'cancelled')),
    block     bigint NOT NULL CHECK (block >= 0),
    hash      text   NOT NULL COLLATE "C" CHECK (length(hash) = 66 AND hash LIKE '0x%'),
    block_s   bigint NOT NULL CHECK (block_s >= 0),
    tx        text   COLLATE "C" CHECK (length(tx) = 66 AND tx LIKE '0x%') CHECK ((tx IS NULL) = (verdict = 'unused')),
    witnesses bigint NOT NULL CHECK (witnesses >= 1),
    -- 1: the row was settled by then on the seller's word, which the chain denies.
    denies    bigint NOT NULL CHECK (denies IN (0, 1)) CHECK (denies = 0 OR verdict <> 'paid'),
    proved_s  bigint NOT NULL CHECK (proved_s >= 0)
);
CREATE INDEX proof_denies ON proof (proved_s) WHERE denies = 1;
CREATE FUNCTION proof_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM bursar.payment WHERE id = NEW.payment
                   AND (state = 'settled' OR (state IN ('exposed', 'presumed_spent') AND NEW.denies = 0)))
       OR (NEW.verdict = 'unused'
           AND EXISTS (SELECT 1 FROM bursar.payment WHERE id = NEW.payment AND NEW.block_s < valid_before)) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER proof_begins BEFORE INSERT ON proof FOR EACH ROW
    EXECUTE FUNCTION proof_begins('a chain proves nothing of this payment');
CREATE TRIGGER proof_never_changes BEFORE UPDATE ON proof FOR EACH ROW EXECUTE FUNCTION refuse('a proof is never changed');
CREATE TRIGGER proof_stays BEFORE DELETE ON proof FOR EACH ROW EXECUTE FUNCTION refuse('a proof is never deleted');

-- What was counted as spent and is proved not to have moved: under every key the sum so far, in order of the time that it
-- was counted at, so that a window leaves out exactly what it counted.
CREATE TABLE returned (
    key     text   NOT NULL COLLATE "C" REFERENCES tally (key),
    at_s    bigint NOT NULL,
    payment text   NOT NULL COLLATE "C" REFERENCES payment (id),
    total   text   NOT NULL COLLATE "C" CHECK (total ~ '^[0-9]{39}$'),
    count   bigint NOT NULL CHECK (count >= 1),
    PRIMARY KEY (key, at_s, payment)
);
CREATE UNIQUE INDEX returned_once ON returned (payment, key);
CREATE FUNCTION returned_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM bursar.spent WHERE payment = NEW.payment AND key = NEW.key AND at_s = NEW.at_s)
       OR NOT EXISTS (SELECT 1 FROM bursar.payment WHERE id = NEW.payment AND state = 'lapsed') THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER returned_begins BEFORE INSERT ON returned FOR EACH ROW
    EXECUTE FUNCTION returned_begins('only what was spent and lapsed is returned');
CREATE TRIGGER returned_changes BEFORE UPDATE ON returned FOR EACH ROW WHEN (
    NEW.key <> OLD.key OR NEW.at_s <> OLD.at_s OR NEW.payment <> OLD.payment OR NEW.total < OLD.total
    OR NEW.count < OLD.count)
    EXECUTE FUNCTION refuse('what was returned stays returned');
CREATE TRIGGER returned_stays BEFORE DELETE ON returned FOR EACH ROW
    EXECUTE FUNCTION refuse('what was returned stays returned');

-- What is still to be proved, and from which second of the chain's own time on it is worth asking. A list of work: nothing
-- in it is believed.
CREATE TABLE unproved (
    payment text   PRIMARY KEY COLLATE "C" REFERENCES payment (id),
    chain   text   NOT NULL COLLATE "C",
    from_s  bigint NOT NULL
);
CREATE INDEX unproved_due ON unproved (chain, from_s);

-- The vaults that share this ledger, each process by itself: until when it may go on without a word, and how often it had
-- to begin anew because it was silent for longer.
CREATE TABLE vault (
    id      text   PRIMARY KEY COLLATE "C" CHECK (id ~ '^[0-9a-f]{32}$'),
    host    text   NOT NULL COLLATE "C",
    epoch   bigint NOT NULL CHECK (epoch >= 1),
    until_s bigint NOT NULL CHECK (until_s >= 0)
);
CREATE TRIGGER vault_changes BEFORE UPDATE ON vault FOR EACH ROW WHEN (
    NEW.id <> OLD.id OR NEW.epoch < OLD.epoch)
    EXECUTE FUNCTION refuse('a vault never goes back to an earlier epoch');
CREATE TRIGGER vault_stays BEFORE DELETE ON vault FOR EACH ROW EXECUTE FUNCTION refuse('a vault is never deleted');

-- Whose a payment is: only the vault that counted it, in the epoch in which it did, may put a signature on it.
CREATE TABLE custody (
    payment text   PRIMARY KEY COLLATE "C" REFERENCES payment (id),
    vault   text   NOT NULL COLLATE "C" REFERENCES vault (id),
    epoch   bigint NOT NULL CHECK (epoch >= 1)
);
CREATE INDEX custody_vault ON custody (vault, epoch);
CREATE TRIGGER custody_stays BEFORE DELETE ON custody FOR EACH ROW EXECUTE FUNCTION refuse('a payment keeps its vault');
