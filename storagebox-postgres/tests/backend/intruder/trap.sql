-- A schema that another role creates before the first setup, with a trigger on the table to which every setup writes.
CREATE SCHEMA trapped;
CREATE TABLE trapped.versions (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
CREATE FUNCTION trapped.spring() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.rob();
    RETURN new;
END $$;
CREATE TRIGGER trap BEFORE INSERT ON trapped.versions FOR EACH ROW EXECUTE FUNCTION trapped.spring();
