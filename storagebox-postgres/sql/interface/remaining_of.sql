-- Returns the remaining time of a hold, from the third text of `bank_claim_view`. Null for a hold without an end and
-- for a confirmed claim.
CREATE OR REPLACE FUNCTION {schema}.remaining_of(p_until text) RETURNS interval
LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN p_until <> 'forever' AND p_until <> 'confirmed' THEN {schema}.interval_of(p_until::bigint) END;
