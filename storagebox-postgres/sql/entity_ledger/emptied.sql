-- E-6 Begins the memory of an entity's version, if the entity has neither a state nor an entry. The caller has locked
-- the entity.
CREATE OR REPLACE FUNCTION {schema}.entity_emptied(p_namespace bigint, p_key text, p_now timestamptz) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE {schema}.entities e SET emptied_at = p_now
    WHERE e.namespace = p_namespace AND e.key = p_key AND e.state IS NULL
      AND NOT EXISTS (SELECT FROM {schema}.outbox_entries o WHERE o.namespace = p_namespace AND o.key = p_key)
$$;
