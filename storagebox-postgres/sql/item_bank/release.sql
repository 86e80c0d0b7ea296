-- IB-7 ends the claim that holds an item and frees the item in one step; an unknown claim is ended as well, which fences
--       a take of it that lands later. A confirmed one is left as it is.
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
        INSERT INTO {schema}.claims (bank, claim, state, ended_at) VALUES (p_bank, p_claim, 'released', asked)
        ON CONFLICT DO NOTHING;
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
