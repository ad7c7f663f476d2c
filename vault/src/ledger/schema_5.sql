-- The ledger, version 5: what was added to version 4. A start looks at every session and at the last freeze, however long
-- the log is.
CREATE INDEX event_session ON event (session, seq) WHERE kind IN ('session_opened', 'session_closed');
CREATE INDEX event_freeze ON event (seq, kind) WHERE kind IN ('frozen', 'thawed');
