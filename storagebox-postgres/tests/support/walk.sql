-- Takes so many items from a place on, each in a step of its own, as a lane walks: on from the last one, with what it told of
-- where there may be more.
DO $$
DECLARE
    start bigint := {start};
    till  bigint;
    since bigint := start;
    told  integer := 0;
    shown text[];
BEGIN
    FOR n IN 1 .. {takes} LOOP
        SELECT {schema}.bank_take(b.box, 'walk {start} ' || n, NULL, NULL, start, till, since) INTO shown FROM {schema}.boxes b;
        IF shown[1] <> 'new' THEN
            RAISE EXCEPTION 'take % of {takes} is %', n, shown[1];
        END IF;
        told := told + 1;
        IF till IS DISTINCT FROM shown[4]::bigint THEN
            since := shown[3]::bigint;
            told := 0;
        END IF;
        till := CASE WHEN shown[3]::bigint < shown[4]::bigint AND told < 16 THEN shown[4]::bigint END;
        start := shown[3]::bigint + 1;
        COMMIT;
    END LOOP;
END $$
