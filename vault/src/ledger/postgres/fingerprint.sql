-- One digest of every column, constraint, index, guard and function of the schema, as the server itself tells them.
SELECT encode(sha256(convert_to(string_agg(line, chr(10) ORDER BY line COLLATE "C"), 'UTF8')), 'hex') FROM (
    SELECT concat_ws(' ', 'column', c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                     (SELECT l.collname FROM pg_collation l WHERE l.oid = a.attcollation),
                     (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
                      WHERE d.adrelid = c.oid AND d.adnum = a.attnum)) AS line
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = CAST('bursar' AS regnamespace) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT concat_ws(' ', 'constraint', c.relname, k.conname, pg_get_constraintdef(k.oid), k.convalidated)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE c.relnamespace = CAST('bursar' AS regnamespace)
    UNION ALL
    SELECT concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisunique)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = CAST('bursar' AS regnamespace)
    UNION ALL
    SELECT concat_ws(' ', 'guard', c.relname, CASE WHEN t.tgisinternal THEN (SELECT k.conname FROM pg_constraint k
                     WHERE k.oid = t.tgconstraint) ELSE pg_get_triggerdef(t.oid) END, p.proname, t.tgtype, t.tgenabled)
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE c.relnamespace = CAST('bursar' AS regnamespace)
    UNION ALL
    SELECT concat_ws(' ', 'rule', c.relname, r.rulename, r.ev_enabled)
    FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE c.relnamespace = CAST('bursar' AS regnamespace)
    UNION ALL
    SELECT concat_ws(' ', 'function', p.proname, pg_get_function_identity_arguments(p.oid), p.prosecdef, p.prosrc,
                     p.proconfig, pg_get_function_sqlbody(p.oid))
    FROM pg_proc p WHERE p.pronamespace = CAST('bursar' AS regnamespace)
) AS everything
