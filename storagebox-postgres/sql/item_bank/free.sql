-- IB-2 Frees the item of a claim, if it has one, in the step that ends the claim.
CREATE OR REPLACE FUNCTION {schema}.bank_free(p_bank bigint, p_h bigint, p_item text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO {schema}.free_items SELECT p_bank, p_h, p_item WHERE p_item IS NOT NULL ON CONFLICT DO NOTHING;
    SELECT {schema}.bank_fill_sections(p_bank, ARRAY[p_h]) WHERE p_item IS NOT NULL
$$;
