-- Takes {takes} items from a place on, each in its own transaction, as a cursor does: each take begins after the last
-- item, with the last hint about where more items may be free. After every fourth take, takes {together} items
-- together.
DO $$
DECLARE
    start bigint := {start};
    till  bigint;
    since bigint := start;
    told  integer := 0;
    shown text[];
    many  record;
BEGIN
    FOR n IN 1 .. {takes} LOOP
        SELECT {schema}.bank_take(b.namespace, b.epoch, 'walk {start} ' || n, 0, false, NULL, NULL, start, till, since) INTO shown FROM {schema}.namespaces b;
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
        CONTINUE WHEN {together} = 0 OR n % 4 > 0;
        SELECT m.* INTO many FROM {schema}.namespaces b, {schema}.bank_take_many(
            b.namespace, ARRAY(SELECT 'walk {start} ' || n || ' ' || k FROM generate_series(1, {together}) k ORDER BY 1),
            ARRAY(SELECT NULL::bigint FROM generate_series(1, {together})), NULL, start, since
        ) m;
        start := many.h + 1;
        since := many.h;
        till := NULL;
        COMMIT;
    END LOOP;
END $$
