-- Takes {items} items from a section, with holds of one to two hours in no order, and confirms them. Each call is its
-- own transaction.
DO $$
DECLARE
    shown text[];
BEGIN
    FOR n IN 1 .. {items} LOOP
        SELECT {schema}.bank_take(b.namespace, b.epoch, 'ended-' || n, 0, false, 3600000000 + n * 7919 % 3600 * 1000000::bigint, NULL, {section}, NULL, {section}) INTO shown
        FROM {schema}.namespaces b;
        IF shown[1] <> 'new' THEN
            RAISE EXCEPTION 'take % of {items} is %', n, shown[1];
        END IF;
        COMMIT;
        PERFORM {schema}.bank_confirm(b.namespace, 'ended-' || n, 0, false, NULL) FROM {schema}.namespaces b;
        COMMIT;
    END LOOP;
END $$
