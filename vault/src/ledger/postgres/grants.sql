-- What the role that a vault runs as may do: read everything, add rows, and change exactly the columns that a payment's
-- life changes. It cannot delete (but from a list of work), empty, drop, alter, or take a guard down. `{role}` is its name.

REVOKE ALL ON ALL TABLES IN SCHEMA bursar FROM PUBLIC, {role};
REVOKE ALL ON SCHEMA bursar FROM PUBLIC, {role};
GRANT USAGE ON SCHEMA bursar TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA bursar TO {role};
GRANT INSERT ON meta, session, purchase, payment, payment_tag, tally, spent, event, mandate, approval, breaker, pardon,
    familiar, likeness, handle, proof, returned, unproved, vault, custody, rotation, sweep TO {role};
GRANT UPDATE (key_address, recorded_s, boot_id, wall_s, boot_ms, frozen, latched, event_seq, event_hash) ON meta TO {role};
GRANT UPDATE (closed_s) ON session TO {role};
GRANT UPDATE (state, valid_after, valid_before, signature, signed_s, delivery, claim, tx, updated_s, ended_s) ON payment
    TO {role};
GRANT UPDATE (pending, pending_count, spent, spent_count, spent_last_s) ON tally TO {role};
GRANT UPDATE (state, expires_s, decided_s, said, payment) ON approval TO {role};
GRANT UPDATE (failures, strikes, until_s) ON breaker TO {role};
GRANT UPDATE (state, ended_s) ON handle TO {role};
GRANT UPDATE (epoch, key, checkpoint_seq, checkpoint_s) ON audit TO {role};
GRANT UPDATE (total, count) ON returned TO {role};
GRANT UPDATE (from_s) ON unproved TO {role};
GRANT DELETE ON unproved TO {role};
GRANT UPDATE (state, proof, ended_s) ON sweep TO {role};
GRANT UPDATE (epoch, until_s) ON vault TO {role};
GRANT UPDATE (vault, epoch) ON custody TO {role};
