SET check_function_bodies = off;

CREATE SCHEMA storagebox;

CREATE FUNCTION storagebox.bank_add(p_bank bigint, p_hs bigint[], p_items text[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    places tid[];
    hs     bigint[];
    items  text[];
    known  tid[];
BEGIN
    PERFORM storagebox.check_isolation();
    WITH new AS (
        INSERT INTO storagebox.free_items AS f SELECT p_bank, u.h, u.item FROM unnest(p_hs, p_items) u(h, item)
        ON CONFLICT DO NOTHING RETURNING f.ctid AS place, f.h, f.item
    )
    SELECT pg_catalog.array_agg(n.place), pg_catalog.array_agg(n.h), pg_catalog.array_agg(n.item) INTO places, hs, items FROM new n;
    IF EXISTS (SELECT FROM storagebox.claims c WHERE c.bank = p_bank AND c.item IS NOT NULL)
        OR EXISTS (SELECT FROM storagebox.withdrawn_items w WHERE w.bank = p_bank) THEN
        -- One look for each item, and never a plan for all at once, made when the tables were empty.
        SELECT pg_catalog.array_agg(l.place) FILTER (WHERE l.is_known), pg_catalog.array_agg(l.h) FILTER (WHERE NOT l.is_known)
        INTO known, hs FROM (
            SELECT u.place, u.h, EXISTS (
                SELECT FROM storagebox.claims c WHERE c.bank = p_bank AND c.h = u.h AND c.item = u.item OFFSET 0
            ) OR EXISTS (
                SELECT FROM storagebox.withdrawn_items w
                WHERE w.bank = p_bank AND w.h = u.h AND w.item = u.item OFFSET 0
            ) AS is_known
            FROM unnest(places, hs, items) u(place, h, item) OFFSET 0
        ) l;
        DELETE FROM storagebox.free_items f WHERE f.ctid = ANY (known);
    END IF;
    -- IB-08 those that were taken back are in no cell, so that takers do not cross what is left of them.
    PERFORM storagebox.bank_fill_sections(p_bank, hs);
    RETURN coalesce(pg_catalog.cardinality(places), 0) - coalesce(pg_catalog.cardinality(known), 0);
END $$;

CREATE FUNCTION storagebox.bank_cell_of(p_h bigint, p_count integer) RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN (((p_h & '36028797018963967'::bigint) / ('36028797018963968'::bigint / p_count)))::integer;

CREATE FUNCTION storagebox.bank_cell_after(p_till bigint, p_count integer) RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN CASE (p_till & '36028797018963967'::bigint) WHEN '36028797018963967'::bigint THEN p_count ELSE storagebox.bank_cell_of((p_till + 1), p_count) END;

CREATE FUNCTION storagebox.bank_section_start(p_section integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN (((p_section - 256))::bigint << 55);

CREATE FUNCTION storagebox.bank_cell_start(p_section integer, p_cell integer, p_count integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN (storagebox.bank_section_start(p_section) + (p_cell * ('36028797018963968'::bigint / p_count)));

CREATE FUNCTION storagebox.bank_cell_end(p_section integer, p_cell integer, p_count integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN (storagebox.bank_cell_start(p_section, p_cell, p_count) + (('36028797018963968'::bigint / p_count) - 1));

CREATE FUNCTION storagebox.bank_cell_till(p_h bigint, p_count integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN (p_h | (('36028797018963968'::bigint / p_count) - 1));

CREATE FUNCTION storagebox.bank_confirm(p_bank bigint, p_claim text, p_memory bigint) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM storagebox.bank_lock(p_bank, p_claim, p_memory);
    IF known.shown[1] = 'again' AND known.shown[3] <> 'confirmed' THEN
        UPDATE storagebox.claims c SET state = 'spent', until = NULL WHERE c.ctid = known.place;
    END IF;
    RETURN known.shown;
END $$;

CREATE FUNCTION storagebox.bank_counts(p_bank bigint) RETURNS TABLE(free bigint, held bigint, spent bigint, withdrawn bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
BEGIN
    RETURN QUERY
    SELECT c.lapsed + (SELECT count(*) FROM storagebox.free_items f WHERE f.bank = p_bank), c.held, c.spent,
           (SELECT count(*) FROM storagebox.withdrawn_items w WHERE w.bank = p_bank)
    FROM (
        SELECT count(*) FILTER (WHERE k.until <= asked) AS lapsed,
               count(*) FILTER (WHERE k.state = 'held' AND (k.until IS NULL OR k.until > asked)) AS held,
               count(*) FILTER (WHERE k.state = 'spent') AS spent
        FROM storagebox.claims k WHERE k.bank = p_bank AND k.item IS NOT NULL
    ) c;
END $$;

CREATE FUNCTION storagebox.bank_empty_cells(p_bank bigint, p_froms bigint[], p_tills bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    one   integer;
    known bit varying;
    kept  bit varying;
BEGIN
    FOR i IN 1 .. coalesce(pg_catalog.cardinality(p_froms), 0) LOOP
        one := storagebox.bank_section_of(p_froms[i]);
        SELECT c.cells INTO known FROM storagebox.bank_cells c
        WHERE c.bank = p_bank AND c.section = one
          AND storagebox.bank_cell_till(p_froms[i], length(c.cells)) <= p_tills[i]
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        -- A snapshot of before the lock may lack an item that was put back meanwhile.
        PERFORM storagebox.check_isolation();
        kept := storagebox.bank_without_empty(p_bank, known, p_froms[i], p_tills[i]);
        IF kept <> known THEN
            UPDATE storagebox.bank_cells c SET cells = kept WHERE c.bank = p_bank AND c.section = one;
        END IF;
        IF position(B'1' IN kept) = 0 THEN
            PERFORM storagebox.bank_empty_section(p_bank, one);
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION storagebox.bank_empty_cells_of(p_bank bigint, p_hs bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    one   record;
    first bigint;
    known bit varying;
    kept  bit varying;
BEGIN
    PERFORM storagebox.check_isolation();
    FOR one IN
        SELECT storagebox.bank_section_of(h) AS section, pg_catalog.array_agg(h) AS hs
        FROM pg_catalog.unnest(p_hs) h GROUP BY 1 ORDER BY 1
    LOOP
        SELECT c.cells INTO known FROM storagebox.bank_cells c
        WHERE c.bank = p_bank AND c.section = one.section FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        kept := known;
        FOR first IN SELECT min(h) FROM pg_catalog.unnest(one.hs) h GROUP BY storagebox.bank_cell_of(h, length(known)) LOOP
            kept := storagebox.bank_without_empty(p_bank, kept, first, storagebox.bank_cell_till(first, length(known)));
        END LOOP;
        IF kept <> known THEN
            UPDATE storagebox.bank_cells c SET cells = kept WHERE c.bank = p_bank AND c.section = one.section;
        END IF;
        IF position(B'1' IN kept) = 0 THEN
            PERFORM storagebox.bank_empty_section(p_bank, one.section);
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION storagebox.bank_empty_section(p_bank bigint, p_section integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM FROM storagebox.bank_sections s WHERE s.bank = p_bank AND s.part = p_section / 64 FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE storagebox.bank_sections s SET bits = s.bits & ~(1::bigint << (p_section % 64))
        WHERE s.bank = p_bank AND s.part = p_section / 64;
    END IF;
END $$;

CREATE FUNCTION storagebox.bank_end_claim(p_place tid, p_why text, p_now timestamp with time zone) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE storagebox.claims c
    SET state = p_why, h = NULL, item = NULL, until = NULL,
        ended_at = CASE p_why WHEN 'expired' THEN c.until ELSE p_now END
    WHERE c.ctid = p_place
$$;

CREATE FUNCTION storagebox.bank_extend(p_bank bigint, p_claim text, p_hold bigint, p_memory bigint) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
    now   timestamptz;
    til   timestamptz;
BEGIN
    SELECT * INTO known FROM storagebox.bank_lock(p_bank, p_claim, p_memory);
    IF known.shown[1] <> 'again' OR known.shown[3] = 'confirmed' THEN
        RETURN known.shown;
    END IF;
    now := storagebox.clock();
    til := greatest(known.until, now + storagebox.interval_of(p_hold));
    IF known.until IS NULL OR p_hold IS NULL THEN
        til := NULL;
    END IF;
    UPDATE storagebox.claims c SET until = til WHERE c.ctid = known.place;
    RETURN ARRAY['extended', known.item, coalesce(storagebox.micros_until(til, now)::text, 'forever')];
END $$;

CREATE FUNCTION storagebox.bank_fill_cells(p_bank bigint, p_section integer, p_hs bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    known bit varying;
    one   bigint;
BEGIN
    INSERT INTO storagebox.bank_cells VALUES (p_bank, p_section, B'1') ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT c.cells INTO known FROM storagebox.bank_cells c WHERE c.bank = p_bank AND c.section = p_section FOR NO KEY UPDATE;
    FOREACH one IN ARRAY p_hs LOOP
        known := set_bit(known, storagebox.bank_cell_of(one, length(known)), 1);
    END LOOP;
    UPDATE storagebox.bank_cells c SET cells = known WHERE c.bank = p_bank AND c.section = p_section;
END $$;

CREATE FUNCTION storagebox.bank_fill_sections(p_bank bigint, p_hs bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    lacking bigint[];
    one     record;
    known   bigint;
BEGIN
    PERFORM storagebox.check_isolation();
    WITH locked AS MATERIALIZED (
        SELECT c.section, c.cells FROM storagebox.bank_cells c WHERE c.bank = p_bank AND c.section = ANY (ARRAY(
            SELECT DISTINCT storagebox.bank_section_of(h) FROM pg_catalog.unnest(p_hs) h
        )) ORDER BY c.section FOR KEY SHARE
    )
    SELECT pg_catalog.array_agg(h) INTO lacking
    FROM pg_catalog.unnest(p_hs) h LEFT JOIN locked l ON l.section = storagebox.bank_section_of(h)
    WHERE (get_bit(l.cells, storagebox.bank_cell_of(h, length(l.cells))) = 1) IS NOT TRUE;
    FOR one IN
        SELECT storagebox.bank_section_of(h) AS section, pg_catalog.array_agg(h) AS hs
        FROM pg_catalog.unnest(lacking) h GROUP BY 1 ORDER BY 1
    LOOP
        PERFORM storagebox.bank_fill_cells(p_bank, one.section, one.hs);
    END LOOP;
    FOR one IN
        SELECT u.section / 64 AS part, bit_or(1::bigint << (u.section % 64)) AS bits
        FROM (SELECT storagebox.bank_section_of(h) AS section FROM pg_catalog.unnest(p_hs) h) u GROUP BY 1 ORDER BY 1
    LOOP
        SELECT s.bits INTO known FROM storagebox.bank_sections s WHERE s.bank = p_bank AND s.part = one.part;
        IF NOT FOUND OR known & one.bits <> one.bits THEN
            INSERT INTO storagebox.bank_sections AS s VALUES (p_bank, one.part, one.bits)
            ON CONFLICT (bank, part) DO UPDATE SET bits = s.bits | excluded.bits;
        END IF;
    END LOOP;
    PERFORM storagebox.bank_split_cells(p_bank, p_hs);
END $$;

CREATE FUNCTION storagebox.bank_free(p_bank bigint, p_h bigint, p_item text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    INSERT INTO storagebox.free_items SELECT p_bank, p_h, p_item WHERE p_item IS NOT NULL ON CONFLICT DO NOTHING;
    SELECT storagebox.bank_fill_sections(p_bank, ARRAY[p_h]) WHERE p_item IS NOT NULL
$$;

CREATE FUNCTION storagebox.bank_free_lapsed(p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    asked  timestamptz := storagebox.clock();
    one    bigint;
    places tid[];
    hs     bigint[];
    items  text[];
    freed  bigint := 0;
BEGIN
    FOR one IN SELECT b.box FROM storagebox.boxes b WHERE b.kind = 'bank' ORDER BY b.box LOOP
        EXIT WHEN freed >= p_limit;
        SELECT pg_catalog.array_agg(l.place), pg_catalog.array_agg(l.h), pg_catalog.array_agg(l.item) INTO places, hs, items FROM (
            SELECT c.ctid AS place, c.h, c.item FROM storagebox.claims c WHERE c.bank = one AND c.until <= asked
            ORDER BY c.until LIMIT p_limit - freed FOR UPDATE SKIP LOCKED
        ) l;
        freed := freed + storagebox.bank_reap(one, places, hs, items);
    END LOOP;
    RETURN freed;
END $$;

CREATE FUNCTION storagebox.bank_get(p_bank bigint, p_claim text, p_memory bigint) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
    shown text[];
BEGIN
    SELECT storagebox.bank_shown(c.state, c.item, c.until, c.ended_at, p_memory, asked) INTO shown
    FROM storagebox.claims c WHERE c.bank = p_bank AND c.claim = p_claim;
    RETURN CASE WHEN shown[1] <> 'forgotten' THEN shown ELSE ARRAY['unknown'] END;
END $$;

CREATE FUNCTION storagebox.bank_has_free(p_bank bigint) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    one     integer := storagebox.bank_next_section(p_bank, 0);
    cells   bit varying;
    run     record;
BEGIN
    WHILE one IS NOT NULL LOOP
        SELECT c.cells INTO cells FROM storagebox.bank_cells c WHERE c.bank = p_bank AND c.section = one;
        run := storagebox.bank_run(cells, storagebox.bank_section_start(one));
        WHILE run.lowest IS NOT NULL LOOP
            IF EXISTS (
                SELECT FROM storagebox.free_items i WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
            ) THEN
                RETURN true;
            END IF;
            EXIT WHEN run.highest = storagebox.bank_section_end(one);
            run := storagebox.bank_run(cells, run.highest + 1);
        END LOOP;
        one := storagebox.bank_next_section(p_bank, one + 1);
    END LOOP;
    RETURN false;
END $$;

CREATE FUNCTION storagebox.bank_hold_anew(p_bank bigint, p_claims text[], p_holds bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    now timestamptz := storagebox.clock();
BEGIN
    FOR i IN 1 .. coalesce(pg_catalog.cardinality(p_claims), 0) LOOP
        UPDATE storagebox.claims c SET until = now + storagebox.interval_of(p_holds[i])
        WHERE c.bank = p_bank AND c.claim = p_claims[i] AND p_holds[i] IS NOT NULL;
    END LOOP;
END $$;

CREATE FUNCTION storagebox.bank_hold_from(p_bank bigint, p_claim text, p_hold bigint, p_asked timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM storagebox.bank_hold_until(p_bank, p_asked + storagebox.interval_of(p_hold));
    IF storagebox.has_waited(p_asked) THEN
        PERFORM storagebox.bank_hold_anew(p_bank, ARRAY[p_claim], ARRAY[p_hold]);
    END IF;
END $$;

CREATE FUNCTION storagebox.bank_hold_until(p_bank bigint, p_until timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    known timestamptz;
BEGIN
    SELECT l.since INTO known FROM storagebox.bank_lapses l WHERE l.bank = p_bank FOR KEY SHARE;
    IF NOT FOUND OR known > p_until THEN
        INSERT INTO storagebox.bank_lapses AS l VALUES (p_bank, '-infinity')
        ON CONFLICT (bank) DO UPDATE SET since = least(l.since, p_until);
    END IF;
END $$;

CREATE FUNCTION storagebox.bank_holder(p_bank bigint, p_h bigint, p_item text) RETURNS TABLE(state text, claim text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
BEGIN
    RETURN QUERY
    SELECT 'free', NULL FROM storagebox.free_items f WHERE f.bank = p_bank AND f.h = p_h AND f.item = p_item
    UNION ALL
    SELECT 'withdrawn', NULL FROM storagebox.withdrawn_items w WHERE w.bank = p_bank AND w.h = p_h AND w.item = p_item
    UNION ALL
    SELECT CASE WHEN c.until <= asked THEN 'free' ELSE c.state END, c.claim
    FROM storagebox.claims c WHERE c.bank = p_bank AND c.h = p_h AND c.item = p_item;
END $$;

CREATE FUNCTION storagebox.bank_is_crowded(p_bank bigint, p_h bigint, p_count integer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    section CONSTANT integer := storagebox.bank_section_of(p_h);
    cell    CONSTANT integer := storagebox.bank_cell_of(p_h, p_count);
BEGIN
    RETURN p_count < 4096 AND (SELECT count(*) FROM (
        SELECT FROM storagebox.free_items i
        WHERE i.bank = p_bank AND i.h >= storagebox.bank_cell_start(section, cell, p_count)
          AND i.h <= storagebox.bank_cell_end(section, cell, p_count) LIMIT 17
    ) few) > 16::bigint;
END $$;

CREATE FUNCTION storagebox.bank_list(p_bank bigint, p_after_h bigint, p_after_item text, p_limit bigint) RETURNS TABLE(h bigint, item text, state text, claim text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
BEGIN
    RETURN QUERY
    (SELECT f.h, f.item, 'free', NULL FROM storagebox.free_items f
     WHERE f.bank = p_bank AND (f.h, f.item) > (p_after_h, p_after_item) ORDER BY f.h, f.item LIMIT p_limit)
    UNION ALL
    (SELECT w.h, w.item, 'withdrawn', NULL FROM storagebox.withdrawn_items w
     WHERE w.bank = p_bank AND (w.h, w.item) > (p_after_h, p_after_item) ORDER BY w.h, w.item LIMIT p_limit)
    UNION ALL
    (SELECT c.h, c.item, CASE WHEN c.until <= asked THEN 'free' ELSE c.state END, c.claim FROM storagebox.claims c
     WHERE c.bank = p_bank AND c.item IS NOT NULL AND c.h >= p_after_h AND (c.h, c.item) > (p_after_h, p_after_item)
     ORDER BY c.h, c.item LIMIT p_limit)
    ORDER BY 1, 2 LIMIT p_limit;
END $$;

CREATE FUNCTION storagebox.bank_lock(p_bank bigint, p_claim text, p_memory bigint, OUT place tid, OUT h bigint, OUT item text, OUT until timestamp with time zone, OUT shown text[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    state    text;
    ended_at timestamptz;
BEGIN
    SELECT c.ctid, c.h, c.item, c.until, c.state, c.ended_at INTO place, h, item, until, state, ended_at
    FROM storagebox.claims c WHERE c.bank = p_bank AND c.claim = p_claim FOR UPDATE;
    IF NOT FOUND THEN
        shown := ARRAY['unknown'];
        RETURN;
    END IF;
    shown := storagebox.bank_shown(state, item, until, ended_at, p_memory, storagebox.clock());
    IF shown[1] = 'forgotten' THEN
        PERFORM storagebox.bank_free(p_bank, h, item);
        DELETE FROM storagebox.claims c WHERE c.ctid = place;
        shown := ARRAY['unknown'];
    END IF;
END $$;

CREATE FUNCTION storagebox.bank_maintain(p_memory bigint, p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    before  timestamptz := storagebox.forgotten_before(p_memory, storagebox.clock());
    one     bigint;
    removed bigint := 0;
    part    bigint;
BEGIN
    FOR one IN SELECT b.box FROM storagebox.boxes b WHERE b.kind = 'bank' ORDER BY b.box LOOP
        EXIT WHEN removed >= p_limit;
        DELETE FROM storagebox.claims c WHERE c.ctid = ANY (ARRAY(
            SELECT k.ctid FROM storagebox.claims k WHERE k.bank = one AND k.ended_at <= before
            ORDER BY k.ended_at LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;

CREATE FUNCTION storagebox.bank_make_claims(p_bank bigint, p_claims text[], p_holds bigint[], p_hs bigint[], p_items text[], OUT claims text[], OUT items text[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
BEGIN
    BEGIN
        INSERT INTO storagebox.claims (bank, claim, state, h, item, until)
        SELECT p_bank, u.claim, 'held', u.h, u.item, asked + storagebox.interval_of(u.hold)
        FROM unnest(p_claims, p_holds, p_hs, p_items) u(claim, hold, h, item) WHERE u.item IS NOT NULL;
        claims := p_claims[:pg_catalog.cardinality(p_items)];
        items := p_items;
    EXCEPTION WHEN unique_violation THEN
        WITH made AS (
            INSERT INTO storagebox.claims AS c (bank, claim, state, h, item, until)
            SELECT p_bank, u.claim, 'held', u.h, u.item, asked + storagebox.interval_of(u.hold)
            FROM unnest(p_claims, p_holds, p_hs, p_items) u(claim, hold, h, item) WHERE u.item IS NOT NULL
            ON CONFLICT (bank, claim) DO NOTHING RETURNING c.claim, c.item
        )
        SELECT pg_catalog.array_agg(m.claim), pg_catalog.array_agg(m.item) INTO claims, items FROM made m;
        INSERT INTO storagebox.free_items SELECT p_bank, u.h, u.item FROM unnest(p_hs, p_items) u(h, item)
        WHERE (u.item = ANY (items)) IS NOT TRUE ORDER BY u.h, u.item;
        PERFORM storagebox.bank_fill_sections(p_bank, p_hs);
    END;
    IF pg_catalog.cardinality(pg_catalog.array_remove(p_holds, NULL)) > 0 THEN
        PERFORM storagebox.bank_hold_until(p_bank, asked + storagebox.interval_of((SELECT min(u.hold) FROM unnest(p_holds) u(hold))));
    END IF;
    IF storagebox.has_waited(asked) THEN
        PERFORM storagebox.bank_hold_anew(p_bank, pg_catalog.array_agg(u.claim), pg_catalog.array_agg(u.hold))
        FROM unnest(p_claims, p_holds) u(claim, hold) WHERE u.claim = ANY (claims);
    END IF;
END $$;

CREATE FUNCTION storagebox.bank_next_cell(p_cells bit varying, p_from integer, p_bit bit) RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN CASE POSITION((p_bit) IN (SUBSTRING(p_cells FROM (p_from + 1)))) WHEN 0 THEN length((p_cells)::"bit") ELSE ((p_from + POSITION((p_bit) IN (SUBSTRING(p_cells FROM (p_from + 1))))) - 1) END;

CREATE FUNCTION storagebox.bank_next_section(p_bank bigint, p_from integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    one  record;
    bits bigint;
BEGIN
    FOR one IN
        SELECT s.part, s.bits FROM storagebox.bank_sections s WHERE s.bank = p_bank AND s.part >= p_from / 64 ORDER BY s.part
    LOOP
        bits := one.bits;
        IF one.part = p_from / 64 THEN
            bits := bits & ((-1)::bigint << (p_from % 64));
        END IF;
        IF bits <> 0::bigint THEN
            -- The lowest bit that is set.
            RETURN one.part * 64 + pg_catalog.strpos(pg_catalog.reverse(bits::bit(64)::text), '1') - 1;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE FUNCTION storagebox.bank_pass_over_lapses(p_bank bigint, p_asked timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    known timestamptz;
    first timestamptz;
BEGIN
    SELECT l.since INTO known FROM storagebox.bank_lapses l WHERE l.bank = p_bank FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        SELECT c.until INTO first FROM storagebox.claims c
        WHERE c.bank = p_bank AND c.until >= known AND c.until <= p_asked ORDER BY c.until LIMIT 1;
        UPDATE storagebox.bank_lapses l SET since = greatest(known, coalesce(first, p_asked)) WHERE l.bank = p_bank;
    END IF;
END $$;

CREATE FUNCTION storagebox.bank_pick(p_bank bigint, p_start bigint, p_most integer, p_round boolean, OUT hs bigint[], OUT items text[], OUT froms bigint[], OUT tills bigint[], OUT ahead bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    first   CONSTANT integer := storagebox.bank_section_of(p_start);
    section integer := first;
    is_back boolean := false;
    missing integer := p_most;
    lowest  bigint;
    got     record;
BEGIN
    WHILE missing > 0 LOOP
        section := storagebox.bank_next_section(p_bank, section);
        IF section IS NULL OR is_back AND section > first THEN
            EXIT WHEN is_back OR NOT p_round;
            is_back := true;
            section := 0;
            CONTINUE;
        END IF;
        lowest := storagebox.bank_section_start(section);
        IF NOT is_back THEN
            -- What is before the start in its section comes last.
            lowest := greatest(lowest, p_start);
        END IF;
        SELECT * INTO got FROM storagebox.bank_pick_section(p_bank, lowest, missing);
        hs := pg_catalog.array_cat(hs, got.hs);
        items := pg_catalog.array_cat(items, got.items);
        froms := pg_catalog.array_append(froms, lowest);
        tills := pg_catalog.array_append(tills, got.till);
        ahead := got.ahead;
        missing := missing - coalesce(pg_catalog.cardinality(got.hs), 0);
        section := section + 1;
    END LOOP;
END $$;

CREATE FUNCTION storagebox.bank_pick_section(p_bank bigint, p_from bigint, p_most integer, OUT hs bigint[], OUT items text[], OUT till bigint, OUT ahead bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    last CONSTANT bigint := storagebox.bank_section_end(storagebox.bank_section_of(p_from));
    cells   bit varying;
    missing integer := p_most;
    run     record;
    got     record;
BEGIN
    till := last;
    SELECT c.cells INTO cells FROM storagebox.bank_cells c
    WHERE c.bank = p_bank AND c.section = storagebox.bank_section_of(p_from);
    run := storagebox.bank_run(cells, p_from);
    WHILE run.lowest IS NOT NULL LOOP
        WITH picked AS (
            DELETE FROM storagebox.free_items f WHERE f.ctid = ANY (ARRAY(
                SELECT i.ctid FROM storagebox.free_items i WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
                ORDER BY i.h LIMIT missing FOR UPDATE SKIP LOCKED
            )) RETURNING f.h, f.item
        )
        SELECT pg_catalog.array_agg(p.h) AS hs, pg_catalog.array_agg(p.item) AS items, max(p.h) AS till INTO got FROM picked p;
        hs := pg_catalog.array_cat(hs, got.hs);
        items := pg_catalog.array_cat(items, got.items);
        missing := missing - coalesce(pg_catalog.cardinality(got.hs), 0);
        IF missing = 0 THEN
            till := got.till;
            ahead := least(run.highest, storagebox.bank_cell_till(till, length(cells)));
            EXIT;
        END IF;
        EXIT WHEN run.highest = last;
        run := storagebox.bank_run(cells, run.highest + 1);
    END LOOP;
END $$;

CREATE FUNCTION storagebox.bank_reap(p_bank bigint, p_places tid[], p_hs bigint[], p_items text[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO storagebox.free_items SELECT p_bank, u.h, u.item FROM unnest(p_hs, p_items) u(h, item) ORDER BY u.h, u.item
    ON CONFLICT DO NOTHING;
    PERFORM storagebox.bank_fill_sections(p_bank, p_hs);
    UPDATE storagebox.claims c
    SET state = 'expired', h = NULL, item = NULL, until = NULL, ended_at = c.until WHERE c.ctid = ANY (p_places);
    RETURN coalesce(pg_catalog.cardinality(p_places), 0);
END $$;

CREATE FUNCTION storagebox.bank_release(p_bank bigint, p_claim text, p_memory bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
    asked timestamptz;
BEGIN
    PERFORM storagebox.check_isolation();
    LOOP
        SELECT * INTO known FROM storagebox.bank_lock(p_bank, p_claim, p_memory);
        EXIT WHEN known.shown[1] <> 'unknown';
        asked := storagebox.clock();
        INSERT INTO storagebox.claims (bank, claim, state, ended_at) VALUES (p_bank, p_claim, 'released', asked)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            IF storagebox.has_waited(asked) THEN
                UPDATE storagebox.claims c SET ended_at = storagebox.clock() WHERE c.bank = p_bank AND c.claim = p_claim;
            END IF;
            RETURN 'released';
        END IF;
    END LOOP;
    IF known.shown[1] = 'ended' THEN
        RETURN known.shown[2];
    ELSIF known.shown[3] = 'confirmed' THEN
        RETURN 'confirmed';
    END IF;
    PERFORM storagebox.bank_free(p_bank, known.h, known.item);
    PERFORM storagebox.bank_end_claim(known.place, 'released', storagebox.clock());
    RETURN 'released';
END $$;

CREATE FUNCTION storagebox.bank_restore(p_bank bigint, p_hs bigint[], p_items text[]) RETURNS TABLE(restored bigint, not_withdrawn bigint, unknown bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    hs    bigint[];
    items text[];
BEGIN
    WITH locked AS (
        SELECT one.place FROM unnest(p_hs, p_items) u(h, item) CROSS JOIN LATERAL (
            SELECT w.ctid AS place FROM storagebox.withdrawn_items w
            WHERE w.bank = p_bank AND w.h = u.h AND w.item = u.item FOR UPDATE
        ) one
    ), back AS (
        DELETE FROM storagebox.withdrawn_items w WHERE w.ctid = ANY (ARRAY(SELECT l.place FROM locked l))
        RETURNING w.h, w.item
    ), freed AS (
        INSERT INTO storagebox.free_items SELECT p_bank, b.h, b.item FROM back b ORDER BY b.h, b.item
    )
    SELECT pg_catalog.array_agg(b.h), pg_catalog.array_agg(b.item) INTO hs, items FROM back b;
    PERFORM storagebox.bank_fill_sections(p_bank, hs);
    RETURN QUERY
    SELECT coalesce(pg_catalog.cardinality(items), 0)::bigint,
           count(*) FILTER (WHERE rest.state IS NOT NULL),
           count(*) FILTER (WHERE rest.state IS NULL)
    FROM (
        SELECT (SELECT x.state FROM storagebox.bank_holder(p_bank, u.h, u.item) x LIMIT 1)
        FROM unnest(p_hs, p_items) u(h, item)
        WHERE NOT EXISTS (SELECT FROM unnest(hs, items) w(h, item) WHERE w.h = u.h AND w.item = u.item)
    ) rest;
END $$;

CREATE FUNCTION storagebox.bank_retire(p_bank bigint, p_claim text, p_memory bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM storagebox.bank_lock(p_bank, p_claim, p_memory);
    IF known.shown[1] = 'unknown' THEN
        RETURN 'unknown';
    ELSIF known.shown[1] = 'again' AND known.shown[3] <> 'confirmed' THEN
        RETURN 'holding';
    ELSIF known.shown[1] = 'again' THEN
        UPDATE storagebox.claims c SET claim = NULL WHERE c.ctid = known.place;
    ELSE
        PERFORM storagebox.bank_free(p_bank, known.h, known.item);
        DELETE FROM storagebox.claims c WHERE c.ctid = known.place;
    END IF;
    RETURN 'retired';
END $$;

CREATE FUNCTION storagebox.bank_run(p_cells bit varying, p_from bigint, OUT lowest bigint, OUT highest bigint) RETURNS record
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    -- So many hashes are in a cell.
    size  CONSTANT bigint := 36028797018963968 / length(p_cells);
    cell  CONSTANT bigint := p_from & -size;
    ahead CONSTANT bit varying := substring(p_cells FROM ((p_from & 36028797018963967) / size)::integer + 1);
    first CONSTANT integer := position(B'1' IN ahead) - 1;
    after CONSTANT integer := position(B'0' IN substring(ahead FROM first + 1)) - 1;
BEGIN
    IF first >= 0 THEN
        lowest := greatest(p_from, cell + first * size);
        highest := CASE after WHEN -1 THEN p_from | 36028797018963967 ELSE cell + (first + after) * size - 1 END;
    END IF;
END $$;

CREATE FUNCTION storagebox.bank_section_end(p_section integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN (storagebox.bank_section_start(p_section) | '36028797018963967'::bigint);

CREATE FUNCTION storagebox.bank_section_of(p_h bigint) RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN (((p_h >> 55))::integer + 256);

CREATE FUNCTION storagebox.bank_shown(p_state text, p_item text, p_until timestamp with time zone, p_ended_at timestamp with time zone, p_memory bigint, p_now timestamp with time zone) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF p_state = 'spent' THEN
        RETURN ARRAY['again', p_item, 'confirmed'];
    ELSIF p_state = 'held' AND (p_until IS NULL OR p_until > p_now) THEN
        RETURN ARRAY['again', p_item, coalesce(storagebox.micros_until(p_until, p_now)::text, 'forever')];
    ELSIF coalesce(p_ended_at, p_until) <= storagebox.forgotten_before(p_memory, p_now) THEN
        RETURN ARRAY['forgotten'];
    END IF;
    RETURN ARRAY['ended', CASE p_state WHEN 'held' THEN 'expired' ELSE p_state END];
END $$;

CREATE FUNCTION storagebox.bank_split_cells(p_bank bigint, p_hs bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    crowded bigint[];
    one     bigint;
    known   bit varying;
BEGIN
    SELECT pg_catalog.array_agg(u.h ORDER BY u.h) INTO crowded
    FROM pg_catalog.unnest(p_hs) u(h) CROSS JOIN LATERAL (
        -- One look for each item, and never a plan for all at once, made when the tables were empty.
        SELECT c.section, storagebox.bank_cell_of(u.h, length(c.cells)) AS cell, length(c.cells) AS count
        FROM storagebox.bank_cells c WHERE c.bank = p_bank AND c.section = storagebox.bank_section_of(u.h) OFFSET 0
    ) s CROSS JOIN LATERAL (
        SELECT count(*) FROM (
            SELECT FROM storagebox.free_items i
            WHERE i.bank = p_bank AND i.h >= storagebox.bank_cell_start(s.section, s.cell, s.count)
              AND i.h <= storagebox.bank_cell_end(s.section, s.cell, s.count) LIMIT 17
        ) few
    ) n(free)
    WHERE u.h & 31::bigint = 0::bigint AND s.count < 4096 AND n.free > 16::bigint;
    FOREACH one IN ARRAY coalesce(crowded, ARRAY[]::bigint[]) LOOP
        SELECT c.cells INTO known FROM storagebox.bank_cells c
        WHERE c.bank = p_bank AND c.section = storagebox.bank_section_of(one) FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        WHILE storagebox.bank_is_crowded(p_bank, one, length(known)) LOOP
            known := replace(replace(known::text, '0', '00'), '1', '11')::bit varying;
        END LOOP;
        UPDATE storagebox.bank_cells c SET cells = known
        WHERE c.bank = p_bank AND c.section = storagebox.bank_section_of(one);
    END LOOP;
END $$;

CREATE FUNCTION storagebox.bank_take(p_bank bigint, p_epoch bigint, p_claim text, p_hold bigint, p_memory bigint, p_start bigint, p_till bigint, p_since bigint) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
    known record;
    shown text[];
    got   record;
BEGIN
    SELECT c.state, c.item, c.until, c.ended_at INTO known
    FROM storagebox.boxes b LEFT JOIN storagebox.claims c ON c.bank = b.box AND c.claim = p_claim
    WHERE b.box = p_bank AND b.epoch = p_epoch;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the box is not the one that was opened' USING ERRCODE = 'SB001';
    END IF;
    IF known.state IS NOT NULL THEN
        shown := storagebox.bank_shown(known.state, known.item, known.until, known.ended_at, p_memory, asked);
        IF shown[1] <> 'forgotten' THEN
            RETURN shown;
        END IF;
        PERFORM storagebox.bank_lock(p_bank, p_claim, p_memory);
        asked := storagebox.clock();
    END IF;
    IF p_till IS NOT NULL THEN
        WITH picked AS (
            DELETE FROM storagebox.free_items f WHERE f.ctid = (
                SELECT i.ctid FROM storagebox.free_items i
                WHERE i.bank = p_bank AND i.h >= p_start AND i.h <= p_till
                ORDER BY i.h LIMIT 1 FOR UPDATE SKIP LOCKED
            ) RETURNING f.h, f.item
        )
        INSERT INTO storagebox.claims AS c (bank, claim, state, h, item, until)
        SELECT p_bank, p_claim, 'held', p.h, p.item, asked + storagebox.interval_of(p_hold) FROM picked p
        RETURNING c.h, c.item INTO got;
        IF FOUND THEN
            IF p_hold IS NOT NULL THEN
                PERFORM storagebox.bank_hold_from(p_bank, p_claim, p_hold, asked);
            END IF;
            RETURN ARRAY['new', got.item, got.h::text, p_till::text];
        END IF;
    END IF;
    RETURN storagebox.bank_take_ahead(p_bank, p_claim, p_hold, p_memory, p_start, coalesce(p_since, p_start));
END $$;

CREATE FUNCTION storagebox.bank_take_ahead(p_bank bigint, p_claim text, p_hold bigint, p_memory bigint, p_start bigint, p_since bigint) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
    cells bit varying;
    run   record;
    h     bigint;
    item  text;
    till  bigint;
    got   record;
    froms bigint[];
    tills bigint[];
BEGIN
    SELECT c.cells INTO cells FROM storagebox.bank_cells c
    WHERE c.bank = p_bank AND c.section = storagebox.bank_section_of(p_start);
    run := storagebox.bank_run(cells, p_start);
    WITH picked AS (
        DELETE FROM storagebox.free_items f WHERE f.ctid = (
            SELECT i.ctid FROM storagebox.free_items i
            WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
            ORDER BY i.h LIMIT 1 FOR UPDATE SKIP LOCKED
        ) RETURNING f.h, f.item
    )
    INSERT INTO storagebox.claims AS c (bank, claim, state, h, item, until)
    SELECT p_bank, p_claim, 'held', p.h, p.item, asked + storagebox.interval_of(p_hold) FROM picked p
    RETURNING c.h, c.item INTO h, item;
    IF FOUND THEN
        froms := ARRAY[p_since];
        tills := ARRAY[h];
        IF storagebox.bank_section_of(p_since) <> storagebox.bank_section_of(h) THEN
            froms := ARRAY[p_since, p_start];
            tills := ARRAY[storagebox.bank_section_end(storagebox.bank_section_of(p_since)), h];
        END IF;
        till := storagebox.bank_cell_till(h, length(cells));
        IF till < run.highest THEN
            till := storagebox.bank_cell_till(till + 1, length(cells));
        END IF;
    ELSE
        SELECT * INTO got FROM storagebox.bank_pick(p_bank, p_since, 1, true);
        IF got.hs IS NULL THEN
            RETURN storagebox.bank_take_lapsed(p_bank, p_claim, p_hold, p_memory, got.froms, got.tills);
        END IF;
        asked := storagebox.clock();
        h := got.hs[1];
        item := got.items[1];
        INSERT INTO storagebox.claims (bank, claim, state, h, item, until)
        VALUES (p_bank, p_claim, 'held', h, item, asked + storagebox.interval_of(p_hold));
        till := got.ahead;
        froms := got.froms;
        tills := got.tills;
    END IF;
    IF p_hold IS NOT NULL THEN
        PERFORM storagebox.bank_hold_from(p_bank, p_claim, p_hold, asked);
    END IF;
    PERFORM storagebox.bank_empty_cells(p_bank, froms, tills);
    RETURN ARRAY['new', item, h::text, till::text];
END $$;

CREATE FUNCTION storagebox.bank_take_lapsed(p_bank bigint, p_claim text, p_hold bigint, p_memory bigint, p_froms bigint[], p_tills bigint[]) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    asked  timestamptz := storagebox.clock();
    first  CONSTANT timestamptz := coalesce((SELECT l.since FROM storagebox.bank_lapses l WHERE l.bank = p_bank), '-infinity');
    before CONSTANT bigint := pg_stat_get_xact_blocks_fetched('storagebox.claims'::regclass);
    lapsed record;
    shown  text[];
BEGIN
    PERFORM storagebox.check_isolation();
    SELECT c.ctid, c.h, c.item INTO lapsed FROM storagebox.claims c
    WHERE c.bank = p_bank AND c.until >= first AND c.until <= asked ORDER BY c.until LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        PERFORM storagebox.bank_end_claim(lapsed.ctid, 'expired', asked);
        INSERT INTO storagebox.claims (bank, claim, state, h, item, until)
        VALUES (p_bank, p_claim, 'held', lapsed.h, lapsed.item, asked + storagebox.interval_of(p_hold));
        IF p_hold IS NOT NULL THEN
            PERFORM storagebox.bank_hold_from(p_bank, p_claim, p_hold, asked);
        END IF;
        shown := ARRAY['new', lapsed.item, lapsed.h::text, lapsed.h::text];
    ELSIF EXISTS (SELECT FROM storagebox.claims c WHERE c.bank = p_bank AND c.until >= first AND c.until <= asked)
        OR storagebox.bank_has_free(p_bank) THEN
        shown := ARRAY['busy'];
    ELSE
        shown := storagebox.bank_get(p_bank, p_claim, p_memory);
        shown := CASE shown[1] WHEN 'unknown' THEN ARRAY['empty'] ELSE shown END;
    END IF;
    -- So many pages of `claims` were read as no look needs that meets few of the holds that have ended.
    IF pg_stat_get_xact_blocks_fetched('storagebox.claims'::regclass) > before + 32 THEN
        PERFORM storagebox.bank_pass_over_lapses(p_bank, asked);
    END IF;
    PERFORM storagebox.bank_empty_cells(p_bank, p_froms, p_tills);
    RETURN shown;
END $$;

CREATE FUNCTION storagebox.bank_take_many(p_bank bigint, p_claims text[], p_holds bigint[], p_memory bigint, p_start bigint, p_since bigint) RETURNS TABLE(claims text[], items text[], h bigint, known text[], words text[], firsts text[], seconds text[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
    free  text[] := p_claims;
    holds bigint[] := p_holds;
    wanted integer;
    cells bit varying;
    run   record;
    hs    bigint[];
    froms bigint[];
    tills bigint[];
    got   record;
BEGIN
    SELECT pg_catalog.array_agg(k.claim), pg_catalog.array_agg(k.shown[1]), pg_catalog.array_agg(k.shown[2]), pg_catalog.array_agg(k.shown[3])
    INTO known, words, firsts, seconds FROM (
        SELECT u.claim, storagebox.bank_shown(c.state, c.item, c.until, c.ended_at, p_memory, asked) AS shown
        FROM pg_catalog.unnest(p_claims) u(claim) CROSS JOIN LATERAL (
            -- One look for each claim, and never a plan for all at once, made when the table was empty.
            SELECT * FROM storagebox.claims x WHERE x.bank = p_bank AND x.claim = u.claim OFFSET 0
        ) c
    ) k;
    IF known IS NOT NULL THEN
        SELECT pg_catalog.array_agg(u.claim ORDER BY u.claim), pg_catalog.array_agg(u.hold ORDER BY u.claim) INTO free, holds
        FROM unnest(p_claims, p_holds) u(claim, hold) WHERE u.claim <> ALL (known);
    END IF;
    -- Nearly always there are as many ahead, in the section in which a taker is.
    wanted := coalesce(pg_catalog.cardinality(free), 0);
    SELECT c.cells INTO cells FROM storagebox.bank_cells c
    WHERE c.bank = p_bank AND c.section = storagebox.bank_section_of(p_start);
    run := storagebox.bank_run(cells, p_start);
    WITH picked AS (
        DELETE FROM storagebox.free_items f WHERE f.ctid = ANY (ARRAY(
            SELECT i.ctid FROM storagebox.free_items i
            WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
            ORDER BY i.h LIMIT wanted FOR UPDATE SKIP LOCKED
        )) RETURNING f.h, f.item
    )
    SELECT pg_catalog.array_agg(p.h), pg_catalog.array_agg(p.item), max(p.h) INTO hs, items, h FROM picked p;
    IF pg_catalog.cardinality(hs) = wanted THEN
        froms := ARRAY[p_since];
        tills := ARRAY[h];
        IF storagebox.bank_section_of(p_since) <> storagebox.bank_section_of(h) THEN
            froms := ARRAY[p_since, p_start];
            tills := ARRAY[storagebox.bank_section_end(storagebox.bank_section_of(p_since)), h];
        END IF;
    ELSE
        SELECT * INTO got FROM storagebox.bank_pick(p_bank, p_since, wanted - coalesce(pg_catalog.cardinality(hs), 0), false);
        hs := pg_catalog.array_cat(hs, got.hs);
        items := pg_catalog.array_cat(items, got.items);
        h := (SELECT max(u.h) FROM unnest(hs) u(h));
        froms := got.froms;
        tills := got.tills;
    END IF;
    SELECT m.claims, m.items INTO claims, items FROM storagebox.bank_make_claims(p_bank, free, holds, hs, items) m;
    PERFORM storagebox.bank_empty_cells(p_bank, froms, tills);
    RETURN NEXT;
END $$;

CREATE FUNCTION storagebox.bank_withdraw(p_bank bigint, p_hs bigint[], p_items text[]) RETURNS TABLE(withdrawn bigint, already_withdrawn bigint, in_use bigint, unknown bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    asked  timestamptz := storagebox.clock();
    places tid[];
    hs     bigint[];
    items  text[];
BEGIN
    SELECT pg_catalog.array_agg(l.place), pg_catalog.array_agg(l.h), pg_catalog.array_agg(l.item) INTO places, hs, items
    FROM unnest(p_hs, p_items) u(h, item) CROSS JOIN LATERAL (
        SELECT c.ctid AS place, c.h, c.item FROM storagebox.claims c
        WHERE c.bank = p_bank AND c.h = u.h AND c.item = u.item AND c.until <= asked FOR UPDATE SKIP LOCKED
    ) l;
    PERFORM storagebox.bank_reap(p_bank, places, hs, items);
    WITH locked AS (
        SELECT one.place FROM unnest(p_hs, p_items) u(h, item) CROSS JOIN LATERAL (
            SELECT f.ctid AS place FROM storagebox.free_items f
            WHERE f.bank = p_bank AND f.h = u.h AND f.item = u.item FOR UPDATE
        ) one
    ), gone AS (
        DELETE FROM storagebox.free_items f WHERE f.ctid = ANY (ARRAY(SELECT l.place FROM locked l)) RETURNING f.h, f.item
    ), aside AS (
        INSERT INTO storagebox.withdrawn_items SELECT p_bank, g.h, g.item FROM gone g ORDER BY g.h, g.item
    )
    SELECT pg_catalog.array_agg(g.h), pg_catalog.array_agg(g.item) INTO hs, items FROM gone g;
    RETURN QUERY
    SELECT coalesce(pg_catalog.cardinality(items), 0)::bigint,
           count(*) FILTER (WHERE rest.state = 'withdrawn'),
           count(*) FILTER (WHERE rest.state <> 'withdrawn'),
           count(*) FILTER (WHERE rest.state IS NULL)
    FROM (
        SELECT (SELECT x.state FROM storagebox.bank_holder(p_bank, u.h, u.item) x LIMIT 1)
        FROM unnest(p_hs, p_items) u(h, item)
        WHERE NOT EXISTS (SELECT FROM unnest(hs, items) w(h, item) WHERE w.h = u.h AND w.item = u.item)
    ) rest;
    -- Takers do not cross what is gone, and it is done last of all, as in a take.
    PERFORM storagebox.bank_empty_cells_of(p_bank, hs);
END $$;

CREATE FUNCTION storagebox.bank_without_empty(p_bank bigint, p_cells bit varying, p_from bigint, p_till bigint) RETURNS bit varying
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    section CONSTANT integer := storagebox.bank_section_of(p_from);
    count   CONSTANT integer := length(p_cells);
    after   CONSTANT integer := storagebox.bank_cell_after(p_till, count);
    cells   bit varying := p_cells;
    cell    integer := storagebox.bank_next_cell(p_cells, storagebox.bank_cell_of(p_from, count), B'1');
    stop    integer;
    found_h bigint;
BEGIN
    WHILE cell < after LOOP
        stop := least(storagebox.bank_next_cell(cells, cell, B'0'), after);
        SELECT i.h INTO found_h FROM storagebox.free_items i
        WHERE i.bank = p_bank AND i.h >= storagebox.bank_cell_start(section, cell, count)
          AND i.h <= storagebox.bank_cell_end(section, stop - 1, count) ORDER BY i.h LIMIT 1;
        IF FOUND THEN
            stop := storagebox.bank_cell_of(found_h, count);
        END IF;
        IF stop > cell THEN
            cells := overlay(cells PLACING repeat('0', stop - cell)::bit varying FROM cell + 1);
        END IF;
        cell := storagebox.bank_next_cell(cells, stop + 1, B'1');
    END LOOP;
    RETURN cells;
END $$;

CREATE FUNCTION storagebox.check_isolation() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'storagebox needs transactions at READ COMMITTED' USING ERRCODE = '0A000';
    END IF;
END $$;

CREATE FUNCTION storagebox.clock() RETURNS timestamp with time zone
    LANGUAGE sql
    RETURN clock_timestamp();

CREATE FUNCTION storagebox.counter_apply(p_box bigint, p_keys text[], p_ops text[], p_deltas bigint[], p_floors bigint[], p_ceilings bigint[], p_parts integer[], p_shards integer, p_floor bigint, p_ceiling bigint, p_split boolean, p_remembers boolean, p_keeps bigint, p_capacity bigint) RETURNS TABLE(outcome text, value bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    lowest    CONSTANT numeric := -9223372036854775808;
    highest   CONSTANT numeric := 9223372036854775807;
    last      CONSTANT integer := pg_catalog.cardinality(p_keys);
    cell      record;
    forgotten timestamptz;
    total     numeric;
    stored    bigint;
    result    numeric;
    added     bigint;
BEGIN
    FOR i IN 1 .. last LOOP
        IF i = 1 OR p_keys[i] <> p_keys[i - 1] OR p_parts[i] <> p_parts[i - 1] THEN
            SELECT * INTO cell
            FROM storagebox.counter_lock(p_box, p_keys[i], p_parts[i], p_shards, p_floor, p_ceiling);
            forgotten := storagebox.forgotten_before(p_keeps, cell.now);
            total := cell.value;
            stored := cell.ops;
        END IF;
        outcome := NULL;
        value := NULL;
        IF p_remembers THEN
            SELECT k.outcome, k.value INTO outcome, value
            FROM storagebox.counter_known(p_box, p_keys[i], p_ops[i], p_deltas[i], forgotten) k;
        END IF;
        result := total + p_deltas[i]::numeric;
        IF outcome IS NOT NULL THEN
            NULL;
        ELSIF p_split AND (result < cell.floor OR result > cell.ceiling) THEN
            outcome := 'dry';
        ELSIF NOT p_split AND (result < lowest OR result > highest) THEN
            outcome := 'overflow';
        ELSIF NOT p_split AND (result < p_floors[i]::numeric OR result > p_ceilings[i]::numeric) THEN
            outcome := 'out of bounds';
        ELSE
            IF stored >= p_capacity THEN
                stored := stored - storagebox.counter_purge(p_box, p_keys[i], forgotten, NULL);
            END IF;
            IF stored >= p_capacity THEN
                outcome := 'full';
            ELSE
                outcome := 'applied';
                total := result;
                value := CASE WHEN NOT p_split THEN result END;
                IF p_remembers THEN
                    added := storagebox.counter_remember(
                        p_box, p_keys[i], p_ops[i], p_deltas[i], value, cell.now, p_capacity IS NOT NULL
                    );
                    stored := stored + CASE WHEN p_capacity IS NULL THEN 0 ELSE added END;
                END IF;
            END IF;
        END IF;
        RETURN NEXT;
        IF i = last OR p_keys[i] <> p_keys[i + 1] OR p_parts[i] <> p_parts[i + 1] THEN
            IF cell.made AND total = 0::numeric AND stored = 0 THEN
                DELETE FROM storagebox.counters c WHERE c.ctid = cell.place;
            ELSIF total <> cell.value OR stored <> cell.ops THEN
                UPDATE storagebox.counters c SET value = total, ops = stored WHERE c.ctid = cell.place;
            END IF;
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION storagebox.counter_apply_widely(p_box bigint, p_key text, p_op text, p_delta bigint, p_part integer, p_shards integer, p_floor bigint, p_ceiling bigint, p_keeps bigint, OUT outcome text, OUT value bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    now     timestamptz;
    made    integer[];
    present bigint;
    total   numeric;
    refused text;
    missing numeric;
    other   record;
    moved   numeric;
BEGIN
    SELECT coalesce(sum(c.value), 0::numeric) + p_delta::numeric, count(*) INTO total, present
    FROM storagebox.counters c WHERE c.box = p_box AND c.key = p_key;
    refused := storagebox.counter_verdict(total, p_floor, p_ceiling);
    IF refused IS NULL THEN
        made := storagebox.counter_lock_all(p_box, p_key, p_shards, p_floor, p_ceiling, present = p_shards::bigint);
    END IF;
    -- Asked after the sum: an attempt of the same operation that is in it is found.
    now := storagebox.clock();
    SELECT k.outcome, k.value INTO outcome, value
    FROM storagebox.counter_known(p_box, p_key, p_op, p_delta, storagebox.forgotten_before(p_keeps, now)) k;
    IF outcome IS NULL AND refused IS NULL THEN
        SELECT sum(c.value) + p_delta::numeric,
               abs(p_delta::numeric) - max(storagebox.counter_room(c.value, c.floor, c.ceiling, p_delta)) FILTER (WHERE c.shard = p_part)
        INTO total, missing FROM storagebox.counters c WHERE c.box = p_box AND c.key = p_key;
        refused := storagebox.counter_verdict(total, p_floor, p_ceiling);
    END IF;
    outcome := coalesce(outcome, refused);
    IF outcome IS NOT NULL THEN
        DELETE FROM storagebox.counters c WHERE c.box = p_box AND c.key = p_key AND c.shard = ANY (made);
        RETURN;
    END IF;
    FOR other IN
        SELECT c.shard, storagebox.counter_room(c.value, c.floor, c.ceiling, p_delta) AS room FROM storagebox.counters c
        WHERE c.box = p_box AND c.key = p_key AND c.shard <> p_part ORDER BY room DESC
    LOOP
        EXIT WHEN missing <= 0::numeric;
        -- Half of what is left over as well, so that the next operations find room.
        moved := least(other.room, missing + trunc((other.room - least(other.room, missing)) / 2::numeric));
        PERFORM storagebox.counter_widen(p_box, p_key, other.shard, p_delta, -moved);
        PERFORM storagebox.counter_widen(p_box, p_key, p_part, p_delta, moved);
        missing := missing - moved;
    END LOOP;
    UPDATE storagebox.counters c SET value = c.value + p_delta::numeric WHERE c.box = p_box AND c.key = p_key AND c.shard = p_part;
    PERFORM storagebox.counter_remember(p_box, p_key, p_op, p_delta, NULL, now, false);
    outcome := 'applied';
END $$;

CREATE FUNCTION storagebox.counter_cancel(p_box bigint, p_key text, p_op text, p_part integer, p_shards integer, p_floor bigint, p_ceiling bigint, p_keeps bigint, p_capacity bigint, OUT outcome text, OUT value bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    cell      record;
    forgotten timestamptz;
    kept      bigint;
BEGIN
    SELECT * INTO cell FROM storagebox.counter_lock(p_box, p_key, p_part, p_shards, p_floor, p_ceiling);
    forgotten := storagebox.forgotten_before(p_keeps, cell.now);
    SELECT k.outcome, k.value INTO outcome, value FROM storagebox.counter_known(p_box, p_key, p_op, NULL, forgotten) k;
    kept := cell.ops;
    IF outcome IS NULL AND kept >= p_capacity THEN
        kept := kept - storagebox.counter_purge(p_box, p_key, forgotten, NULL);
    END IF;
    IF outcome = 'fenced' THEN
        outcome := 'cancelled';
    ELSIF outcome IS NULL AND kept >= p_capacity THEN
        outcome := 'full';
    ELSIF outcome IS NULL THEN
        kept := kept + storagebox.counter_remember(p_box, p_key, p_op, NULL, NULL, cell.now, p_capacity IS NOT NULL);
        outcome := 'cancelled';
    END IF;
    IF cell.made AND (p_capacity IS NULL OR kept = 0) THEN
        DELETE FROM storagebox.counters c WHERE c.ctid = cell.place;
    ELSIF p_capacity IS NOT NULL THEN
        UPDATE storagebox.counters c SET ops = kept WHERE c.ctid = cell.place;
    END IF;
END $$;

CREATE FUNCTION storagebox.counter_known(p_box bigint, p_key text, p_op text, p_delta bigint, p_forgotten timestamp with time zone, OUT outcome text, OUT value bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    known record;
BEGIN
    SELECT o.delta, o.value, o.at INTO known FROM storagebox.counter_ops o
    WHERE o.box = p_box AND o.key = p_key AND o.op = p_op;
    IF known.at > p_forgotten THEN
        value := known.value;
        outcome := CASE WHEN known.delta IS NULL THEN 'fenced' WHEN known.delta <> p_delta THEN 'mismatch' ELSE 'already' END;
    END IF;
END $$;

CREATE FUNCTION storagebox.counter_lock(p_box bigint, p_key text, p_shard integer, p_shards integer, p_floor bigint, p_ceiling bigint, OUT place tid, OUT value numeric, OUT floor numeric, OUT ceiling numeric, OUT ops bigint, OUT made boolean, OUT now timestamp with time zone) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    made := false;
    LOOP
        SELECT c.ctid, c.value, c.floor, c.ceiling, c.ops INTO place, value, floor, ceiling, ops
        FROM storagebox.counters c WHERE c.box = p_box AND c.key = p_key AND c.shard = p_shard FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO storagebox.counters AS c VALUES (
            p_box, p_key, p_shard, 0, storagebox.counter_share(p_floor, p_shards, p_shard),
            storagebox.counter_share(p_ceiling, p_shards, p_shard), 0
        ) ON CONFLICT DO NOTHING;
        made := FOUND;
    END LOOP;
    now := storagebox.clock();
END $$;

CREATE FUNCTION storagebox.counter_lock_all(p_box bigint, p_key text, p_shards integer, p_floor bigint, p_ceiling bigint, p_are_there boolean) RETURNS integer[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    made   integer[] := ARRAY[]::integer[];
    is_new boolean;
BEGIN
    IF p_are_there THEN
        PERFORM FROM storagebox.counters c WHERE c.box = p_box AND c.key = p_key ORDER BY c.shard FOR UPDATE;
        RETURN made;
    END IF;
    FOR s IN 0 .. p_shards - 1 LOOP
        SELECT l.made INTO is_new FROM storagebox.counter_lock(p_box, p_key, s, p_shards, p_floor, p_ceiling) l;
        IF is_new THEN
            made := pg_catalog.array_append(made, s);
        END IF;
    END LOOP;
    RETURN made;
END $$;

CREATE FUNCTION storagebox.counter_maintain(p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    asked     timestamptz := storagebox.clock();
    forgotten timestamptz;
    one       record;
    cell      record;
    full_key  text;
    removed   bigint := 0;
    part      bigint;
BEGIN
    FOR one IN SELECT b.box, b.keeps FROM storagebox.boxes b WHERE b.kind = 'counters' AND b.keeps IS NOT NULL ORDER BY b.box LOOP
        forgotten := storagebox.forgotten_before(one.keeps, asked);
        FOR full_key IN
            SELECT DISTINCT o.key FROM (
                SELECT k.key FROM storagebox.counter_ops k WHERE k.box = one.box AND k.at <= forgotten AND k.window_of_key
                ORDER BY k.at LIMIT p_limit - removed
            ) o ORDER BY o.key
        LOOP
            SELECT c.ctid AS place, c.value, c.ops INTO cell FROM storagebox.counters c
            WHERE c.box = one.box AND c.key = full_key FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;
            part := storagebox.counter_purge(one.box, full_key, forgotten, p_limit - removed);
            IF cell.value = 0::numeric AND cell.ops = part THEN
                DELETE FROM storagebox.counters c WHERE c.ctid = cell.place;
            ELSE
                UPDATE storagebox.counters c SET ops = c.ops - part WHERE c.ctid = cell.place AND part > 0;
            END IF;
            removed := removed + part;
        END LOOP;
        DELETE FROM storagebox.counter_ops o WHERE o.ctid = ANY (ARRAY(
            SELECT k.ctid FROM storagebox.counter_ops k
            WHERE k.box = one.box AND k.at <= forgotten AND NOT k.window_of_key
            ORDER BY k.at LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;

CREATE FUNCTION storagebox.counter_purge(p_box bigint, p_key text, p_forgotten timestamp with time zone, p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM storagebox.counter_ops o WHERE o.ctid = ANY (ARRAY(
        SELECT k.ctid FROM storagebox.counter_ops k
        WHERE k.box = p_box AND k.key = p_key AND k.window_of_key AND k.at <= p_forgotten ORDER BY k.at LIMIT p_limit
    ));
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;

CREATE FUNCTION storagebox.counter_remember(p_box bigint, p_key text, p_op text, p_delta bigint, p_value bigint, p_now timestamp with time zone, p_window boolean) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    is_new boolean;
BEGIN
    INSERT INTO storagebox.counter_ops AS o VALUES (p_box, p_key, p_op, p_delta, p_value, p_now, p_window)
    ON CONFLICT (box, key, op) DO UPDATE SET delta = excluded.delta, value = excluded.value, at = excluded.at
    -- What was updated bears the number of the transaction that locked it first.
    RETURNING o.xmax = 0 INTO is_new;
    RETURN CASE WHEN is_new THEN 1 ELSE 0 END;
END $$;

CREATE FUNCTION storagebox.counter_room(p_value numeric, p_floor numeric, p_ceiling numeric, p_delta bigint) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (p_delta < 0) THEN (p_value - p_floor) ELSE (p_ceiling - p_value) END;

CREATE FUNCTION storagebox.counter_share(p_bound bigint, p_count integer, p_shard integer) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    RETURN (((p_bound / p_count))::numeric + CASE WHEN (p_shard < abs((p_bound % (p_count)::bigint))) THEN sign((p_bound)::numeric) ELSE (0)::numeric END);

CREATE FUNCTION storagebox.counter_value(p_box bigint, p_key text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN (SELECT coalesce(sum(c.value), 0)::bigint FROM storagebox.counters c WHERE c.box = p_box AND c.key = p_key);
END $$;

CREATE FUNCTION storagebox.counter_verdict(p_total numeric, p_floor bigint, p_ceiling bigint) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN ((p_total < ('-9223372036854775808'::bigint)::numeric) OR (p_total > ('9223372036854775807'::bigint)::numeric)) THEN 'overflow'::text WHEN ((p_total < (p_floor)::numeric) OR (p_total > (p_ceiling)::numeric)) THEN 'out of bounds'::text ELSE NULL::text END;

CREATE FUNCTION storagebox.counter_widen(p_box bigint, p_key text, p_shard integer, p_delta bigint, p_by numeric) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE storagebox.counters c
    SET floor = c.floor - CASE WHEN p_delta < 0 THEN p_by ELSE 0 END,
        ceiling = c.ceiling + CASE WHEN p_delta < 0 THEN 0 ELSE p_by END
    WHERE c.box = p_box AND c.key = p_key AND c.shard = p_shard
$$;

CREATE FUNCTION storagebox.dedup_forget(p_box bigint, p_id text, p_version bigint, p_memory bigint) RETURNS TABLE(outcome text, value bytea, version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM storagebox.record_lock(p_box, p_id, p_memory, NULL);
    IF known.state = 'done' AND known.version = p_version THEN
        PERFORM storagebox.record_end(p_box, p_id, known.now);
        outcome := 'forgotten';
    ELSIF known.state = 'done' THEN
        outcome := 'stale';
        value := known.value;
        version := known.version;
    ELSE
        outcome := 'absent';
    END IF;
    RETURN NEXT;
END $$;

CREATE FUNCTION storagebox.dedup_get(p_box bigint, p_id text) RETURNS TABLE(value bytea, version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
BEGIN
    RETURN QUERY
    SELECT r.value, r.version FROM storagebox.records r
    WHERE r.box = p_box AND r.id = p_id AND r.state = 'done' AND (r.until IS NULL OR r.until > asked);
END $$;

CREATE FUNCTION storagebox.dedup_list(p_box bigint, p_after text, p_limit bigint) RETURNS TABLE(id text, value bytea, version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    asked timestamptz := storagebox.clock();
BEGIN
    RETURN QUERY
    SELECT r.id, r.value, r.version FROM storagebox.records r
    WHERE r.box = p_box AND r.id > p_after AND r.state = 'done' AND (r.until IS NULL OR r.until > asked)
    ORDER BY r.id LIMIT p_limit;
END $$;

CREATE FUNCTION storagebox.dedup_maintain(p_memory bigint, p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    asked     timestamptz := storagebox.clock();
    forgotten timestamptz := storagebox.forgotten_before(p_memory, asked);
    now       timestamptz;
    one       bigint;
    removed   bigint := 0;
    part      bigint;
BEGIN
    FOR one IN SELECT b.box FROM storagebox.boxes b WHERE b.kind = 'records' ORDER BY b.box LOOP
        EXIT WHEN removed >= p_limit;
        WITH over AS (
            SELECT r.ctid AS place, r.id, r.op, r.state FROM storagebox.records r
            WHERE r.box = one AND r.until <= asked AND (r.state = 'done' OR r.until <= forgotten)
            ORDER BY r.until LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM storagebox.records r WHERE r.ctid = ANY (ARRAY(SELECT o.place FROM over o))
        ), fenced AS (
            INSERT INTO storagebox.ended_ops AS e SELECT one, o.id, o.op, asked FROM over o WHERE o.state = 'done' ORDER BY o.id
            ON CONFLICT (box, id, op) DO UPDATE SET since = excluded.since
        )
        SELECT count(*) INTO part FROM over;
        IF storagebox.has_waited(asked) THEN
            now := storagebox.clock();
            UPDATE storagebox.ended_ops e SET since = now WHERE e.box = one AND e.since = asked;
        END IF;
        removed := removed + part;
        DELETE FROM storagebox.ended_ops e WHERE e.ctid = ANY (ARRAY(
            SELECT o.ctid FROM storagebox.ended_ops o WHERE o.box = one AND o.since <= forgotten
            ORDER BY o.since LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;

CREATE FUNCTION storagebox.dedup_record(p_box bigint, p_ids text[], p_values bytea[], p_ops text[], p_retentions bigint[], p_memory bigint) RETURNS TABLE(outcome text, value bytea, version bigint, remaining bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known  record;
    asked  timestamptz;
    now    timestamptz;
    waited boolean := false;
    made   boolean[];
BEGIN
    PERFORM storagebox.check_isolation();
    FOR i IN 1 .. pg_catalog.cardinality(p_ids) LOOP
        <<one>> LOOP
            asked := storagebox.clock();
            INSERT INTO storagebox.records (box, id, state, op, value, version, until)
            VALUES (p_box, p_ids[i], 'done', p_ops[i], p_values[i], nextval('storagebox.numbers'::regclass),
                    asked + storagebox.interval_of(p_retentions[i]))
            ON CONFLICT DO NOTHING RETURNING records.version INTO version;
            IF FOUND THEN
                waited := waited OR storagebox.has_waited(asked);
                made[i] := true;
                outcome := 'new';
                IF storagebox.record_has_ended(p_box, p_ids[i], p_ops[i], p_memory, storagebox.clock()) THEN
                    DELETE FROM storagebox.records r WHERE r.box = p_box AND r.id = p_ids[i];
                    outcome := 'fenced';
                END IF;
                EXIT one;
            END IF;
            SELECT * INTO known FROM storagebox.record_lock(p_box, p_ids[i], p_memory, p_ops[i]);
            waited := waited OR storagebox.has_waited(asked);
            IF known.ended THEN
                outcome := 'fenced';
            ELSIF known.state IS NULL THEN
                CONTINUE one;
            ELSIF known.state = 'done' THEN
                outcome := CASE WHEN known.op = p_ops[i] THEN 'again' ELSE 'existing' END;
            ELSIF known.until > known.now THEN
                outcome := 'in flight';
            ELSE
                DELETE FROM storagebox.records r WHERE r.ctid = known.place;
                CONTINUE one;
            END IF;
            value := known.value;
            version := known.version;
            remaining := storagebox.micros_until(known.until, known.now);
            EXIT one;
        END LOOP;
        RETURN NEXT;
        value := NULL;
        remaining := NULL;
    END LOOP;
    IF waited THEN
        now := storagebox.clock();
        FOR i IN 1 .. pg_catalog.cardinality(p_ids) LOOP
            UPDATE storagebox.records r SET until = now + storagebox.interval_of(p_retentions[i])
            WHERE made[i] AND p_retentions[i] IS NOT NULL AND r.box = p_box AND r.id = p_ids[i];
        END LOOP;
    END IF;
END $$;

CREATE FUNCTION storagebox.dedup_replace(p_box bigint, p_id text, p_version bigint, p_value bytea, p_op text, p_memory bigint) RETURNS TABLE(outcome text, value bytea, version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM storagebox.record_lock(p_box, p_id, p_memory, p_op);
    outcome := 'stale';
    IF known.state = 'done' THEN
        version := known.version;
        IF known.replaced_by = p_op AND known.replaced_version = p_version THEN
            outcome := 'again';
        ELSIF known.version <> p_version THEN
            value := known.value;
        ELSE
            outcome := 'replaced';
            version := nextval('storagebox.numbers'::regclass);
            UPDATE storagebox.records r
            SET value = p_value, version = dedup_replace.version, replaced_by = p_op, replaced_version = p_version
            WHERE r.ctid = known.place;
        END IF;
    END IF;
    RETURN NEXT;
END $$;

CREATE FUNCTION storagebox.interval_of(p_micros bigint) RETURNS interval
    LANGUAGE sql IMMUTABLE
    RETURN ((p_micros)::double precision * '00:00:00.000001'::interval);

CREATE FUNCTION storagebox.forgotten_before(p_memory bigint, p_now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    RETURN COALESCE((p_now - storagebox.interval_of(p_memory)), '-infinity'::timestamp with time zone);

CREATE FUNCTION storagebox.has_waited(p_asked timestamp with time zone) RETURNS boolean
    LANGUAGE sql
    RETURN (storagebox.clock() > (p_asked + '00:00:00.01'::interval));

CREATE FUNCTION storagebox.is_box(p_box bigint, p_epoch bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '3s'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM storagebox.boxes b WHERE b.box = p_box AND b.epoch = p_epoch) THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'the box is not the one that was opened' USING ERRCODE = 'SB001';
END $$;

CREATE FUNCTION storagebox.is_store(p_epoch bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '3s'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM storagebox.store s WHERE s.epoch = p_epoch) THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'the store is not the one that was opened' USING ERRCODE = 'SB001';
END $$;

CREATE FUNCTION storagebox.is_version_1() RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN true;

CREATE FUNCTION storagebox.lease_abort(p_box bigint, p_id text, p_op text, p_fence bigint, p_memory bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM storagebox.record_lock(p_box, p_id, p_memory, p_op);
    IF known.state = 'leased' AND known.fence = p_fence AND known.op = p_op THEN
        PERFORM storagebox.record_end(p_box, p_id, known.now);
        RETURN 'aborted';
    END IF;
    RETURN CASE WHEN known.ended THEN 'aborted' ELSE 'fenced' END;
END $$;

CREATE FUNCTION storagebox.lease_begin(p_box bigint, p_id text, p_op text, p_duration bigint, p_fingerprint text, p_memory bigint) RETURNS TABLE(outcome text, fence bigint, remaining bigint, value bytea, version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
BEGIN
    PERFORM storagebox.check_isolation();
    LOOP
        INSERT INTO storagebox.records (box, id, state, op, fence, fingerprint)
        VALUES (p_box, p_id, 'leased', p_op, 0, p_fingerprint) ON CONFLICT DO NOTHING;
        IF FOUND AND storagebox.record_has_ended(p_box, p_id, p_op, p_memory, storagebox.clock()) THEN
            DELETE FROM storagebox.records r WHERE r.box = p_box AND r.id = p_id;
            outcome := 'fenced';
            EXIT;
        ELSIF FOUND THEN
            -- Counted and dated only now that the id is ours, so that no smaller number comes later and no wait is taken off.
            UPDATE storagebox.records r
            SET fence = nextval('storagebox.numbers'::regclass), until = storagebox.clock() + storagebox.interval_of(p_duration)
            WHERE r.box = p_box AND r.id = p_id RETURNING r.fence INTO fence;
            outcome := 'started';
            EXIT;
        END IF;
        SELECT * INTO known FROM storagebox.record_lock(p_box, p_id, p_memory, p_op);
        IF known.ended THEN
            outcome := 'fenced';
        ELSIF known.state IS NULL THEN
            CONTINUE;
        ELSIF known.state = 'leased' AND known.until <= known.now THEN
            DELETE FROM storagebox.records r WHERE r.ctid = known.place;
            CONTINUE;
        ELSIF known.fingerprint <> p_fingerprint THEN
            outcome := 'mismatch';
        ELSIF known.state = 'done' THEN
            outcome := 'done';
            value := known.value;
            version := known.version;
        ELSIF known.op = p_op THEN
            outcome := 'started';
            fence := known.fence;
        ELSE
            outcome := 'in flight';
            remaining := storagebox.micros_until(known.until, known.now);
        END IF;
        EXIT;
    END LOOP;
    RETURN NEXT;
END $$;

CREATE FUNCTION storagebox.lease_complete(p_box bigint, p_id text, p_op text, p_fence bigint, p_value bytea, p_retention bigint, p_memory bigint) RETURNS TABLE(outcome text, value bytea, version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM storagebox.record_lock(p_box, p_id, p_memory, p_op);
    outcome := 'fenced';
    IF known.state = 'done' AND known.fence = p_fence THEN
        outcome := 'again';
        value := known.value;
        version := known.version;
    ELSIF known.state = 'leased' AND known.fence = p_fence AND known.op = p_op THEN
        outcome := 'completed';
        version := nextval('storagebox.numbers'::regclass);
        UPDATE storagebox.records r
        SET state = 'done', value = p_value, version = lease_complete.version,
            until = known.now + storagebox.interval_of(p_retention)
        WHERE r.ctid = known.place;
    END IF;
    RETURN NEXT;
END $$;

CREATE FUNCTION storagebox.lease_extend(p_box bigint, p_id text, p_op text, p_fence bigint, p_duration bigint, p_memory bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM storagebox.record_lock(p_box, p_id, p_memory, p_op);
    IF known.state = 'leased' AND known.fence = p_fence AND known.op = p_op THEN
        UPDATE storagebox.records r
        SET until = greatest(r.until, known.now + storagebox.interval_of(p_duration))
        WHERE r.ctid = known.place;
        RETURN 'extended';
    END IF;
    RETURN 'fenced';
END $$;

CREATE FUNCTION storagebox.micros_until(p_later timestamp with time zone, p_now timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (p_later > p_now) THEN ((EXTRACT(epoch FROM (p_later - p_now)) * (1000000)::numeric))::bigint WHEN (p_later IS NOT NULL) THEN (0)::bigint ELSE NULL::bigint END;

CREATE FUNCTION storagebox.millis_of(p_moment timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN (floor((EXTRACT(epoch FROM p_moment) * (1000)::numeric)))::bigint;

CREATE FUNCTION storagebox.open_box(p_version integer, p_store bigint, p_memory bigint, p_any_memory boolean, p_box bigint, p_made bigint, p_kind text, p_name text, p_options text, p_keeps bigint) RETURNS TABLE(version integer, epoch bigint, memory bigint, made bigint, kind text, name text, options text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '3s'
    AS $$
BEGIN
    PERFORM storagebox.check_isolation();
    LOCK TABLE storagebox.boxes IN ROW EXCLUSIVE MODE;
    SELECT coalesce(max(v.version), 0) INTO version FROM storagebox.versions v;
    SELECT s.epoch, s.memory INTO epoch, memory FROM storagebox.store s;
    IF version <= p_version AND epoch = coalesce(p_store, epoch) AND (p_any_memory OR memory IS NOT DISTINCT FROM p_memory) THEN
        INSERT INTO storagebox.boxes VALUES (p_box, p_kind, p_name, p_options, p_keeps, p_made) ON CONFLICT DO NOTHING;
    END IF;
    SELECT b.epoch, b.kind, b.name, b.options INTO made, kind, name, options FROM storagebox.boxes b WHERE b.box = p_box;
    RETURN NEXT;
END $$;

CREATE FUNCTION storagebox.ordered_get(p_box bigint, p_key text) RETURNS TABLE(value bytea, at bigint, writer text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN QUERY
    SELECT v.value, v.at, v.writer FROM storagebox.ordered_values v
    WHERE v.box = p_box AND v.key = p_key AND v.value IS NOT NULL;
END $$;

CREATE FUNCTION storagebox.ordered_list(p_box bigint, p_prefix text, p_after text, p_limit bigint) RETURNS TABLE(key text, value bytea, at bigint, writer text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN QUERY
    SELECT v.key, v.value, v.at, v.writer FROM storagebox.ordered_values v
    WHERE v.box = p_box AND v.key > p_after AND v.key >= p_prefix AND v.key <= p_prefix || repeat(chr(1114111), 128)
      AND v.value IS NOT NULL
    ORDER BY v.key LIMIT p_limit;
END $$;

CREATE FUNCTION storagebox.ordered_maintain(p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    one     record;
    removed bigint := 0;
BEGIN
    FOR one IN SELECT b.box, b.keeps FROM storagebox.boxes b WHERE b.kind = 'ordered' AND b.keeps IS NOT NULL ORDER BY b.box LOOP
        EXIT WHEN removed >= p_limit;
        removed := removed + storagebox.ordered_purge(one.box, one.keeps, one.keeps / 1000, p_limit - removed);
    END LOOP;
    RETURN removed;
END $$;

CREATE FUNCTION storagebox.ordered_purge(p_box bigint, p_age bigint, p_horizon bigint, p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    now     timestamptz := storagebox.clock();
    removed bigint;
BEGIN
    DELETE FROM storagebox.ordered_values v WHERE v.ctid = ANY (ARRAY(
        SELECT o.ctid FROM storagebox.ordered_values o
        WHERE o.box = p_box AND o.value IS NULL AND o.arrived <= now - storagebox.interval_of(p_age)
          AND (p_horizon IS NULL OR o.at < storagebox.millis_of(now) - p_horizon)
        ORDER BY o.arrived LIMIT p_limit FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;

CREATE FUNCTION storagebox.ordered_write(p_box bigint, p_keys text[], p_ats bigint[], p_writers text[], p_values bytea[], p_timed boolean, p_skew bigint, p_age bigint) RETURNS TABLE(outcome text, at bigint, writer text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
    now   timestamptz;
    clock bigint;
BEGIN
    FOR i IN 1 .. pg_catalog.cardinality(p_keys) LOOP
        LOOP
            SELECT v.ctid AS place, v.at, v.writer, v.value INTO known FROM storagebox.ordered_values v
            WHERE v.box = p_box AND v.key = p_keys[i] FOR UPDATE;
            now := storagebox.clock();
            clock := storagebox.millis_of(now);
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
                INSERT INTO storagebox.ordered_values
                VALUES (p_box, p_keys[i], p_ats[i], p_writers[i], p_values[i], now) ON CONFLICT DO NOTHING;
                CONTINUE WHEN NOT FOUND;
                -- Judged and dated anew: it may have waited for a purge, behind which nothing may come back.
                now := storagebox.clock();
                clock := storagebox.millis_of(now);
                IF p_timed AND p_ats[i] < clock - p_age THEN
                    DELETE FROM storagebox.ordered_values v WHERE v.box = p_box AND v.key = p_keys[i];
                    outcome := 'too old';
                    at := clock - p_age;
                ELSIF p_values[i] IS NULL THEN
                    UPDATE storagebox.ordered_values v SET arrived = now WHERE v.box = p_box AND v.key = p_keys[i];
                END IF;
            ELSE
                UPDATE storagebox.ordered_values v
                SET at = p_ats[i], writer = p_writers[i], value = p_values[i], arrived = now WHERE v.ctid = known.place;
            END IF;
            EXIT;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE FUNCTION storagebox.record_end(p_box bigint, p_id text, p_now timestamp with time zone) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH gone AS (
        DELETE FROM storagebox.records r WHERE r.box = p_box AND r.id = p_id RETURNING r.op
    )
    INSERT INTO storagebox.ended_ops AS e SELECT p_box, p_id, g.op, p_now FROM gone g
    ON CONFLICT (box, id, op) DO UPDATE SET since = excluded.since
$$;

CREATE FUNCTION storagebox.record_has_ended(p_box bigint, p_id text, p_op text, p_memory bigint, p_now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN coalesce((
        SELECT e.since FROM storagebox.ended_ops e WHERE e.box = p_box AND e.id = p_id AND e.op = p_op
    ) > storagebox.forgotten_before(p_memory, p_now), false);
END $$;

CREATE FUNCTION storagebox.record_lock(p_box bigint, p_id text, p_memory bigint, p_op text, OUT place tid, OUT state text, OUT op text, OUT value bytea, OUT version bigint, OUT fence bigint, OUT fingerprint text, OUT replaced_by text, OUT replaced_version bigint, OUT until timestamp with time zone, OUT now timestamp with time zone, OUT ended boolean) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    SELECT r.ctid, r.state, r.op, r.value, r.version, r.fence, r.fingerprint, r.replaced_by, r.replaced_version, r.until
    INTO place, state, op, value, version, fence, fingerprint, replaced_by, replaced_version, until
    FROM storagebox.records r WHERE r.box = p_box AND r.id = p_id FOR UPDATE;
    -- No call writes one; callers would look for what it is again and again, or take its place.
    IF FOUND AND (state = 'done' OR state = 'leased' AND until IS NOT NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'a record is neither done nor leased' USING ERRCODE = 'data_corrupted';
    END IF;
    now := storagebox.clock();
    IF state = 'done' AND until <= now THEN
        PERFORM storagebox.record_end(p_box, p_id, now);
        state := NULL;
    END IF;
    ended := storagebox.record_has_ended(p_box, p_id, p_op, p_memory, now);
END $$;

CREATE FUNCTION storagebox.renew() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM storagebox.boxes b) THEN
        UPDATE storagebox.store s SET epoch = hashtextextended(gen_random_uuid()::text, 0::bigint);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION storagebox.token_consume(p_box bigint, p_tokens text[], p_ops text[], p_memory bigint) RETURNS TABLE(outcome text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    known record;
    now   timestamptz;
BEGIN
    FOR i IN 1 .. pg_catalog.cardinality(p_tokens) LOOP
        SELECT t.ctid AS place, t.op, t.gone_at INTO known FROM storagebox.tokens t
        WHERE t.box = p_box AND t.token = p_tokens[i] FOR UPDATE;
        outcome := 'gone';
        IF FOUND THEN
            now := storagebox.clock();
            IF known.gone_at IS NULL THEN
                UPDATE storagebox.tokens t SET gone_at = now, op = p_ops[i] WHERE t.ctid = known.place;
                outcome := 'now';
            ELSIF known.op = p_ops[i] AND known.gone_at > storagebox.forgotten_before(p_memory, now) THEN
                outcome := 'again';
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE FUNCTION storagebox.token_create(p_box bigint, p_tokens text[], p_memory bigint) RETURNS TABLE(created bigint, already_live bigint, gone bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    new text[];
BEGIN
    WITH made AS (
        INSERT INTO storagebox.tokens AS t (box, token) SELECT p_box, u.token FROM pg_catalog.unnest(p_tokens) u(token)
        -- Judged when its row is locked.
        ON CONFLICT (box, token) DO UPDATE SET gone_at = NULL, op = NULL
        WHERE t.gone_at <= storagebox.forgotten_before(p_memory, storagebox.clock())
        RETURNING t.token
    )
    SELECT pg_catalog.array_agg(m.token) INTO new FROM made m;
    RETURN QUERY
    SELECT coalesce(pg_catalog.cardinality(new), 0)::bigint, count(*) FILTER (WHERE t.gone_at IS NULL),
           count(*) FILTER (WHERE t.gone_at IS NOT NULL)
    FROM (SELECT pg_catalog.unnest(p_tokens) EXCEPT SELECT pg_catalog.unnest(new)) rest(token)
    JOIN storagebox.tokens t ON t.box = p_box AND t.token = rest.token;
END $$;

CREATE FUNCTION storagebox.token_discard(p_box bigint, p_tokens text[], p_memory bigint) RETURNS TABLE(discarded bigint, already_gone bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    asked timestamptz;
    now   timestamptz;
    known record;
BEGIN
    discarded := 0;
    FOR i IN 1 .. pg_catalog.cardinality(p_tokens) LOOP
        LOOP
            asked := storagebox.clock();
            INSERT INTO storagebox.tokens (box, token, gone_at) VALUES (p_box, p_tokens[i], asked) ON CONFLICT DO NOTHING;
            IF FOUND THEN
                EXIT WHEN NOT storagebox.has_waited(asked);
                now := storagebox.clock();
                UPDATE storagebox.tokens t SET gone_at = now WHERE t.box = p_box AND t.token = p_tokens[i];
                EXIT;
            END IF;
            SELECT t.ctid AS place, t.gone_at INTO known FROM storagebox.tokens t
            WHERE t.box = p_box AND t.token = p_tokens[i] FOR UPDATE;
            CONTINUE WHEN NOT FOUND;
            now := storagebox.clock();
            IF known.gone_at IS NULL OR known.gone_at <= storagebox.forgotten_before(p_memory, now) THEN
                UPDATE storagebox.tokens t SET gone_at = now, op = NULL WHERE t.ctid = known.place;
                discarded := discarded + (known.gone_at IS NULL)::integer;
            END IF;
            EXIT;
        END LOOP;
    END LOOP;
    already_gone := pg_catalog.cardinality(p_tokens) - discarded;
    RETURN NEXT;
END $$;

CREATE FUNCTION storagebox.token_exists(p_box bigint, p_token text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN EXISTS (SELECT FROM storagebox.tokens t WHERE t.box = p_box AND t.token = p_token AND t.gone_at IS NULL);
END $$;

CREATE FUNCTION storagebox.token_maintain(p_memory bigint, p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    forgotten timestamptz := storagebox.forgotten_before(p_memory, storagebox.clock());
    one       bigint;
    removed   bigint := 0;
    part      bigint;
BEGIN
    FOR one IN SELECT b.box FROM storagebox.boxes b WHERE b.kind = 'tokens' ORDER BY b.box LOOP
        EXIT WHEN removed >= p_limit;
        DELETE FROM storagebox.tokens t WHERE t.ctid = ANY (ARRAY(
            SELECT k.ctid FROM storagebox.tokens k WHERE k.box = one AND k.gone_at <= forgotten
            ORDER BY k.gone_at LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;

CREATE TABLE storagebox.bank_cells (
    bank bigint NOT NULL,
    section integer NOT NULL,
    cells bit varying NOT NULL
)
WITH (fillfactor='10', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.bank_lapses (
    bank bigint NOT NULL,
    since timestamp with time zone NOT NULL
)
WITH (fillfactor='10', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.bank_sections (
    bank bigint NOT NULL,
    part integer NOT NULL,
    bits bigint NOT NULL
)
WITH (fillfactor='10', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.boxes (
    box bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    options text NOT NULL COLLATE pg_catalog."C",
    keeps bigint,
    epoch bigint NOT NULL
);

CREATE TABLE storagebox.claims (
    bank bigint NOT NULL,
    claim text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    h bigint,
    item text COLLATE pg_catalog."C",
    until timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT claims_check CHECK (((item IS NULL) <> (ended_at IS NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.counter_ops (
    box bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    op text NOT NULL COLLATE pg_catalog."C",
    delta bigint,
    value bigint,
    at timestamp with time zone NOT NULL,
    window_of_key boolean NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.counters (
    box bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    shard integer NOT NULL,
    value numeric NOT NULL,
    floor numeric NOT NULL,
    ceiling numeric NOT NULL,
    ops bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.ended_ops (
    box bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    op text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.free_items (
    bank bigint NOT NULL,
    h bigint NOT NULL,
    item text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE SEQUENCE storagebox.numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE storagebox.ordered_values (
    box bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    writer text NOT NULL COLLATE pg_catalog."C",
    value bytea,
    arrived timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.records (
    box bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    op text NOT NULL COLLATE pg_catalog."C",
    value bytea,
    version bigint,
    fence bigint,
    fingerprint text COLLATE pg_catalog."C",
    replaced_by text COLLATE pg_catalog."C",
    replaced_version bigint,
    until timestamp with time zone,
    CONSTRAINT records_check CHECK (((value IS NULL) = (version IS NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.store (
    epoch bigint NOT NULL,
    memory bigint
);

CREATE TABLE storagebox.tokens (
    box bigint NOT NULL,
    token text NOT NULL COLLATE pg_catalog."C",
    op text COLLATE pg_catalog."C",
    gone_at timestamp with time zone
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE storagebox.versions (
    version integer NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE storagebox.withdrawn_items (
    bank bigint NOT NULL,
    h bigint NOT NULL,
    item text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

INSERT INTO storagebox.bank_cells VALUES (7438981311803534556, 397, B'0');
INSERT INTO storagebox.bank_cells VALUES (7438981311803534556, 181, B'0');
INSERT INTO storagebox.bank_cells VALUES (7438981311803534556, 82, B'1');
INSERT INTO storagebox.bank_cells VALUES (7438981311803534556, 157, B'1');
INSERT INTO storagebox.bank_cells VALUES (7438981311803534556, 244, B'0');

INSERT INTO storagebox.bank_lapses VALUES (7438981311803534556, '-infinity');

INSERT INTO storagebox.bank_sections VALUES (7438981311803534556, 6, 0);
INSERT INTO storagebox.bank_sections VALUES (7438981311803534556, 1, 262144);
INSERT INTO storagebox.bank_sections VALUES (7438981311803534556, 2, 536870912);
INSERT INTO storagebox.bank_sections VALUES (7438981311803534556, 3, 0);

INSERT INTO storagebox.boxes VALUES (7438981311803534556, 'bank', 'box', '', NULL, 3917423363229373714);
INSERT INTO storagebox.boxes VALUES (1908734025921507408, 'records', 'box', '', NULL, 1134111634760414253);
INSERT INTO storagebox.boxes VALUES (6554407949572834107, 'tokens', 'box', '', NULL, -440139108373634002);
INSERT INTO storagebox.boxes VALUES (-6873085851762524763, 'counters', 'marker', 'Marker for ever', NULL, -3586034044210241926);
INSERT INTO storagebox.boxes VALUES (1523736846118811027, 'counters', 'window', 'Window of 10 for 3155760000000000 us', 3155760000000000, 4579290343838668087);
INSERT INTO storagebox.boxes VALUES (-2860516600420893259, 'counters', 'sharded', 'Sharded over 4 from 0 to any for ever', NULL, -8845199726414240569);
INSERT INTO storagebox.boxes VALUES (7819006963558987202, 'ordered', 'box', 'sequence numbers, tombstones for 604800000000 us', NULL, -4707294255898677770);

INSERT INTO storagebox.claims VALUES (7438981311803534556, 'holder', 'held', 5111870633221961831, 'item of holder', NULL, NULL);
INSERT INTO storagebox.claims VALUES (7438981311803534556, 'spender', 'spent', -2673697447090925626, 'item of spender', NULL, NULL);
INSERT INTO storagebox.claims VALUES (7438981311803534556, 'borrower', 'held', -6254648042824434043, 'item of borrower', '2126-11-24 17:08:10.051158+00', NULL);
INSERT INTO storagebox.claims VALUES (7438981311803534556, 'releaser', 'released', NULL, NULL, NULL, '2026-11-23 17:08:10.05554+00');

INSERT INTO storagebox.counter_ops VALUES (-6873085851762524763, 'stock', 'ada', 5, 5, '2026-11-23 17:08:10.089383+00', false);
INSERT INTO storagebox.counter_ops VALUES (1523736846118811027, 'stock', 'ada', 5, 5, '2026-11-23 17:08:10.093286+00', true);
INSERT INTO storagebox.counter_ops VALUES (-2860516600420893259, 'stock', 'ada', 5, NULL, '2026-11-23 17:08:10.096393+00', false);

INSERT INTO storagebox.counters VALUES (-6873085851762524763, 'stock', 0, 5, -9223372036854775808, 9223372036854775807, 0);
INSERT INTO storagebox.counters VALUES (1523736846118811027, 'stock', 0, 5, -9223372036854775808, 9223372036854775807, 1);
INSERT INTO storagebox.counters VALUES (-2860516600420893259, 'stock', 2, 5, 0, 2305843009213693952, 0);

INSERT INTO storagebox.ended_ops VALUES (1908734025921507408, 'forgotten', 'ada', '2026-11-23 17:08:10.075347+00');

INSERT INTO storagebox.free_items VALUES (7438981311803534556, -3545399213392714880, 'item of releaser');

INSERT INTO storagebox.ordered_values VALUES (7819006963558987202, 'there', 5, 'ada', '\x76616c7565', '2026-11-23 17:08:10.102418+00');
INSERT INTO storagebox.ordered_values VALUES (7819006963558987202, 'deleted', 5, 'ada', NULL, '2026-11-23 17:08:10.105356+00');

INSERT INTO storagebox.records VALUES (1908734025921507408, 'done', 'done', 'ada', '\x76616c7565', 1, NULL, NULL, NULL, NULL, NULL);
INSERT INTO storagebox.records VALUES (1908734025921507408, 'leased', 'leased', 'ada', NULL, NULL, 3, NULL, NULL, NULL, '2126-11-24 17:08:10.079546+00');

INSERT INTO storagebox.store VALUES (-8424310454259024122, NULL);

INSERT INTO storagebox.tokens VALUES (6554407949572834107, 'live', NULL, NULL);
INSERT INTO storagebox.tokens VALUES (6554407949572834107, 'gone', 'ada', '2026-11-23 17:08:10.085696+00');

INSERT INTO storagebox.versions VALUES (1, '2026-11-23 17:08:09.981118+00');

INSERT INTO storagebox.withdrawn_items VALUES (7438981311803534556, -400713791667920684, 'item of withdrawn');

SELECT pg_catalog.setval('storagebox.numbers', 3, true);

ALTER TABLE ONLY storagebox.bank_cells
    ADD CONSTRAINT bank_cells_pkey PRIMARY KEY (bank, section);

ALTER TABLE ONLY storagebox.bank_lapses
    ADD CONSTRAINT bank_lapses_pkey PRIMARY KEY (bank);

ALTER TABLE ONLY storagebox.bank_sections
    ADD CONSTRAINT bank_sections_pkey PRIMARY KEY (bank, part);

ALTER TABLE ONLY storagebox.boxes
    ADD CONSTRAINT boxes_kind_name_key UNIQUE (kind, name);

ALTER TABLE ONLY storagebox.boxes
    ADD CONSTRAINT boxes_pkey PRIMARY KEY (box);

ALTER TABLE ONLY storagebox.counter_ops
    ADD CONSTRAINT counter_ops_pkey PRIMARY KEY (box, key, op);

ALTER TABLE ONLY storagebox.counters
    ADD CONSTRAINT counters_pkey PRIMARY KEY (box, key, shard);

ALTER TABLE ONLY storagebox.ended_ops
    ADD CONSTRAINT ended_ops_pkey PRIMARY KEY (box, id, op);

ALTER TABLE ONLY storagebox.free_items
    ADD CONSTRAINT free_items_pkey PRIMARY KEY (bank, h, item);

ALTER TABLE ONLY storagebox.ordered_values
    ADD CONSTRAINT ordered_values_pkey PRIMARY KEY (box, key);

ALTER TABLE ONLY storagebox.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (box, id);

ALTER TABLE ONLY storagebox.store
    ADD CONSTRAINT store_pkey PRIMARY KEY (epoch);

ALTER TABLE ONLY storagebox.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (box, token);

ALTER TABLE ONLY storagebox.versions
    ADD CONSTRAINT versions_pkey PRIMARY KEY (version);

ALTER TABLE ONLY storagebox.withdrawn_items
    ADD CONSTRAINT withdrawn_items_pkey PRIMARY KEY (bank, h, item);

CREATE INDEX claims_by_age ON storagebox.claims USING btree (bank, ended_at) WHERE (ended_at IS NOT NULL);

CREATE UNIQUE INDEX claims_by_claim ON storagebox.claims USING btree (bank, claim);

CREATE INDEX claims_by_end ON storagebox.claims USING btree (bank, until) WHERE (until IS NOT NULL);

CREATE INDEX claims_by_item ON storagebox.claims USING btree (bank, h) WHERE (item IS NOT NULL);

CREATE INDEX counter_ops_by_age ON storagebox.counter_ops USING btree (box, at) WHERE (at IS NOT NULL);

CREATE INDEX counter_ops_by_key ON storagebox.counter_ops USING btree (box, key, at) WHERE window_of_key;

CREATE INDEX ended_ops_by_age ON storagebox.ended_ops USING btree (box, since) WHERE (since IS NOT NULL);

CREATE INDEX records_by_end ON storagebox.records USING btree (box, until) WHERE (until IS NOT NULL);

CREATE INDEX tokens_by_age ON storagebox.tokens USING btree (box, gone_at) WHERE (gone_at IS NOT NULL);

CREATE INDEX tombstones_by_arrival ON storagebox.ordered_values USING btree (box, arrived) WHERE (value IS NULL);

CREATE TRIGGER renew AFTER DELETE OR TRUNCATE ON storagebox.boxes FOR EACH STATEMENT EXECUTE FUNCTION storagebox.renew();

