-- D-1 Records values: the first insert for an id wins, by the primary key. D-2, D-3 All others get the existing record.
-- D-7 An operation that has ended changes nothing. This is read after the record is locked or inserted, so that no
-- other call can end the operation in between. The record of an ended operation is deleted before it is visible.
-- D-4 Retentions begin when all ids are recorded, so that a wait for one id does not shorten the retention of another.
-- D-8 During a lease the outcome is 'in flight'.
-- The caller sorts the ids.
-- Returns one row per id, in the order of the arrays:
-- new version | again value version | existing value version | in flight remaining | fenced
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
