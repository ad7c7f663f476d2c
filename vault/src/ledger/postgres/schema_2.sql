-- The ledger on PostgreSQL, version 2: what version 6 is on SQLite.

-- The account that pays, handed on: each row is one change of it, with the key that signs checkpoints from then on.
CREATE TABLE rotation (
    seq          bigint PRIMARY KEY,
    from_account text   NOT NULL COLLATE "C" CHECK (length(from_account) = 42),
    to_account   text   NOT NULL UNIQUE COLLATE "C" CHECK (length(to_account) = 42 AND to_account <> from_account),
    audit_key    text   NOT NULL COLLATE "C" CHECK (audit_key ~ '^[0-9a-f]{66}$'),
    at_s         bigint NOT NULL CHECK (at_s >= 0)
);
CREATE FUNCTION rotation_is_early() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.from_account IS DISTINCT FROM (SELECT key_address FROM bursar.meta)
       OR EXISTS (SELECT 1 FROM bursar.payment WHERE state IN ('held', 'exposed')) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER rotation_begins BEFORE INSERT ON rotation FOR EACH ROW
    EXECUTE FUNCTION rotation_is_early('the account that pays is handed on while nothing is open');
CREATE TRIGGER rotation_numbered BEFORE INSERT ON rotation FOR EACH ROW EXECUTE FUNCTION numbered();
CREATE TRIGGER rotation_never_changes BEFORE UPDATE ON rotation FOR EACH ROW
    EXECUTE FUNCTION refuse('a change of the account is never rewritten');
CREATE TRIGGER rotation_stays BEFORE DELETE ON rotation FOR EACH ROW
    EXECUTE FUNCTION refuse('a change of the account is never deleted');

-- The account and the key of checkpoints change by a rotation and in no other way.
DROP TRIGGER meta_changes ON meta;
CREATE TRIGGER meta_changes BEFORE UPDATE ON meta FOR EACH ROW WHEN (
    ROW(NEW.id, NEW.ledger_id, NEW.setting, NEW.created_s)
        IS DISTINCT FROM ROW(OLD.id, OLD.ledger_id, OLD.setting, OLD.created_s)
    OR NEW.event_seq < OLD.event_seq)
    EXECUTE FUNCTION refuse('the ledger keeps its name');
CREATE FUNCTION account_was_not_handed_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM bursar.rotation
                   WHERE from_account = OLD.key_address AND to_account IS NOT DISTINCT FROM NEW.key_address) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER meta_account BEFORE UPDATE ON meta FOR EACH ROW
    WHEN (OLD.key_address IS NOT NULL AND NEW.key_address IS DISTINCT FROM OLD.key_address)
    EXECUTE FUNCTION account_was_not_handed_on('the ledger keeps its name');
DROP TRIGGER audit_changes ON audit;
CREATE TRIGGER audit_changes BEFORE UPDATE ON audit FOR EACH ROW WHEN (
    NEW.id <> OLD.id OR NEW.epoch < OLD.epoch OR NEW.checkpoint_seq < OLD.checkpoint_seq)
    EXECUTE FUNCTION refuse('the log stays vouched for');
CREATE FUNCTION key_was_not_handed_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.key IS DISTINCT FROM (SELECT audit_key FROM bursar.rotation ORDER BY seq DESC LIMIT 1) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_key BEFORE UPDATE ON audit FOR EACH ROW
    WHEN (OLD.key IS NOT NULL AND NEW.key IS DISTINCT FROM OLD.key)
    EXECUTE FUNCTION key_was_not_handed_on('the log stays vouched for');

-- A start looks at every change of the account, however long the log is.
CREATE INDEX event_rotated ON event (seq) WHERE kind = 'key_rotated';

-- Nothing is counted for another account than the one that pays.
CREATE FUNCTION payer_is_another() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.payer <> (SELECT key_address FROM bursar.meta) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payment_payer BEFORE INSERT ON payment FOR EACH ROW
    EXECUTE FUNCTION payer_is_another('a payment is of the account that pays');

-- What payments may still take of an account's token.
CREATE INDEX payment_takeable ON payment (payer, chain, asset, valid_before);

