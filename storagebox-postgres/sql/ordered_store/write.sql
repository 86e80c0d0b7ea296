-- O-1, O-2 Writes values: the newest stamp wins, under the row's lock. Stamps are ordered by time, then by writer; a
-- delete comes after a put with the same stamp.
-- O-3 A delete leaves a tombstone (a null value), also if there was no value. A new stamp that is more than `p_age`
-- behind the clock is 'too old'. O-4 A stamp that is more than `p_skew` ahead of the clock is 'ahead'. O-5 Without time
-- stamps neither is tested. `p_age` and `p_skew` are in milliseconds.
-- The caller sorts the keys.
-- Returns one row per write, in the order of the arrays:
-- applied | stale at writer | duplicate | mismatch | too old horizon | ahead clock
CREATE OR REPLACE FUNCTION {schema}.ordered_write(
    p_namespace bigint, p_keys text[], p_ats bigint[], p_writers text[], p_values bytea[], p_timed boolean, p_skew bigint, p_age bigint
) RETURNS TABLE (outcome text, at bigint, writer text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
    now   timestamptz;
    clock bigint;
BEGIN
    FOR i IN 1 .. pg_catalog.cardinality(p_keys) LOOP
        LOOP
            SELECT v.ctid AS place, v.at, v.writer, v.value INTO known FROM {schema}.ordered_values v
            WHERE v.namespace = p_namespace AND v.key = p_keys[i] FOR UPDATE;
            now := {schema}.clock();
            clock := {schema}.millis_of(now);
            outcome := 'applied';
            at := NULL;
            writer := NULL;
            IF p_timed AND p_ats[i] > clock + p_skew THEN
                outcome := 'ahead';
                at := clock;
            ELSIF (p_ats[i], p_writers[i], p_values[i] IS NULL) < (known.at, known.writer, known.value IS NULL) THEN
                outcome := 'stale';
                at := known.at;
                writer := known.writer;
            ELSIF known.at = p_ats[i] AND known.writer = p_writers[i]
                AND (p_values[i] IS NULL) = (known.value IS NULL) THEN
                outcome := CASE WHEN p_values[i] IS DISTINCT FROM known.value THEN 'mismatch' ELSE 'duplicate' END;
            ELSIF p_timed AND p_ats[i] < clock - p_age THEN
                outcome := 'too old';
                at := clock - p_age;
            ELSIF known.place IS NULL THEN
                INSERT INTO {schema}.ordered_values
                VALUES (p_namespace, p_keys[i], p_ats[i], p_writers[i], p_values[i], now) ON CONFLICT DO NOTHING;
                CONTINUE WHEN NOT FOUND;
                -- By the clock of now: the insert may have waited for a purge, and what is too old must stay away.
                now := {schema}.clock();
                clock := {schema}.millis_of(now);
                IF p_timed AND p_ats[i] < clock - p_age THEN
                    DELETE FROM {schema}.ordered_values v WHERE v.namespace = p_namespace AND v.key = p_keys[i];
                    outcome := 'too old';
                    at := clock - p_age;
                ELSIF p_values[i] IS NULL THEN
                    UPDATE {schema}.ordered_values v SET arrived = now WHERE v.namespace = p_namespace AND v.key = p_keys[i];
                END IF;
            ELSE
                UPDATE {schema}.ordered_values v
                SET at = p_ats[i], writer = p_writers[i], value = p_values[i], arrived = now WHERE v.ctid = known.place;
            END IF;
            EXIT;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END $$;
