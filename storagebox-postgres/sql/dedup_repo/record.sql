-- D-1 the first to put the id's record wins, by its primary key; D-2, D-3 all others are answered what stands there.
-- D-7 an operation that is over changes nothing: that is looked up after the record is locked or made, so that nobody can end it
--      in between; a record that was made in vain is removed before anybody sees it.
-- D-4 a retention begins when all ids of the statement are had: a record that waited for a neighbour's lasts as long.
-- D-8 during a lease it is 'in flight'.
-- One row an element, in the order of the arrays, whose ids the caller sorts: new version | again, existing value version |
-- in flight remaining | fenced
CREATE OR REPLACE FUNCTION {schema}.dedup_record(
    p_namespace bigint, p_ids text[], p_values bytea[], p_ops text[], p_retentions bigint[], p_memory bigint
) RETURNS TABLE (outcome text, value bytea, version bigint, remaining bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known  record;
    asked  timestamptz;
    now    timestamptz;
    waited boolean := false;
    made   boolean[];
    lowest bigint;
BEGIN
    PERFORM {schema}.check_isolation();
    FOR i IN 1 .. pg_catalog.cardinality(p_ids) LOOP
        lowest := NULL;
        <<one>> LOOP
            asked := {schema}.clock();
            INSERT INTO {schema}.records (namespace, id, state, op, value, version, until)
            VALUES (p_namespace, p_ids[i], 'done', p_ops[i], p_values[i], {schema}.next_number(lowest),
                    asked + {schema}.interval_of(p_retentions[i]))
            ON CONFLICT DO NOTHING RETURNING records.version INTO version;
            IF FOUND THEN
                waited := waited OR {schema}.has_waited(asked);
                made[i] := true;
                outcome := 'new';
                IF {schema}.record_has_ended(p_namespace, p_ids[i], p_ops[i], p_memory, {schema}.clock()) THEN
                    DELETE FROM {schema}.records r WHERE r.namespace = p_namespace AND r.id = p_ids[i];
                    outcome := 'fenced';
                END IF;
                EXIT one;
            END IF;
            SELECT * INTO known FROM {schema}.record_lock(p_namespace, p_ids[i], p_memory, p_ops[i]);
            lowest := greatest(known.version, known.fence);
            waited := waited OR {schema}.has_waited(asked);
            IF known.ended THEN
                outcome := 'fenced';
            ELSIF known.state IS NULL THEN
                CONTINUE one;
            ELSIF known.state = 'done' THEN
                outcome := CASE WHEN known.op = p_ops[i] THEN 'again' ELSE 'existing' END;
            ELSIF known.until > known.now THEN
                outcome := 'in flight';
            ELSE
                DELETE FROM {schema}.records r WHERE r.ctid = known.place;
                CONTINUE one;
            END IF;
            value := known.value;
            version := known.version;
            remaining := {schema}.micros_until(known.until, known.now);
            EXIT one;
        END LOOP;
        RETURN NEXT;
        value := NULL;
        remaining := NULL;
    END LOOP;
    IF waited THEN
        now := {schema}.clock();
        FOR i IN 1 .. pg_catalog.cardinality(p_ids) LOOP
            UPDATE {schema}.records r SET until = now + {schema}.interval_of(p_retentions[i])
            WHERE made[i] AND p_retentions[i] IS NOT NULL AND r.namespace = p_namespace AND r.id = p_ids[i];
        END LOOP;
    END IF;
END $$;
