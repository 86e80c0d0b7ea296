-- O-1, O-2 the newest stamp wins, under the row's lock: by time, then by writer, then a delete over a put.
-- O-3 a delete leaves a tombstone (a null value), also where there was nothing; a new stamp behind `p_age` is 'too old'.
-- O-4 in milliseconds, like the stamps: a stamp further ahead of the clock than `p_skew` is 'ahead'. O-5 without time stamps
-- neither is asked. One row an element, in the order of the arrays, whose keys the caller sorts: applied | stale at writer |
-- duplicate | mismatch | too old horizon | ahead clock
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
                -- Judged and dated anew: it may have waited for a purge, behind which nothing may come back.
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
