-- IB-7 Ends a claim and frees its item in one step. A confirmed claim is not changed. An unknown claim is fenced, so
-- that a take that arrives later gets nothing. Its void calls stay void (ER-5).
-- Returns released | expired | confirmed
CREATE OR REPLACE FUNCTION {schema}.bank_release(p_bank bigint, p_claim text, p_memory bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
    asked timestamptz;
BEGIN
    PERFORM {schema}.check_isolation();
    LOOP
        SELECT * INTO known FROM {schema}.bank_lock(p_bank, p_claim, p_memory);
        EXIT WHEN known.shown[1] <> 'unknown';
        asked := {schema}.clock();
        INSERT INTO {schema}.claims AS c (bank, claim, state, ended_at) VALUES (p_bank, p_claim, 'released', asked)
        ON CONFLICT (bank, claim) DO UPDATE SET state = 'released', ended_at = excluded.ended_at WHERE c.state = 'void';
        IF FOUND THEN
            IF {schema}.has_waited(asked) THEN
                UPDATE {schema}.claims c SET ended_at = {schema}.clock() WHERE c.bank = p_bank AND c.claim = p_claim;
            END IF;
            RETURN 'released';
        END IF;
    END LOOP;
    IF known.shown[1] = 'ended' THEN
        RETURN known.shown[2];
    ELSIF known.shown[3] = 'confirmed' THEN
        RETURN 'confirmed';
    END IF;
    PERFORM {schema}.bank_free(p_bank, known.h, known.item);
    PERFORM {schema}.bank_end_claim(known.place, 'released', {schema}.clock());
    RETURN 'released';
END $$;