-- What the operator moves out of an account: written down before it is signed, and signed as it is written here.
CREATE TABLE sweep (
    seq          bigint PRIMARY KEY,
    id           text   NOT NULL UNIQUE COLLATE "C" CHECK (id ~ '^w_.{32}$'),
    state        text   NOT NULL COLLATE "C" CHECK (state IN ('ordered', 'presumed', 'moved', 'unmoved')),
    account      text   NOT NULL COLLATE "C" CHECK (length(account) = 42),
    destination  text   NOT NULL COLLATE "C" CHECK (length(destination) = 42 AND destination <> account),
    chain        text   NOT NULL COLLATE "C" CHECK (chain ~ '^eip155:[0-9]'),
    asset        text   NOT NULL COLLATE "C" CHECK (length(asset) = 42 AND asset <> destination),
    symbol       text   NOT NULL COLLATE "C",
    amount       text   NOT NULL COLLATE "C" CHECK (amount ~ '^[0-9]{39}$' AND amount ~ '[1-9]'),
    money        text   NOT NULL COLLATE "C" CHECK (money ~ '^[0-9]{39}$'),
    currency     text   NOT NULL COLLATE "C" CHECK (currency ~ '^[A-Z]{3}$'),
    nonce        text   NOT NULL COLLATE "C" CHECK (nonce ~ '^[0-9a-f]{64}$'),
    valid_before bigint NOT NULL CHECK (created_s < valid_before),
    created_s    bigint NOT NULL CHECK (created_s >= 0),
    -- What may be added later:
    proof        text   COLLATE "C" CHECK (proof IS NULL OR proof::json IS NOT NULL)
                 CHECK ((proof IS NOT NULL) = (state IN ('moved', 'unmoved'))),
    ended_s      bigint CHECK ((ended_s IS NULL) = (state = 'ordered'))
);
CREATE UNIQUE INDEX sweep_live ON sweep (account, chain, asset) WHERE state = 'ordered';
CREATE UNIQUE INDEX sweep_nonce ON sweep (chain, asset, account, nonce);
-- What the log tells of one: the id is what its words begin with.
CREATE INDEX event_sweep ON event (substr(detail, 1, 34), seq) WHERE kind IN ('sweep_ordered', 'sweep_ended');
CREATE FUNCTION account_is_a_stranger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM bursar.meta WHERE key_address = NEW.account
                   UNION ALL SELECT 1 FROM bursar.rotation WHERE from_account = NEW.account) THEN
        RAISE check_violation USING MESSAGE = TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER sweep_account BEFORE INSERT ON sweep FOR EACH ROW
    EXECUTE FUNCTION account_is_a_stranger('a sweep begins as ordered, out of an account of the ledger');
CREATE TRIGGER sweep_begins BEFORE INSERT ON sweep FOR EACH ROW WHEN (NEW.state <> 'ordered')
    EXECUTE FUNCTION refuse('a sweep begins as ordered, out of an account of the ledger');
CREATE TRIGGER sweep_numbered BEFORE INSERT ON sweep FOR EACH ROW EXECUTE FUNCTION numbered();
CREATE TRIGGER sweep_story BEFORE UPDATE ON sweep FOR EACH ROW WHEN (
    ROW(NEW.seq, NEW.id, NEW.account, NEW.destination, NEW.chain, NEW.asset, NEW.symbol, NEW.amount, NEW.money,
        NEW.currency, NEW.nonce, NEW.valid_before, NEW.created_s)
        IS DISTINCT FROM
    ROW(OLD.seq, OLD.id, OLD.account, OLD.destination, OLD.chain, OLD.asset, OLD.symbol, OLD.amount, OLD.money,
        OLD.currency, OLD.nonce, OLD.valid_before, OLD.created_s)
    OR NOT ((OLD.state = 'ordered' AND NEW.state IN ('presumed', 'moved', 'unmoved'))
            OR (OLD.state = 'presumed' AND NEW.state IN ('moved', 'unmoved'))))
    EXECUTE FUNCTION refuse('a sweep keeps its story');
CREATE TRIGGER sweep_stays BEFORE DELETE ON sweep FOR EACH ROW EXECUTE FUNCTION refuse('a sweep is never deleted');

-- Functions name their tables with the schema; operators have none to be named with. So each finds its operators among the
-- server's own, whatever the caller's search path says: a role that may make a schema could put another `=` before them.
ALTER FUNCTION refuse() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION numbered() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION handle_is_open() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION proof_is_missing() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION payment_tag_begins() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION spent_begins() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION event_begins() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION mandate_begins() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION pardon_begins() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION handle_begins() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION payment_is_not_exposed() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION proof_begins() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION returned_begins() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION rotation_is_early() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION account_was_not_handed_on() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION key_was_not_handed_on() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION payer_is_another() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION account_is_a_stranger() SET search_path = pg_catalog, pg_temp;
