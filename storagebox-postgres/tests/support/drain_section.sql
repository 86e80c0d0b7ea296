-- Takes {items} items from a section, each in its own transaction, as a cursor does: each take begins after the last
-- item, and every hundredth take at a random place. `{since}` is `start`, or NULL as in a transaction of a caller.
DO $$
DECLARE
    start bigint;
    shown text[];
BEGIN
    PERFORM setseed(0.5);
    FOR n IN 1 .. {items} LOOP
        IF n % 100 = 1 THEN
            start := {section} + floor(random() * 36028797018963968)::bigint;
        END IF;
        SELECT {schema}.bank_take(b.namespace, b.epoch, '{items}-' || n, 0, false, NULL, NULL, start, NULL, {since}) INTO shown FROM {schema}.namespaces b;
        IF shown[1] <> 'new' THEN
            RAISE EXCEPTION 'take % of {items} is %', n, shown[1];
        END IF;
        start := shown[3]::bigint + 1;
        COMMIT;
    END LOOP;
END $$
