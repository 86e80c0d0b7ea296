-- S-4 Reads the strategy of counters from the stored options of their namespace.
-- Returns the arguments of `counter_apply` for this strategy.
CREATE OR REPLACE FUNCTION {schema}.counter_rules(
    p_options text, OUT shards integer, OUT floor bigint, OUT ceiling bigint, OUT is_split boolean,
    OUT remembers boolean, OUT capacity bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    words CONSTANT text[] := regexp_match(p_options,
        '^(Atomic|Marker|Window|Sharded)(?: of (\d+)| over (\d+) from (any|-?\d+) to (any|-?\d+))?(?: for (?:ever|\d+ us))?$');
BEGIN
    IF words IS NULL THEN
        RAISE EXCEPTION 'the counters were created with %, which these functions do not know', p_options
            USING ERRCODE = 'SB006';
    END IF;
    is_split := words[1] = 'Sharded';
    remembers := words[1] <> 'Atomic';
    capacity := words[2]::bigint;
    shards := coalesce(words[3]::integer, 1);
    floor := coalesce(nullif(words[4], 'any')::bigint, -9223372036854775808);
    ceiling := coalesce(nullif(words[5], 'any')::bigint, 9223372036854775807);
END $$;
