-- What the migrations make. Written by: make generate

-- PostgreSQL database dump
-- Name: river_job_state; Type: TYPE; Schema: public; Owner: -
CREATE TYPE public.river_job_state AS ENUM (
    'available',
    'cancelled',
    'completed',
    'discarded',
    'pending',
    'retryable',
    'running',
    'scheduled'
);
-- Name: access_changed(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.access_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM pg_notify(name, TG_ARGV[0] || ':' || (to_jsonb(NEW) ->> TG_ARGV[1])) FROM access_channel;
    RETURN NULL;
END $$;
-- Name: FUNCTION access_changed(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.access_changed() IS 'Notifies the nodes that a credential, or what it depends on, has changed. Arguments: the kind, and the column that has the id.';
-- Name: audit_is_append_only(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.audit_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- Name: FUNCTION audit_is_append_only(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.audit_is_append_only() IS 'Refuses to change or delete entries of the audit trail.';
-- Name: audit_refuse_time(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.audit_refuse_time() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF pg_has_role(current_user, 'lineproof_owner', 'MEMBER') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the time of the entry is more than a minute from the clock of the database'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_time', HINT = 'Only the owner can write entries of another time.';
END
$$;
-- Name: FUNCTION audit_refuse_time(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.audit_refuse_time() IS 'Refuses an entry of another time to everybody but the owner.';
-- Name: document_move_is_append_only(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.document_move_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the history of a document is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- Name: FUNCTION document_move_is_append_only(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.document_move_is_append_only() IS 'Refuses to change or delete rows of document_move.';
-- Name: factor_changed(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.factor_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    changed uuid := coalesce(NEW.account_id, OLD.account_id);
    factor uuid := (SELECT f.id FROM second_factor f WHERE f.account_id = changed AND f.confirmed_at IS NOT NULL);
BEGIN
    UPDATE account a SET has_factor = factor IS NOT NULL, factor_id = factor WHERE a.id = changed AND a.factor_id IS DISTINCT FROM factor;
    RETURN NULL;
END $$;
-- Name: FUNCTION factor_changed(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.factor_changed() IS 'Keeps account.has_factor and account.factor_id.';
-- Name: journal_batch_refuse_time(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.journal_batch_refuse_time() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF pg_has_role(current_user, 'lineproof_owner', 'MEMBER') THEN
        RETURN NEW;
    END IF;
    -- A late retry of a batch that is there conflicts with its key and writes nothing.
    IF EXISTS (SELECT FROM journal_batch b WHERE b.node = NEW.node AND b.epoch = NEW.epoch AND b.n = NEW.n AND b.at = NEW.at) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the time of the batch is more than a minute from the clock of the database'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_batch_time', HINT = 'Only the owner can write records of another time.';
END
$$;
-- Name: FUNCTION journal_batch_refuse_time(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.journal_batch_refuse_time() IS 'Refuses a batch of another time to everybody but the owner, unless it is there already.';
-- Name: journal_drop_day(date); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.journal_drop_day(the_day date) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    suffix  text := to_char(the_day, 'YYYYMMDD');
    kept    public.journal_archive;
    batches bigint;
    entries bigint;
BEGIN
    SELECT * INTO kept FROM public.journal_archive a WHERE a.day = the_day ORDER BY a.archived_at DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the journal of % was never archived', the_day;
    END IF;
    IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid IN (to_regclass('public.journal_entry_' || suffix), to_regclass('public.journal_batch_' || suffix))) THEN
        RAISE EXCEPTION 'the partitions of % are not detached yet', the_day;
    END IF;
    IF to_regclass('public.journal_batch_' || suffix) IS NOT NULL THEN
        -- Entries that were written after archiving have a batch of their own.
        EXECUTE format('SELECT count(*), coalesce(sum(count), 0) FROM public.%I', 'journal_batch_' || suffix) INTO batches, entries;
        IF batches <> kept.batches OR entries <> kept.entries THEN
            RAISE EXCEPTION 'the journal of % has % batches with % entries, and % with % are archived', the_day, batches, entries, kept.batches, kept.entries;
        END IF;
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS public.%I, public.%I', 'journal_entry_' || suffix, 'journal_batch_' || suffix);
END
$$;
-- Name: FUNCTION journal_drop_day(the_day date); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.journal_drop_day(the_day date) IS 'Drops the detached partitions of a day, if the archive of that day has everything that is in them.';
-- Name: journal_make_day(date); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.journal_make_day(the_day date) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    parent text;
    child  text;
    made   integer := 0;
BEGIN
    FOREACH parent IN ARRAY ARRAY['journal_batch', 'journal_entry', 'log_entry', 'feed_entry'] LOOP
        child := parent || '_' || to_char(the_day, 'YYYYMMDD');
        IF to_regclass('public.' || child) IS NULL THEN
            EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING ALL)', child, parent);
            -- The planner's statistics would have samples of what may have to be erased.
            IF parent = 'journal_entry' THEN
                EXECUTE format('ALTER TABLE public.%I ALTER number SET STATISTICS 0, ALTER phone_number SET STATISTICS 0, ALTER correlator SET STATISTICS 0,'
                    || ' ALTER external_id SET STATISTICS 0, ALTER on_behalf_of SET STATISTICS 0, ALTER options SET STATISTICS 0, ALTER extra SET STATISTICS 0', child);
            ELSIF parent = 'feed_entry' THEN
                EXECUTE format('ALTER TABLE public.%I ALTER number SET STATISTICS 0, ALTER body SET STATISTICS 0', child);
            END IF;
            EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
                to_char(the_day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(the_day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;
-- Name: FUNCTION journal_make_day(the_day date); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.journal_make_day(the_day date) IS 'Creates the partitions of a day, of the journal, of the public log and of the feeds; returns how many were missing.';
-- Name: journal_make_partitions(integer); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.journal_make_partitions(days integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    made  integer := 0;
BEGIN
    IF days IS NULL OR days < 0 OR days > 366 THEN
        RAISE EXCEPTION 'days must be between 0 and 366';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('lineproof journal partitions', 0));
    FOR day IN -1 .. days LOOP
        made := made + journal_make_day(today + day);
    END LOOP;
    RETURN made;
END
$$;
-- Name: FUNCTION journal_make_partitions(days integer); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.journal_make_partitions(days integer) IS 'Creates the journal''s daily partitions from yesterday to this many days ahead; returns how many were missing.';
-- Name: journal_summarize(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.journal_summarize() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $$
DECLARE
    today timestamp := now() AT TIME ZONE 'UTC';
    part  oid;
    made  integer := 0;
BEGIN
    FOR part IN
        SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
        WHERE a.amname = 'brin' AND i.indrelid IN (
            to_regclass('public.journal_entry_' || to_char(today, 'YYYYMMDD')), to_regclass('public.journal_entry_' || to_char(today - interval '1 hour', 'YYYYMMDD')),
            to_regclass('public.journal_batch_' || to_char(today, 'YYYYMMDD')), to_regclass('public.journal_batch_' || to_char(today - interval '1 hour', 'YYYYMMDD')))
    LOOP
        made := made + brin_summarize_new_values(part);
    END LOOP;
    RETURN made;
END
$$;
-- Name: FUNCTION journal_summarize(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.journal_summarize() IS 'Updates the BRIN indexes of today''s journal, and in the first hour of a day also yesterday''s; returns how many page ranges were new.';
-- Name: line_delete_baselines(integer, bigint, bigint); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.line_delete_baselines(snapshot integer, after bigint, last bigint, OUT deleted bigint, OUT running bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM supply_import WHERE id = snapshot AND kind = 'snapshot' AND state = 'voiding') THEN
        RAISE EXCEPTION 'the import % is not a snapshot that is being voided', snapshot;
    END IF;
    WITH gone AS (
        DELETE FROM line_now WHERE number > after AND number <= last AND baseline = snapshot AND version = 1 RETURNING state
    )
    SELECT count(*), count(*) FILTER (WHERE state BETWEEN 1 AND 4) INTO deleted, running FROM gone;
END
$$;
-- Name: FUNCTION line_delete_baselines(snapshot integer, after bigint, last bigint, OUT deleted bigint, OUT running bigint); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.line_delete_baselines(snapshot integer, after bigint, last bigint, OUT deleted bigint, OUT running bigint) IS 'Deletes the lines, after one number and up to another, that a snapshot created and no event has touched, while that snapshot is being voided; returns how many, and how many of them had a current tenure.';
-- Name: line_time(integer); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.line_time(seconds integer) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT timestamptz '2020-01-01 00:00:00+00' + seconds * interval '1 second'
$$;
-- Name: FUNCTION line_time(seconds integer); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.line_time(seconds integer) IS 'Converts a time of line_now or line_event (seconds since 2020-01-01 UTC) into a timestamp, for people who read the tables.';
-- Name: log_drop_day(date); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_drop_day(the_day date) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
    child  text := 'log_entry_' || to_char(the_day, 'YYYYMMDD');
    old    text := child || '_old';
    kept   public.journal_archive;
    there  bigint;
    newest bigint;
BEGIN
    SELECT * INTO kept FROM public.journal_archive a WHERE a.day = the_day ORDER BY a.archived_at DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the journal of % was never archived', the_day;
    END IF;
    IF EXISTS (SELECT FROM public.journal_batch b WHERE b.at >= the_day::timestamp AT TIME ZONE 'UTC' AND b.at < (the_day + 1)::timestamp AT TIME ZONE 'UTC') THEN
        RAISE EXCEPTION 'the journal of % is still in the database', the_day;
    END IF;
    EXECUTE format('SELECT count(*), max(idx) FROM public.%I WHERE kind = 1 AND NOT lost', child) INTO there, newest;
    IF there = 0 THEN
        RETURN 0;
    END IF;
    IF there <> kept.logged THEN
        RAISE EXCEPTION 'the public log has % batches of %, and the archive has the indexes of %', there, the_day, kept.logged;
    END IF;
    IF NOT EXISTS (SELECT FROM public.log_published p WHERE p.published > newest) THEN
        RETURN 0;
    END IF;
    EXECUTE format('ALTER TABLE public.log_entry DETACH PARTITION public.%I', child);
    EXECUTE format('ALTER TABLE public.%I RENAME TO %I', child, old);
    EXECUTE format('CREATE TABLE public.%I (LIKE public.log_entry INCLUDING ALL)', child);
    EXECUTE format('INSERT INTO public.%I SELECT * FROM public.%I WHERE kind <> 1 OR lost', child, old);
    EXECUTE format('ALTER TABLE public.log_entry ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', child,
        to_char(the_day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(the_day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
    EXECUTE format('DROP TABLE public.%I', old);
    RETURN there;
END
$$;
-- Name: FUNCTION log_drop_day(the_day date); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_drop_day(the_day date) IS 'Drops the entries about the batches of a day from the database, if its archive has their indexes and they are published; returns how many. Entries about other things, and about batches that were lost, stay.';
-- Name: log_field(bytea); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_field(b bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN (int4send(octet_length(b)) || b);
-- Name: FUNCTION log_field(b bytea); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_field(b bytea) IS 'A field of an entry of the public log: its length in 4 bytes, and the field.';
-- Name: log_lines(jsonb); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_lines(of jsonb) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    RETURN (SELECT string_agg((((jsonb_each.key || '='::text) || (jsonb_each.value)::text) || '
'::text), ''::text ORDER BY (jsonb_each.key COLLATE "C")) AS string_agg FROM jsonb_each(log_lines.of) jsonb_each(key, value));
-- Name: FUNCTION log_lines(of jsonb); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_lines(of jsonb) IS 'An object as lines of text: name, equals sign and value in JSON, sorted by name.';
-- Name: log_note(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_note() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO log_pending (kind, body)
    SELECT s.kind, s.body FROM log_source s, log_head WHERE s.kind = TG_ARGV[0]::smallint AND s.key = TG_ARGV[1] || ' ' || (to_jsonb(NEW) ->> TG_ARGV[2]);
    RETURN NULL;
END
$$;
-- Name: FUNCTION log_note(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_note() IS 'Adds the entry of log_source about a new row to log_pending, if the public log is on.';
-- Name: log_note_all(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_note_all() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO log_pending (kind, body) SELECT s.kind, s.body FROM log_source s ORDER BY s.kind, s.body;
    RETURN NULL;
END
$$;
-- Name: FUNCTION log_note_all(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_note_all() IS 'Adds all entries of log_source to log_pending, when the public log is turned on.';
-- Name: numbering_network; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.numbering_network (
    version integer NOT NULL,
    network smallint NOT NULL,
    name text NOT NULL,
    CONSTRAINT numbering_network_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 64)))
);
-- Name: TABLE numbering_network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.numbering_network IS 'The name of each network in a version of the plan. No foreign key refers to network, so that lines and networks can move to another cluster.';
-- Name: numbering_plan; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.numbering_plan (
    version integer NOT NULL,
    id uuid NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    digits smallint NOT NULL,
    source text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT numbering_plan_digits_check CHECK (((digits >= 6) AND (digits <= 15))),
    CONSTRAINT numbering_plan_source_check CHECK (((char_length(source) >= 1) AND (char_length(source) <= 2000))),
    CONSTRAINT numbering_plan_version_check CHECK ((version > 0))
);
-- Name: TABLE numbering_plan; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.numbering_plan IS 'The versions of the numbering plan. Each is a whole plan and never changes. The current one is the version that took effect last.';
-- Name: COLUMN numbering_plan.id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.numbering_plan.id IS 'The id of the version in the audit trail.';
-- Name: COLUMN numbering_plan.digits; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.numbering_plan.digits IS 'The number of digits of a number, with its country code and without the plus sign.';
-- Name: COLUMN numbering_plan.source; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.numbering_plan.source IS 'Where the plan comes from, in words.';
-- Name: numbering_range; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.numbering_range (
    version integer NOT NULL,
    prefix text NOT NULL,
    network smallint NOT NULL,
    allocated date NOT NULL,
    withdrawn date,
    CONSTRAINT numbering_range_check CHECK ((withdrawn > allocated)),
    CONSTRAINT numbering_range_prefix_check CHECK ((prefix ~ '^[1-9][0-9]{0,14}$'::text))
);
-- Name: TABLE numbering_range; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.numbering_range IS 'Which network holds the numbers that begin with a prefix, and from when until when. If several prefixes match, the longest one decides.';
-- Name: COLUMN numbering_range.prefix; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.numbering_range.prefix IS 'The first digits of the E.164 form, without the plus sign.';
-- Name: COLUMN numbering_range.withdrawn; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.numbering_range.withdrawn IS 'The first day (UTC) on which the network no longer holds the range; null while it holds it.';
-- Name: log_plan_text(public.numbering_plan); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_plan_text(p public.numbering_plan) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    RETURN ((public.log_lines(to_jsonb(p)) || COALESCE((SELECT string_agg((('network='::text || (jsonb_build_array(n.network, n.name))::text) || '
'::text), ''::text ORDER BY n.network) AS string_agg FROM public.numbering_network n WHERE (n.version = (log_plan_text.p).version)), ''::text)) || COALESCE((SELECT string_agg((('range='::text || (jsonb_build_array(r.prefix, r.network, r.allocated, r.withdrawn))::text) || '
'::text), ''::text ORDER BY (r.prefix COLLATE "C"), r.allocated) AS string_agg FROM public.numbering_range r WHERE (r.version = (log_plan_text.p).version)), ''::text));
-- Name: FUNCTION log_plan_text(p public.numbering_plan); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_plan_text(p public.numbering_plan) IS 'The text of a version of the numbering plan, whose SHA-256 is in the public log.';
-- Name: policy; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.policy (
    version integer NOT NULL,
    id uuid NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    recycled_days integer NOT NULL,
    swapped_hours integer NOT NULL,
    ported_hours integer NOT NULL,
    flagged_days integer NOT NULL,
    quarantine_days integer NOT NULL,
    notice_days integer NOT NULL,
    lifecycle_freshness_hours integer NOT NULL,
    sim_freshness_hours integer NOT NULL,
    port_freshness_hours integer NOT NULL,
    false_assurance_percent integer NOT NULL,
    sim_report_hours integer NOT NULL,
    port_report_hours integer NOT NULL,
    bar_report_hours integer NOT NULL,
    churn_report_days integer NOT NULL,
    backdating_days integer NOT NULL,
    hold_percent integer NOT NULL,
    personal_years integer NOT NULL,
    warm_up_days integer NOT NULL,
    warm_up_percent integer NOT NULL,
    undocumented_percent integer NOT NULL,
    time_zone text NOT NULL,
    clearing_house text NOT NULL,
    purposes text NOT NULL,
    note text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT policy_backdating_days_check CHECK (((backdating_days >= 1) AND (backdating_days <= 365))),
    CONSTRAINT policy_bar_report_hours_check CHECK (((bar_report_hours >= 1) AND (bar_report_hours <= 720))),
    CONSTRAINT policy_churn_report_days_check CHECK (((churn_report_days >= 1) AND (churn_report_days <= 90))),
    CONSTRAINT policy_clearing_house_check CHECK (((char_length(clearing_house) >= 0) AND (char_length(clearing_house) <= 100))),
    CONSTRAINT policy_false_assurance_percent_check CHECK (((false_assurance_percent >= 1) AND (false_assurance_percent <= 100))),
    CONSTRAINT policy_flagged_days_check CHECK (((flagged_days >= 1) AND (flagged_days <= 730))),
    CONSTRAINT policy_hold_percent_check CHECK (((hold_percent >= 0) AND (hold_percent <= 49))),
    CONSTRAINT policy_lifecycle_freshness_hours_check CHECK (((lifecycle_freshness_hours >= 1) AND (lifecycle_freshness_hours <= 4320))),
    CONSTRAINT policy_note_check CHECK (((char_length(note) >= 1) AND (char_length(note) <= 500))),
    CONSTRAINT policy_notice_days_check CHECK (((notice_days >= 1) AND (notice_days <= 180))),
    CONSTRAINT policy_personal_years_check CHECK (((personal_years >= 1) AND (personal_years <= 100))),
    CONSTRAINT policy_port_freshness_hours_check CHECK (((port_freshness_hours >= 1) AND (port_freshness_hours <= 2400))),
    CONSTRAINT policy_port_report_hours_check CHECK (((port_report_hours >= 1) AND (port_report_hours <= 720))),
    CONSTRAINT policy_ported_hours_check CHECK (((ported_hours >= 1) AND (ported_hours <= 2400))),
    CONSTRAINT policy_purposes_check CHECK (((char_length(purposes) >= 1) AND (char_length(purposes) <= 1000))),
    CONSTRAINT policy_quarantine_days_check CHECK (((quarantine_days >= 1) AND (quarantine_days <= 730))),
    CONSTRAINT policy_recycled_days_check CHECK (((recycled_days >= 1) AND (recycled_days <= 730))),
    CONSTRAINT policy_sim_freshness_hours_check CHECK (((sim_freshness_hours >= 0) AND (sim_freshness_hours <= 2400))),
    CONSTRAINT policy_sim_report_hours_check CHECK (((sim_report_hours >= 1) AND (sim_report_hours <= 720))),
    CONSTRAINT policy_swapped_hours_check CHECK (((swapped_hours >= 1) AND (swapped_hours <= 2400))),
    CONSTRAINT policy_time_zone_check CHECK (((char_length(time_zone) >= 1) AND (char_length(time_zone) <= 64))),
    CONSTRAINT policy_undocumented_percent_check CHECK (((undocumented_percent >= 1) AND (undocumented_percent <= 100))),
    CONSTRAINT policy_version_check CHECK ((version > 0)),
    CONSTRAINT policy_warm_up_days_check CHECK (((warm_up_days >= 0) AND (warm_up_days <= 365))),
    CONSTRAINT policy_warm_up_percent_check CHECK (((warm_up_percent >= 1) AND (warm_up_percent <= 100)))
);
-- Name: TABLE policy; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.policy IS 'The versions of the policy by which statuses are derived. A version never changes. The current one is the version that took effect last.';
-- Name: COLUMN policy.id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.id IS 'The id of the version in the audit trail.';
-- Name: COLUMN policy.lifecycle_freshness_hours; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.lifecycle_freshness_hours IS 'How old the supply of the topic LIFECYCLE may be.';
-- Name: COLUMN policy.sim_freshness_hours; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.sim_freshness_hours IS 'How old the supply of the topic SIM may be. 0: the topic is not required.';
-- Name: COLUMN policy.port_freshness_hours; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.port_freshness_hours IS 'How old the supply of the topic PORT may be. It is required only while clearing_house is not empty.';
-- Name: COLUMN policy.false_assurance_percent; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.false_assurance_percent IS 'A topic of which a greater share of the events of the last 30 days contradicts the supplier''s own suppliedThrough is not fresh until 30 days have passed without another or two people accept it again.';
-- Name: COLUMN policy.backdating_days; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.backdating_days IS 'An event that took effect longer ago is held until the regulator confirms it.';
-- Name: COLUMN policy.hold_percent; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.hold_percent IS 'A snapshot that changes a greater share of an operator''s lines is held until staff confirm it. Below one half, so that a file with only half of the lines is always held.';
-- Name: COLUMN policy.personal_years; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.personal_years IS 'For how many years the personal part of a record is kept.';
-- Name: COLUMN policy.warm_up_days; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.warm_up_days IS 'After how many days a new organisation, or a new client, has its whole budget of numbers.';
-- Name: COLUMN policy.warm_up_percent; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.warm_up_percent IS 'The share of it on the first day.';
-- Name: COLUMN policy.undocumented_percent; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.undocumented_percent IS 'The largest share for an organisation that a client onboarded, until staff have accepted a document of it.';
-- Name: COLUMN policy.time_zone; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.time_zone IS 'The zone in which a bare date that is reported is a day; its name in the IANA database.';
-- Name: COLUMN policy.clearing_house; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.clearing_house IS 'The name of the clearing house; empty while there is none.';
-- Name: COLUMN policy.purposes; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.purposes IS 'The purposes of API keys, and how an answer to each gives dates: code=exact, code=month or code=absent, separated by commas.';
-- Name: COLUMN policy.note; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.policy.note IS 'Why the version was created.';
-- Name: log_policy_text(public.policy); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_policy_text(p public.policy) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    RETURN public.log_lines(to_jsonb(p));
-- Name: FUNCTION log_policy_text(p public.policy); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_policy_text(p public.policy) IS 'The text of a version of the policy, whose SHA-256 is in the public log.';
-- Name: log_time(timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_time(t timestamp with time zone) RETURNS bytea
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN int8send((floor((EXTRACT(epoch FROM t) * (1000)::numeric)))::bigint);
-- Name: FUNCTION log_time(t timestamp with time zone); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_time(t timestamp with time zone) IS 'A time in an entry of the public log: milliseconds since 1970, 8 bytes.';
-- Name: supply_import; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_import (
    id integer NOT NULL,
    uid uuid NOT NULL,
    authority smallint DEFAULT 1 NOT NULL,
    network smallint NOT NULL,
    supplier integer NOT NULL,
    supplier_name text,
    kind text NOT NULL,
    as_of timestamp with time zone,
    dry_run boolean NOT NULL,
    source text NOT NULL,
    client_id uuid,
    state text NOT NULL,
    phase text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    rows bigint DEFAULT 0 NOT NULL,
    place bigint DEFAULT 0 NOT NULL,
    cursor bigint DEFAULT 0 NOT NULL,
    digest bytea DEFAULT '\x'::bytea NOT NULL,
    file_digest bytea DEFAULT '\x'::bytea NOT NULL,
    log_nonce bytea DEFAULT SUBSTRING(sha256((uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))) FROM 1 FOR 16) NOT NULL,
    added bigint DEFAULT 0 NOT NULL,
    changed bigint DEFAULT 0 NOT NULL,
    unchanged bigint DEFAULT 0 NOT NULL,
    ended bigint DEFAULT 0 NOT NULL,
    duplicates bigint DEFAULT 0 NOT NULL,
    no_effect bigint DEFAULT 0 NOT NULL,
    waiting bigint DEFAULT 0 NOT NULL,
    ported_out bigint DEFAULT 0 NOT NULL,
    refused bigint DEFAULT 0 NOT NULL,
    voided bigint DEFAULT 0 NOT NULL,
    confirmed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT supply_import_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT supply_import_kind_check CHECK ((kind = ANY (ARRAY['snapshot'::text, 'events'::text]))),
    CONSTRAINT supply_import_log_nonce_check CHECK ((octet_length(log_nonce) = 16)),
    CONSTRAINT supply_import_source_check CHECK ((source = ANY (ARRAY['api'::text, 'portal'::text, 'cli'::text]))),
    CONSTRAINT supply_import_state_check CHECK ((state = ANY (ARRAY['receiving'::text, 'checking'::text, 'held'::text, 'applying'::text, 'applied'::text, 'checked'::text, 'refused'::text, 'cancelled'::text, 'voiding'::text, 'voided'::text]))),
    CONSTRAINT supply_import_supplier_name_check CHECK (((octet_length(supplier_name) >= 1) AND (octet_length(supplier_name) <= 255))),
    CONSTRAINT supply_import_supplier_named CHECK (((state <> ALL (ARRAY['applied'::text, 'voiding'::text, 'voided'::text])) OR dry_run OR (supplier_name IS NOT NULL)))
);
-- Name: TABLE supply_import; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_import IS 'Files of lines or events, and the progress of each. Progress is written in the transaction of the rows that it counts.';
-- Name: COLUMN supply_import.authority; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.authority IS 'In which role the file was sent, as in line_event: 1 an operator, 2 the clearing house, 3 a sector regulator, 4 the regulator at the command line.';
-- Name: COLUMN supply_import.network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.network IS 'Of an operator''s file, its network; otherwise 0.';
-- Name: COLUMN supply_import.supplier_name; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.supplier_name IS 'The code of the network when the file was applied, or the authority of another sender, to which the entry of the public log commits; null before that.';
-- Name: COLUMN supply_import.as_of; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.as_of IS 'When a snapshot was correct. For a file of events, up to when all events are reported; null if it was not given.';
-- Name: COLUMN supply_import.source; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.source IS 'How the file came: sent to the API, uploaded in the portal, or read by the command.';
-- Name: COLUMN supply_import.reason; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.reason IS 'Why the import is held or was rejected.';
-- Name: COLUMN supply_import.rows; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.rows IS 'Rows of the file that this phase has processed; place is the line of the file after the last of them.';
-- Name: COLUMN supply_import.cursor; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.cursor IS 'For a snapshot, the last number that was searched for missing ones, or up to which it is voided.';
-- Name: COLUMN supply_import.digest; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.digest IS 'SHA-256 of the rows up to place, to check that a resumed import reads the same file.';
-- Name: COLUMN supply_import.file_digest; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.file_digest IS 'SHA-256 of all rows, once the whole file was checked.';
-- Name: COLUMN supply_import.log_nonce; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.log_nonce IS 'Part of what the entry of the public log commits to, so that nobody can guess the rest. Only the supplier gets it.';
-- Name: COLUMN supply_import.waiting; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.waiting IS 'Rows that are stored and do not count yet: held, or about numbers whose port is not known.';
-- Name: COLUMN supply_import.voided; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.voided IS 'Lines from which voiding has taken back what the snapshot said, so far.';
-- Name: COLUMN supply_import.confirmed_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_import.confirmed_at IS 'When staff confirmed an import that was held.';
-- Name: log_supply(public.supply_import); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_supply(i public.supply_import) RETURNS bytea
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    RETURN (((((((((('\x6c696e6570726f6f6620737570706c792031'::bytea || '\x0a'::bytea) || public.log_field((i).log_nonce)) || public.log_field(uuid_send((i).uid))) || public.log_field(int8send(((i).supplier)::bigint))) || public.log_field(convert_to((i).supplier_name, 'UTF8'::name))) || public.log_field(convert_to((i).kind, 'UTF8'::name))) || public.log_field(public.log_time(COALESCE((i).as_of, '1970-01-01 00:00:00+00'::timestamp with time zone)))) || public.log_field(int8send((i).rows))) || public.log_field(int8send((i).refused))) || public.log_field((i).file_digest));
-- Name: FUNCTION log_supply(i public.supply_import); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_supply(i public.supply_import) IS 'What the entry of the public log about a file commits to, and what the receipt of its supplier has; null before the file is applied.';
-- Name: audit_hour; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.audit_hour (
    hour timestamp with time zone NOT NULL,
    entries bigint NOT NULL,
    hash bytea NOT NULL,
    chained_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT audit_hour_hash_check CHECK ((octet_length(hash) = 32))
);
-- Name: TABLE audit_hour; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.audit_hour IS 'The audit trail, chained by the hour: for every hour that is over, the number of its entries and a hash over them and over the hash of the hour before. Append-only.';
-- Name: COLUMN audit_hour.hash; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.audit_hour.hash IS 'As docs/explanation/audit.md describes.';
-- Name: erasure; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.erasure (
    id uuid NOT NULL,
    ground text NOT NULL,
    state text NOT NULL,
    number bigint,
    request_ids uuid[],
    asked_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    marked_at timestamp with time zone,
    finished_at timestamp with time zone,
    records bigint DEFAULT 0 NOT NULL,
    held bigint DEFAULT 0 NOT NULL,
    CONSTRAINT erasure_ground_check CHECK ((ground = ANY (ARRAY['request'::text, 'court'::text, 'mistake'::text, 'retention'::text]))),
    CONSTRAINT erasure_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'confirmed'::text, 'marked'::text, 'finished'::text])))
);
-- Name: TABLE erasure; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.erasure IS 'Orders to erase the personal part of records. Two people give them; the policy gives those of the ground retention.';
-- Name: COLUMN erasure.state; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.erasure.state IS 'waiting for a second person; confirmed; marked: the records are chosen and listed; finished.';
-- Name: COLUMN erasure.number; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.erasure.number IS 'The number whose records are erased, until they are; or null.';
-- Name: COLUMN erasure.request_ids; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.erasure.request_ids IS 'The records to erase, until they are; or null.';
-- Name: COLUMN erasure.marked_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.erasure.marked_at IS 'When the records were chosen, also after a restore; the public log counts them in that month.';
-- Name: COLUMN erasure.held; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.erasure.held IS 'How many records stay because of a legal hold.';
-- Name: journal_archive; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_archive (
    manifest uuid NOT NULL,
    day date NOT NULL,
    sha256 bytea NOT NULL,
    batches bigint NOT NULL,
    entries bigint NOT NULL,
    logged bigint DEFAULT 0 NOT NULL,
    bytes bigint NOT NULL,
    root bytea NOT NULL,
    archived_at timestamp with time zone NOT NULL,
    CONSTRAINT journal_archive_check CHECK (((logged >= 0) AND (logged <= batches))),
    CONSTRAINT journal_archive_root_check CHECK ((octet_length(root) = 32)),
    CONSTRAINT journal_archive_sha256_check CHECK ((octet_length(sha256) = 32))
);
-- Name: TABLE journal_archive; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_archive IS 'Days of the journal that were written to files, read back and checked. Only the owner adds rows, and no row changes.';
-- Name: COLUMN journal_archive.manifest; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_archive.manifest IS 'The key of the manifest in the archive, which lists the files of the day.';
-- Name: COLUMN journal_archive.sha256; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_archive.sha256 IS 'SHA-256 of the manifest, which has those of the files.';
-- Name: COLUMN journal_archive.logged; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_archive.logged IS 'How many of its batches have their index in the public log in the archive.';
-- Name: COLUMN journal_archive.bytes; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_archive.bytes IS 'The size of all files, including the manifest.';
-- Name: COLUMN journal_archive.root; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_archive.root IS 'Merkle root (RFC 6962) over the roots of the batches, in the order of the archive.';
-- Name: journal_erased; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_erased (
    request_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    hash bytea NOT NULL,
    erasure uuid NOT NULL,
    CONSTRAINT journal_erased_hash_check CHECK ((octet_length(hash) = 32))
);
-- Name: TABLE journal_erased; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_erased IS 'The records whose personal part an erasure covers. Only the owner adds rows, and no row changes: a record without one must not be erased.';
-- Name: COLUMN journal_erased.at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_erased.at IS 'The time of the record.';
-- Name: COLUMN journal_erased.erasure; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_erased.erasure IS 'The erasure, in the table of that name.';
-- Name: journal_erased_day; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_erased_day (
    day date NOT NULL,
    erasure uuid NOT NULL
);
-- Name: TABLE journal_erased_day; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_erased_day IS 'The days of which every personal part is erased, because the policy keeps it no longer.';
-- Name: log_entry; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.log_entry (
    idx bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind smallint NOT NULL,
    epoch bigint,
    n bigint,
    entry bytea NOT NULL,
    lost boolean DEFAULT false NOT NULL,
    CONSTRAINT log_entry_check CHECK (((kind = 1) = ((epoch IS NOT NULL) AND (n IS NOT NULL)))),
    CONSTRAINT log_entry_idx_check CHECK ((idx >= 0)),
    CONSTRAINT log_entry_kind_check CHECK (((kind >= 1) AND (kind <= 255)))
)
PARTITION BY RANGE (at);
-- Name: TABLE log_entry; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.log_entry IS 'The entries of the public log, each with its index for ever. Append-only.';
-- Name: COLUMN log_entry.at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_entry.at IS 'The time in the entry. For a batch of the journal it is the time of the batch.';
-- Name: COLUMN log_entry.epoch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_entry.epoch IS 'With n, the key of the batch in the journal that the entry is about.';
-- Name: COLUMN log_entry.entry; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_entry.entry IS 'The bytes that are published, as docs/reference/public-log.md describes.';
-- Name: COLUMN log_entry.lost; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_entry.lost IS 'The database was restored to a moment before it: the entry was read back from what is published, and what it is about is gone.';
-- Name: log_head; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.log_head (
    one boolean DEFAULT true NOT NULL,
    origin text NOT NULL,
    began timestamp with time zone NOT NULL,
    size bigint NOT NULL,
    edge bytea NOT NULL,
    root bytea NOT NULL,
    seen pg_snapshot NOT NULL,
    since timestamp with time zone NOT NULL,
    system bigint NOT NULL,
    CONSTRAINT log_head_one_check CHECK (one),
    CONSTRAINT log_head_root_check CHECK ((octet_length(root) = 32)),
    CONSTRAINT log_head_size_check CHECK ((size >= 0))
);
-- Name: TABLE log_head; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.log_head IS 'The end of the public log, in one row. Who adds entries locks it.';
-- Name: COLUMN log_head.began; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_head.began IS 'When the log was turned on. Batches from before are not in it.';
-- Name: COLUMN log_head.edge; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_head.edge IS 'The roots of the complete subtrees, from left to right: what is needed to add the next entry.';
-- Name: COLUMN log_head.seen; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_head.seen IS 'The snapshot in which batches were last read. The next are those that it does not see.';
-- Name: COLUMN log_head.since; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_head.since IS 'When batches were last added.';
-- Name: COLUMN log_head.system; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_head.system IS 'The system identifier of the database cluster to whose transactions seen belongs.';
-- Name: log_key; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.log_key (
    id bigint NOT NULL,
    role text NOT NULL,
    value text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT log_key_role_check CHECK ((role = ANY (ARRAY['log'::text, 'next'::text, 'post-quantum'::text, 'promise'::text, 'witnesses'::text]))),
    CONSTRAINT log_key_value_check CHECK (((octet_length(value) >= 1) AND (octet_length(value) <= 4096)))
);
-- Name: TABLE log_key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.log_key IS 'The public keys with which the log signs, and the hashes of its policies of witnesses, each from its time on until the next one of its role. Append-only.';
-- Name: COLUMN log_key.value; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_key.value IS 'Of a key, its verifier: name, id and public key. Of a policy of witnesses, SHA-256 of the file in hexadecimal digits.';
-- Name: log_pending; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.log_pending (
    id bigint NOT NULL,
    kind smallint NOT NULL,
    body bytea NOT NULL,
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT log_pending_kind_check CHECK (((kind >= 2) AND (kind <= 255)))
);
-- Name: TABLE log_pending; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.log_pending IS 'Entries that the public log does not have yet, other than those about batches. Only triggers write it; a row is deleted in the transaction that adds the entry.';
-- Name: COLUMN log_pending.body; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_pending.body IS 'The bytes of the entry after its time, as docs/reference/public-log.md describes. The time is that of the addition.';
-- Name: log_source; Type: VIEW; Schema: public; Owner: -
CREATE VIEW public.log_source AS
 SELECT (2)::smallint AS kind,
    ('import '::text || i.id) AS key,
    sha256(public.log_supply(i.*)) AS body
   FROM public.supply_import i
  WHERE ((i.state = ANY (ARRAY['applied'::text, 'voiding'::text, 'voided'::text])) AND (NOT i.dry_run))
UNION ALL
 SELECT (3)::smallint AS kind,
    ('policy '::text || p.version) AS key,
    ((public.log_field('\x706f6c696379'::bytea) || int4send(p.version)) || sha256(convert_to(public.log_policy_text(p.*), 'UTF8'::name))) AS body
   FROM public.policy p
UNION ALL
 SELECT (3)::smallint AS kind,
    ('plan '::text || p.version) AS key,
    ((public.log_field('\x706c616e'::bytea) || int4send(p.version)) || sha256(convert_to(public.log_plan_text(p.*), 'UTF8'::name))) AS body
   FROM public.numbering_plan p
UNION ALL
 SELECT (4)::smallint AS kind,
    ('audit '::text || (to_jsonb(h.hour) #>> '{}'::text[])) AS key,
    ((public.log_time(h.hour) || int8send(h.entries)) || h.hash) AS body
   FROM public.audit_hour h
UNION ALL
 SELECT (5)::smallint AS kind,
    ('key '::text || k.id) AS key,
    (public.log_field(convert_to(k.role, 'UTF8'::name)) || public.log_field(convert_to(k.value, 'UTF8'::name))) AS body
   FROM public.log_key k
UNION ALL
 SELECT (6)::smallint AS kind,
    ('archive '::text || a.manifest) AS key,
    (((public.log_time(((a.day)::timestamp without time zone AT TIME ZONE 'UTC'::text)) || int8send(a.entries)) || a.root) || a.sha256) AS body
   FROM public.journal_archive a
UNION ALL
 SELECT (8)::smallint AS kind,
    ('month '::text || to_char(m.m, 'YYYY-MM'::text)) AS key,
    (((public.log_time((m.m AT TIME ZONE 'UTC'::text)) || int8send(r.records)) || int8send(d.days)) || sha256(((('\x6c696e6570726f6f662065726173757265732031'::bytea || '\x0a'::bytea) || r.hashes) || d.list))) AS body
   FROM (((public.log_head h
     CROSS JOIN LATERAL generate_series(date_trunc('month'::text, (h.began AT TIME ZONE 'UTC'::text)), ((now() AT TIME ZONE 'UTC'::text) - '1 mon 1 day'::interval), '1 mon'::interval) m(m))
     CROSS JOIN LATERAL ( SELECT count(*) AS records,
            COALESCE(string_agg(j.hash, '\x'::bytea ORDER BY j.hash), '\x'::bytea) AS hashes
           FROM (public.erasure e
             JOIN public.journal_erased j ON ((j.erasure = e.id)))
          WHERE ((e.marked_at >= (m.m AT TIME ZONE 'UTC'::text)) AND (e.marked_at < ((m.m + '1 mon'::interval) AT TIME ZONE 'UTC'::text)))) r)
     CROSS JOIN LATERAL ( SELECT count(*) AS days,
            COALESCE(string_agg(public.log_time(((j.day)::timestamp without time zone AT TIME ZONE 'UTC'::text)), '\x'::bytea ORDER BY j.day), '\x'::bytea) AS list
           FROM (public.erasure e
             JOIN public.journal_erased_day j ON ((j.erasure = e.id)))
          WHERE ((e.marked_at >= (m.m AT TIME ZONE 'UTC'::text)) AND (e.marked_at < ((m.m + '1 mon'::interval) AT TIME ZONE 'UTC'::text)))) d);
-- Name: VIEW log_source; Type: COMMENT; Schema: public; Owner: -
COMMENT ON VIEW public.log_source IS 'The entries, other than those about batches, that the public log must have about what is in the database. Kind 2 is an import, 3 a version of the policy or the plan, 4 an hour of the audit trail, 5 a key of the log, 6 an archived day, 8 the erasures of a month.';
-- Name: log_note_months(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.log_note_months() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    BEGIN ATOMIC
 WITH added AS (
          INSERT INTO public.log_pending (kind, body)  SELECT s.kind,
                     s.body
                    FROM public.log_source s
                   WHERE ((s.kind = 8) AND (NOT (EXISTS ( SELECT
                            FROM public.log_entry l
                           WHERE ((l.kind = 8) AND (SUBSTRING(l.entry FROM 32 FOR 8) = SUBSTRING(s.body FROM 1 FOR 8)))))) AND (NOT (EXISTS ( SELECT
                            FROM public.log_pending p
                           WHERE ((p.kind = 8) AND (SUBSTRING(p.body FROM 1 FOR 8) = SUBSTRING(s.body FROM 1 FOR 8)))))))
                   ORDER BY s.key
           RETURNING 1 AS "?column?"
         )
  SELECT count(*) AS count
    FROM added;
END;
-- Name: FUNCTION log_note_months(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.log_note_months() IS 'Adds the erasures of the months that are over to log_pending, unless the public log has an entry about the month. Called with log_head locked.';
-- Name: refused_request_make_partitions(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.refused_request_make_partitions() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
DECLARE
    today   date := (now() AT TIME ZONE 'UTC')::date;
    child   text;
    changed integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('lineproof partitions of refused requests', 0));
    FOR day IN -1 .. 2 LOOP
        child := 'refused_request_' || to_char(today + day, 'YYYYMMDD');
        IF to_regclass('public.' || child) IS NULL THEN
            EXECUTE format('CREATE TABLE public.%I (LIKE public.refused_request INCLUDING ALL)', child);
            EXECUTE format('ALTER TABLE public.refused_request ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', child,
                to_char(today + day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(today + day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
            changed := changed + 1;
        END IF;
    END LOOP;
    FOR child IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'public.refused_request'::regclass AND c.relname ~ '^refused_request_[0-9]{8}$'
        AND to_date(right(c.relname, 8), 'YYYYMMDD') < today - 30
    LOOP
        EXECUTE format('DROP TABLE public.%I', child);
        changed := changed + 1;
    END LOOP;
    RETURN changed;
END
$_$;
-- Name: FUNCTION refused_request_make_partitions(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.refused_request_make_partitions() IS 'Creates the daily partitions of refused_request from yesterday to two days ahead, and drops those older than 30 days; returns how many it created or dropped.';
-- Name: river_job_state_in_bitmask(bit, public.river_job_state); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.river_job_state_in_bitmask(bitmask bit, state public.river_job_state) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;
-- Name: row_changed(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.row_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET bytea_output TO 'hex'
    AS $$
DECLARE
    key uuid := to_jsonb(NEW) ->> TG_ARGV[0];
    before_sum bytea;
    before_mac bytea;
    newest row_signed;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        before_sum := OLD.row_sum;
        before_mac := OLD.row_mac;
    END IF;
    SELECT * INTO newest FROM row_signed s WHERE s.table_name = TG_TABLE_NAME AND s.id = key ORDER BY n DESC LIMIT 1;
    RAISE NOTICE USING MESSAGE = 'lineproof: row changed', DETAIL = format('%s %s %s %s %s %s %s %s %s', TG_TABLE_NAME, key, encode(NEW.row_sum, 'hex'),
        TG_OP, encode(before_sum, 'hex'), encode(before_mac, 'hex'), coalesce(newest.n, 0), encode(newest.sum, 'hex'), encode(newest.mac, 'hex'));
    RETURN NULL;
END $$;
-- Name: FUNCTION row_changed(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.row_changed() IS 'Tells the session that it has to sign the row: table, id and sum, the sum and HMAC that the row had before, and the newest record of it. The argument is the primary key.';
-- Name: row_signed_next(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.row_signed_next() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    IF NEW.n > 1 + coalesce((SELECT max(n) FROM row_signed s WHERE s.table_name = NEW.table_name AND s.id = NEW.id), 0) THEN
        RAISE EXCEPTION 'the number of the record is not the next one' USING ERRCODE = 'check_violation', CONSTRAINT = 'row_signed_next';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
-- Name: FUNCTION row_signed_next(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.row_signed_next() IS 'Refuses a record whose number leaves a gap, and sets its time.';
-- Name: row_summed(); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.row_summed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET bytea_output TO 'hex'
    SET extra_float_digits TO '1'
    AS $$
DECLARE columns jsonb := to_jsonb(NEW);
BEGIN
    NEW.row_sum := sha256(convert_to((SELECT jsonb_object_agg(c, columns -> c) FROM unnest(TG_ARGV) c)::text, 'UTF8'));
    RETURN NEW;
END $$;
-- Name: FUNCTION row_summed(); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.row_summed() IS 'Sets row_sum to the SHA-256 of the columns that are its arguments, the primary key first. The settings keep it the same in every session.';
-- Name: access_channel; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.access_channel (
    name text NOT NULL
);
-- Name: TABLE access_channel; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.access_channel IS 'One row: the secret name of the channel on which nodes are notified of changed credentials.';
-- Name: access_given; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.access_given (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    subject_id uuid NOT NULL,
    by_id uuid NOT NULL,
    how text NOT NULL,
    before_staff boolean NOT NULL,
    at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT access_given_how_check CHECK ((how = ANY (ARRAY['founder'::text, 'created'::text, 'raised'::text, 'reset'::text, 'cosigned'::text])))
);
-- Name: TABLE access_given; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.access_given IS 'Who alone created, raised or reset the access of a member of staff or of a client. The two do not count as two people until a second administrator confirms who the person is.';
-- Name: COLUMN access_given.id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_given.id IS 'Names the row in reports; the rows are never changed.';
-- Name: COLUMN access_given.subject_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_given.subject_id IS 'The account of staff, or the client, that got access.';
-- Name: COLUMN access_given.by_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_given.by_id IS 'The account that gave it; the zero id for the operator at the command line.';
-- Name: COLUMN access_given.how; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_given.how IS 'founder: enrolled together with the other founders, which never counts. cosigned: a second administrator confirmed who the person is; at is when that was requested, and what was done before no longer counts.';
-- Name: COLUMN access_given.before_staff; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_given.before_staff IS 'By the operator while there were fewer than two administrators: it separates the subject from the operator, not from others whom the operator set up.';
-- Name: COLUMN access_given.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_given.row_sum IS 'As in account.';
-- Name: COLUMN access_given.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_given.row_mac IS 'As in account.';
-- Name: access_token; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.access_token (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    secret_id uuid NOT NULL,
    mac bytea NOT NULL,
    scopes text[] NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea
);
-- Name: TABLE access_token; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.access_token IS 'Access tokens of clients, as HMACs.';
-- Name: COLUMN access_token.secret_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_token.secret_id IS 'The secret that the client showed to get the token. The token ends with it.';
-- Name: COLUMN access_token.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_token.row_sum IS 'As in account.';
-- Name: COLUMN access_token.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.access_token.row_mac IS 'As in account.';
-- Name: account; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.account (
    id uuid NOT NULL,
    kind text NOT NULL,
    entity_id uuid,
    role text,
    makes_keys boolean DEFAULT false NOT NULL,
    supplies boolean DEFAULT false NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    phone bigint,
    password_hash text,
    has_factor boolean DEFAULT false NOT NULL,
    factor_id uuid,
    verified_at timestamp with time zone,
    verified_by text,
    disabled_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT account_check CHECK (((kind = 'staff'::text) = (entity_id IS NULL))),
    CONSTRAINT account_check1 CHECK (((kind = 'staff'::text) = (role IS NOT NULL))),
    CONSTRAINT account_check2 CHECK (((verified_at IS NULL) = (verified_by IS NULL))),
    CONSTRAINT account_kind_check CHECK ((kind = ANY (ARRAY['staff'::text, 'admin'::text, 'member'::text]))),
    CONSTRAINT account_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT account_role_check CHECK ((role = ANY (ARRAY['administrator'::text, 'reviewer'::text, 'auditor'::text]))),
    CONSTRAINT account_verified_by_check CHECK ((verified_by = ANY (ARRAY['email'::text, 'phone'::text, 'client'::text])))
);
-- Name: TABLE account; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.account IS 'A person who can log in: staff of the regulator, or an admin or member of an entity.';
-- Name: COLUMN account.makes_keys; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.makes_keys IS 'Whether a member of an entity may create and roll its live keys. Admins may in any case.';
-- Name: COLUMN account.supplies; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.supplies IS 'Whether a member of an entity that supplies lines may send its files. Admins may in any case.';
-- Name: COLUMN account.email; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.email IS 'The address as it was sent. email_key is its case-folded form, unique over all kinds of account.';
-- Name: COLUMN account.phone; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.phone IS 'E.164 without the plus sign, unique over all kinds of account.';
-- Name: COLUMN account.has_factor; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.has_factor IS 'Whether two-factor authentication is enabled. A trigger keeps it, so that a second factor cannot be deleted without changing the row that is signed.';
-- Name: COLUMN account.factor_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.factor_id IS 'Which one it is; kept in the same way, so that one that was replaced is not accepted.';
-- Name: COLUMN account.verified_by; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.verified_by IS 'What verified the account: its e-mail, its phone, or a client that may vouch for its admins.';
-- Name: COLUMN account.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.row_sum IS 'The SHA-256 of the columns that decide access. A trigger sets it.';
-- Name: COLUMN account.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.row_mac IS 'The HMAC of row_sum under a key that is not in the database, after the version of the key. A row whose HMAC is wrong gives no access.';
-- Name: account_link; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.account_link (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    kind text NOT NULL,
    mac bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT account_link_kind_check CHECK ((kind = ANY (ARRAY['confirm'::text, 'reset'::text, 'invite'::text])))
);
-- Name: TABLE account_link; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.account_link IS 'Links in e-mails, as HMACs of their tokens. Each works once, and its use also ends the others of its kind.';
-- Name: COLUMN account_link.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account_link.row_sum IS 'As in account.';
-- Name: COLUMN account_link.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account_link.row_mac IS 'As in account.';
-- Name: api_key; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.api_key (
    id uuid NOT NULL,
    entity_id uuid NOT NULL,
    name text NOT NULL,
    mode text NOT NULL,
    purpose text DEFAULT 'other'::text NOT NULL,
    purpose_text text DEFAULT ''::text NOT NULL,
    mac bytea NOT NULL,
    preview text NOT NULL,
    networks cidr[] DEFAULT '{}'::cidr[] NOT NULL,
    rate double precision DEFAULT 0 NOT NULL,
    burst integer DEFAULT 0 NOT NULL,
    rights text[] DEFAULT '{}'::text[] NOT NULL,
    replaces uuid,
    last_used_at timestamp with time zone,
    last_used_from inet,
    expires_at timestamp with time zone,
    expiry_notice integer,
    leak_notice_at timestamp with time zone,
    revoked_at timestamp with time zone,
    revoked_by uuid,
    created_at timestamp with time zone NOT NULL,
    created_by uuid,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT api_key_burst_check CHECK ((burst >= 0)),
    CONSTRAINT api_key_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT api_key_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
    CONSTRAINT api_key_purpose_text_check CHECK ((char_length(purpose_text) <= 100)),
    CONSTRAINT api_key_rate_check CHECK ((rate >= (0)::double precision))
);
-- Name: TABLE api_key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.api_key IS 'API keys of entities, as HMACs.';
-- Name: COLUMN api_key.purpose; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.purpose IS 'A code of the policy that was in effect when the key was created.';
-- Name: COLUMN api_key.purpose_text; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.purpose_text IS 'The purpose in the words that were entered, where the policy had no code for it.';
-- Name: COLUMN api_key.networks; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.networks IS 'The networks from which the key is accepted; empty means from anywhere.';
-- Name: COLUMN api_key.rate; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.rate IS 'Requests a second. 0 means the value in the settings; the same for burst.';
-- Name: COLUMN api_key.rights; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.rights IS 'What the key may do beyond verifying numbers; see package keyright.';
-- Name: COLUMN api_key.replaces; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.replaces IS 'The key whose successor this one is. A key has at most one successor.';
-- Name: COLUMN api_key.last_used_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.last_used_at IS 'Updated in coarse steps, together with last_used_from.';
-- Name: COLUMN api_key.expiry_notice; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.expiry_notice IS 'How many days before the expiry the organisation was last notified of it; null if it was not.';
-- Name: COLUMN api_key.leak_notice_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.leak_notice_at IS 'When the admins were last notified that somebody reported the key as leaked; null if they were not.';
-- Name: COLUMN api_key.created_by; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.created_by IS 'The account that created the key; null for the operator at the command line. The same for revoked_by.';
-- Name: COLUMN api_key.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.row_sum IS 'As in account.';
-- Name: COLUMN api_key.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.api_key.row_mac IS 'As in account.';
-- Name: approval; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.approval (
    id uuid NOT NULL,
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    entity_id uuid,
    details jsonb NOT NULL,
    reason text NOT NULL,
    state text NOT NULL,
    asked_kind text NOT NULL,
    asked_by uuid,
    asked_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_kind text,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejected_for text DEFAULT ''::text NOT NULL,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT approval_asked_kind_check CHECK ((asked_kind = ANY (ARRAY['account'::text, 'operator'::text]))),
    CONSTRAINT approval_check CHECK (((asked_kind = 'account'::text) = (asked_by IS NOT NULL))),
    CONSTRAINT approval_check1 CHECK (((COALESCE(decided_kind, ''::text) = 'account'::text) = (decided_by IS NOT NULL))),
    CONSTRAINT approval_check2 CHECK (((state = ANY (ARRAY['given'::text, 'refused'::text])) = (decided_kind IS NOT NULL))),
    CONSTRAINT approval_check3 CHECK (((decided_kind IS NULL) = (decided_at IS NULL))),
    CONSTRAINT approval_check4 CHECK (((rejected_for = ''::text) OR (state = 'refused'::text))),
    CONSTRAINT approval_decided_kind_check CHECK ((decided_kind = ANY (ARRAY['account'::text, 'operator'::text, 'system'::text]))),
    CONSTRAINT approval_kind_check CHECK (((char_length(kind) >= 1) AND (char_length(kind) <= 64))),
    CONSTRAINT approval_reason_check CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 500))),
    CONSTRAINT approval_rejected_for_check CHECK ((char_length(rejected_for) <= 500)),
    CONSTRAINT approval_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'given'::text, 'refused'::text, 'lapsed'::text]))),
    CONSTRAINT approval_two_people CHECK (((state <> 'given'::text) OR ((decided_kind IS DISTINCT FROM asked_kind) OR (decided_by IS DISTINCT FROM asked_by))))
);
-- Name: TABLE approval; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.approval IS 'Changes that need two people: a change takes effect when a second member of staff confirms it, in that transaction.';
-- Name: COLUMN approval.kind; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.kind IS 'The kind of change; the packages that make the changes define the kinds.';
-- Name: COLUMN approval.entity_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.entity_id IS 'The entity that the change concerns; null for none.';
-- Name: COLUMN approval.details; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.details IS 'The parameters of the change. Never a secret, an e-mail address or a phone number.';
-- Name: COLUMN approval.asked_by; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.asked_by IS 'The account that requested the change; null for the operator at the command line.';
-- Name: COLUMN approval.expires_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.expires_at IS 'From then on the request cannot be confirmed. Its state becomes lapsed when the same change is requested again.';
-- Name: COLUMN approval.decided_kind; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.decided_kind IS 'system: no second person; the requester used break-glass and confirmed it after the delay.';
-- Name: COLUMN approval.rejected_for; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.rejected_for IS 'Why the second person rejected it, for the requester to read; empty if the requester withdrew it without a word.';
-- Name: COLUMN approval.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.row_sum IS 'As in account.';
-- Name: COLUMN approval.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.approval.row_mac IS 'As in account.';
-- Name: CONSTRAINT approval_two_people ON approval; Type: COMMENT; Schema: public; Owner: -
COMMENT ON CONSTRAINT approval_two_people ON public.approval IS 'Nobody can confirm their own request, even if the program has a bug.';
-- Name: audit; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.audit (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_kind text NOT NULL,
    actor_id uuid,
    action text NOT NULL,
    subject_id uuid NOT NULL,
    entity_id uuid,
    request_id uuid,
    from_addr inet,
    before jsonb,
    after jsonb,
    CONSTRAINT audit_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'account'::text, 'key'::text, 'operator'::text, 'system'::text])))
);
-- Name: TABLE audit; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.audit IS 'The actions of staff, admins, clients, operators and the service itself, each written in the transaction of the action. Append-only; no foreign keys, so that an entry outlives its subject.';
-- Name: COLUMN audit.actor_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.audit.actor_id IS 'The client, account or API key that acted; null for the operator at the command line and for the service itself.';
-- Name: COLUMN audit.subject_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.audit.subject_id IS 'What was created or changed.';
-- Name: COLUMN audit.entity_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.audit.entity_id IS 'The entity that the action concerns; null for none.';
-- Name: COLUMN audit.from_addr; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.audit.from_addr IS 'The source address of the actor; null at the command line.';
-- Name: COLUMN audit.before; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.audit.before IS 'The old values of the changed fields. Secrets and personal data are masked.';
-- Name: COLUMN audit.after; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.audit.after IS 'The new values of the changed fields, and the reason if the action needs one. Masked in the same way.';
-- Name: break_glass; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.break_glass (
    approval_id uuid NOT NULL,
    reason text NOT NULL,
    at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT break_glass_reason_check CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 500)))
);
-- Name: TABLE break_glass; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.break_glass IS 'Requests that their requester may confirm alone, 24 hours after all staff were notified. Rows are never changed.';
-- Name: COLUMN break_glass.reason; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.break_glass.reason IS 'Why it cannot wait for a second person.';
-- Name: COLUMN break_glass.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.break_glass.row_sum IS 'As in account.';
-- Name: COLUMN break_glass.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.break_glass.row_mac IS 'As in account.';
-- Name: class_told; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.class_told (
    subject text NOT NULL,
    value text NOT NULL
);
-- Name: TABLE class_told; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.class_told IS 'What was last told to everybody who watches: the version of the policy and of the numbering plan, and whether the supply of each network is fresh or stale. Written with the entries of the feeds, so that a change is told once.';
-- Name: COLUMN class_told.subject; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.class_told.subject IS 'policy, plan, or supply and the code of a network.';
-- Name: client; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.client (
    id uuid NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    network text DEFAULT ''::text NOT NULL,
    vouches boolean DEFAULT false NOT NULL,
    sole boolean DEFAULT false NOT NULL,
    suspended_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT client_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);
-- Name: TABLE client; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.client IS 'A program of a pre-approved telco, or of another authority, that may request access tokens.';
-- Name: COLUMN client.network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client.network IS 'The network for which the client may supply lines; empty if it may supply none.';
-- Name: COLUMN client.vouches; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client.vouches IS 'Whether the admins that the client onboards are verified from the start.';
-- Name: COLUMN client.sole; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client.sole IS 'Whether the client belongs to the one organisation that it onboards. It onboards no other, and the admins of that organisation change its secrets.';
-- Name: COLUMN client.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client.row_sum IS 'As in account.';
-- Name: COLUMN client.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client.row_mac IS 'As in account.';
-- Name: client_secret; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.client_secret (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    mac bytea NOT NULL,
    preview text NOT NULL,
    waits boolean DEFAULT false NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea
);
-- Name: TABLE client_secret; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.client_secret IS 'The secrets of clients, as HMACs. A client can have two active secrets, so that it can rotate one.';
-- Name: COLUMN client_secret.waits; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client_secret.waits IS 'A second person has not confirmed yet that the client may use it.';
-- Name: COLUMN client_secret.last_used_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client_secret.last_used_at IS 'Updated in coarse steps. It shows when a rotated secret is no longer in use.';
-- Name: COLUMN client_secret.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client_secret.row_sum IS 'As in account.';
-- Name: COLUMN client_secret.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client_secret.row_mac IS 'As in account.';
-- Name: document; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.document (
    id uuid NOT NULL,
    entity_id uuid NOT NULL,
    type text NOT NULL,
    label text NOT NULL,
    file_name text NOT NULL,
    media_type text NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    uploader text NOT NULL,
    uploader_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    moved_at timestamp with time zone,
    replaced_by uuid,
    held_at timestamp with time zone,
    held_for text DEFAULT ''::text NOT NULL,
    CONSTRAINT document_held_check CHECK (((held_at IS NULL) = (held_for = ''::text))),
    CONSTRAINT document_held_for_check CHECK ((char_length(held_for) <= 500)),
    CONSTRAINT document_held_stays CHECK (((held_at IS NULL) OR (state <> 'deleted'::text))),
    CONSTRAINT document_note_check CHECK ((char_length(note) <= 500)),
    CONSTRAINT document_reason_check CHECK ((char_length(reason) <= 64)),
    CONSTRAINT document_sha256_check CHECK ((octet_length(sha256) = 32)),
    CONSTRAINT document_size_check CHECK ((size > 0)),
    CONSTRAINT document_state_check CHECK ((state = ANY (ARRAY['received'::text, 'scanning'::text, 'clean'::text, 'refused'::text, 'infected'::text, 'accepted'::text, 'rejected'::text, 'deleted'::text]))),
    CONSTRAINT document_uploader_check CHECK ((uploader = ANY (ARRAY['client'::text, 'account'::text])))
);
-- Name: TABLE document; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.document IS 'Documents that entities uploaded. The content is in the blob store under the id. The row stays when the content is deleted.';
-- Name: COLUMN document.label; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.label IS 'The type as it was sent; type is OTHER if it is none of the known types.';
-- Name: COLUMN document.file_name; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.file_name IS 'Metadata only, never used as a path.';
-- Name: COLUMN document.state; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.state IS 'The current state; document_move has the history. The content can be opened only in the states clean, accepted and rejected.';
-- Name: COLUMN document.reason; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.reason IS 'A code for why it is in this state; empty if the state needs no reason.';
-- Name: COLUMN document.note; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.note IS 'The reason in words: a message of the service to the uploader, or the reviewer''s own.';
-- Name: COLUMN document.moved_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.moved_at IS 'When it entered this state; null if it is still in its first state.';
-- Name: COLUMN document.replaced_by; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.replaced_by IS 'The document that was uploaded to replace this one, which was rejected, refused or infected.';
-- Name: COLUMN document.held_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.held_at IS 'Since when a legal hold prevents its deletion by anyone, including retention; null if there is none.';
-- Name: COLUMN document.held_for; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.held_for IS 'The reason of the legal hold.';
-- Name: document_move; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.document_move (
    document_id uuid NOT NULL,
    seq integer NOT NULL,
    at timestamp with time zone NOT NULL,
    from_state text NOT NULL,
    to_state text NOT NULL,
    actor_kind text NOT NULL,
    actor_id uuid,
    reason text NOT NULL,
    note text NOT NULL,
    CONSTRAINT document_move_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'account'::text, 'operator'::text, 'system'::text]))),
    CONSTRAINT document_move_note_check CHECK ((char_length(note) <= 500)),
    CONSTRAINT document_move_reason_check CHECK ((char_length(reason) <= 64)),
    CONSTRAINT document_move_seq_check CHECK ((seq > 0)),
    CONSTRAINT document_move_way CHECK (((((((((((((((from_state = 'received'::text) AND (to_state = 'scanning'::text)) OR ((from_state = 'scanning'::text) AND (to_state = 'clean'::text))) OR ((from_state = 'scanning'::text) AND (to_state = 'refused'::text))) OR ((from_state = 'scanning'::text) AND (to_state = 'infected'::text))) OR ((from_state = 'refused'::text) AND (to_state = 'received'::text))) OR ((from_state = 'infected'::text) AND (to_state = 'received'::text))) OR ((from_state = 'clean'::text) AND (to_state = 'accepted'::text))) OR ((from_state = 'clean'::text) AND (to_state = 'rejected'::text))) OR ((from_state = 'clean'::text) AND (to_state = 'deleted'::text))) OR ((from_state = 'refused'::text) AND (to_state = 'deleted'::text))) OR ((from_state = 'infected'::text) AND (to_state = 'deleted'::text))) OR ((from_state = 'accepted'::text) AND (to_state = 'deleted'::text))) OR ((from_state = 'rejected'::text) AND (to_state = 'deleted'::text))))
);
-- Name: TABLE document_move; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.document_move IS 'Every change of state of every document, written in the transaction that made it. Append-only: the serving role may not change a row, and a trigger refuses it even to the owner.';
-- Name: COLUMN document_move.seq; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document_move.seq IS 'Counts the changes of one document from 1. Its upload, in the state received, is not a change.';
-- Name: CONSTRAINT document_move_way ON document_move; Type: COMMENT; Schema: public; Owner: -
COMMENT ON CONSTRAINT document_move_way ON public.document_move IS 'The allowed changes of state. A document becomes clean only after scanning, even if the program has a bug.';
-- Name: entity; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.entity (
    id uuid NOT NULL,
    name text NOT NULL,
    cac text NOT NULL,
    cac_class text,
    cac_digits text,
    status text NOT NULL,
    status_reason text DEFAULT ''::text NOT NULL,
    status_since timestamp with time zone,
    document_required boolean NOT NULL,
    supplies boolean NOT NULL,
    asks boolean NOT NULL,
    client_id uuid,
    token_id uuid,
    created_at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT entity_cac_check CHECK (((char_length(cac) >= 1) AND (char_length(cac) <= 32))),
    CONSTRAINT entity_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT entity_status_check CHECK ((status = ANY (ARRAY['Approved'::text, 'Suspended'::text, 'Revoked'::text]))),
    CONSTRAINT entity_status_reason_check CHECK ((char_length(status_reason) <= 500))
);
-- Name: TABLE entity; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.entity IS 'A telco, bank or service provider that the regulator has admitted.';
-- Name: COLUMN entity.cac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.cac IS 'The CAC number as it was sent. cac_class and cac_digits are its canonical form; null if its form is not known.';
-- Name: COLUMN entity.status; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.status IS 'Only the keys and sessions of an Approved entity are accepted.';
-- Name: COLUMN entity.status_reason; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.status_reason IS 'The reason that staff gave for the last change of the status; empty if it never changed.';
-- Name: COLUMN entity.status_since; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.status_since IS 'When the status changed last; null if it never did.';
-- Name: COLUMN entity.supplies; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.supplies IS 'Whether the entity supplies lines.';
-- Name: COLUMN entity.asks; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.asks IS 'Whether the entity may send verification requests.';
-- Name: COLUMN entity.client_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.client_id IS 'The sponsor of the entity: the client that onboarded it, whose credential is the pre-approval; null for the regulator, whose staff or operator created it. The guard counts entities of one client together.';
-- Name: COLUMN entity.token_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.token_id IS 'The access token that onboarded the entity. An upload with that token that names no entity belongs to the last one it onboarded.';
-- Name: COLUMN entity.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.row_sum IS 'As in account.';
-- Name: COLUMN entity.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.row_mac IS 'As in account.';
-- Name: entity_limit; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.entity_limit (
    entity_id uuid NOT NULL,
    rate double precision DEFAULT 0 NOT NULL,
    burst integer DEFAULT 0 NOT NULL,
    day_quota bigint DEFAULT 0 NOT NULL,
    month_quota bigint DEFAULT 0 NOT NULL,
    day_numbers bigint DEFAULT 0 NOT NULL,
    year_numbers bigint DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT entity_limit_burst_check CHECK ((burst >= 0)),
    CONSTRAINT entity_limit_day_numbers_check CHECK ((day_numbers >= 0)),
    CONSTRAINT entity_limit_day_quota_check CHECK ((day_quota >= 0)),
    CONSTRAINT entity_limit_month_quota_check CHECK ((month_quota >= 0)),
    CONSTRAINT entity_limit_rate_check CHECK ((rate >= (0)::double precision)),
    CONSTRAINT entity_limit_year_numbers_check CHECK ((year_numbers >= 0))
);
-- Name: TABLE entity_limit; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.entity_limit IS 'Limits that staff set for an entity. 0 means the value in the settings.';
-- Name: COLUMN entity_limit.day_numbers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity_limit.day_numbers IS 'How many different numbers the entity may verify in a day.';
-- Name: COLUMN entity_limit.year_numbers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity_limit.year_numbers IS 'How many different numbers the entity may verify in a year: its licensed size.';
-- Name: COLUMN entity_limit.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity_limit.row_sum IS 'As in account.';
-- Name: COLUMN entity_limit.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity_limit.row_mac IS 'As in account.';
-- Name: feed_entry; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.feed_entry (
    entity_id uuid NOT NULL,
    mode text NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    number bigint,
    epoch integer NOT NULL,
    type text NOT NULL,
    body bytea,
    digest bytea,
    hash bytea NOT NULL,
    CONSTRAINT feed_entry_check CHECK (((body IS NULL) = (digest IS NOT NULL))),
    CONSTRAINT feed_entry_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT feed_entry_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT feed_entry_seq_check CHECK ((seq > 0))
)
PARTITION BY RANGE (at);
-- Name: TABLE feed_entry; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.feed_entry IS 'The entries of the feeds, without gaps. Append-only for the service; only the owner erases a body.';
-- Name: COLUMN feed_entry.number; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_entry.number IS 'The number that the entry is about, so that it can be erased; null if it is about none.';
-- Name: COLUMN feed_entry.type; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_entry.type IS 'The type of the event, without org.lineproof.';
-- Name: COLUMN feed_entry.body; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_entry.body IS 'The event as canonical JSON (RFC 8785), without the member lpchain. Null if it was erased.';
-- Name: COLUMN feed_entry.digest; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_entry.digest IS 'SHA-256 of an erased body, so that the chain can still be checked. The body had a salt: the digest does not betray it.';
-- Name: COLUMN feed_entry.hash; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_entry.hash IS 'SHA-256(hash of the entry before || SHA-256(body)).';
-- Name: feed_epoch; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.feed_epoch (
    one boolean DEFAULT true NOT NULL,
    epoch integer NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT feed_epoch_epoch_check CHECK ((epoch > 0)),
    CONSTRAINT feed_epoch_one_check CHECK (one)
);
-- Name: TABLE feed_epoch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.feed_epoch IS 'One row: the epoch of every feed. Only the owner raises it, after a restore from a backup.';
-- Name: COLUMN feed_epoch.epoch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_epoch.epoch IS 'After a restore: the time in seconds since 2020-01-01 UTC, so that two restores of the same backup give two epochs.';
-- Name: feed_head; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.feed_head (
    entity_id uuid NOT NULL,
    mode text NOT NULL,
    epoch integer DEFAULT 1 NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    hash bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
    CONSTRAINT feed_head_epoch_check CHECK ((epoch > 0)),
    CONSTRAINT feed_head_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT feed_head_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT feed_head_seq_check CHECK ((seq >= 0))
)
WITH (fillfactor='50');
-- Name: TABLE feed_head; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.feed_head IS 'The end of each feed: what an entity is told, in one order. Who adds entries locks the row.';
-- Name: COLUMN feed_head.epoch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_head.epoch IS 'Raised after a restore from a backup, so that no id is given twice.';
-- Name: COLUMN feed_head.seq; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_head.seq IS 'Of the last entry; 0 before the first.';
-- Name: COLUMN feed_head.hash; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_head.hash IS 'Of the last entry; zeros before the first.';
-- Name: feed_segment; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.feed_segment (
    day date NOT NULL,
    file uuid NOT NULL,
    key bytea,
    sha256 bytea NOT NULL,
    entries bigint NOT NULL,
    bytes bigint NOT NULL,
    written_at timestamp with time zone NOT NULL,
    lapsed_at timestamp with time zone,
    CONSTRAINT feed_segment_check CHECK (((key IS NULL) = (lapsed_at IS NOT NULL))),
    CONSTRAINT feed_segment_entries_check CHECK ((entries > 0)),
    CONSTRAINT feed_segment_key_check CHECK ((octet_length(key) = 32)),
    CONSTRAINT feed_segment_sha256_check CHECK ((octet_length(sha256) = 32))
);
-- Name: TABLE feed_segment; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.feed_segment IS 'The old days of the feeds, each in an encrypted file of the blob store. Only the owner reads and writes it.';
-- Name: COLUMN feed_segment.key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_segment.key IS 'The key of the file (AES-256-GCM). Null once it has lapsed: then nobody can read the file, wherever copies of it are.';
-- Name: COLUMN feed_segment.sha256; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.feed_segment.sha256 IS 'Of the encrypted file.';
-- Name: file_job; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.file_job (
    id uuid NOT NULL,
    entity_id uuid NOT NULL,
    mode text NOT NULL,
    key_id uuid NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    file uuid,
    bytes bigint DEFAULT 0 NOT NULL,
    rows bigint DEFAULT 0 NOT NULL,
    place bigint DEFAULT 0 NOT NULL,
    answered bigint DEFAULT 0 NOT NULL,
    rejected bigint DEFAULT 0 NOT NULL,
    numbers bigint DEFAULT 0 NOT NULL,
    missed bigint DEFAULT 0 NOT NULL,
    dense bigint DEFAULT 0 NOT NULL,
    block bigint DEFAULT 0 NOT NULL,
    steps bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    result uuid,
    kept_until timestamp with time zone,
    CONSTRAINT file_job_answered_check CHECK ((answered >= 0)),
    CONSTRAINT file_job_bytes_check CHECK ((bytes >= 0)),
    CONSTRAINT file_job_check CHECK (((state = 'done'::text) = (kept_until IS NOT NULL))),
    CONSTRAINT file_job_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT file_job_place_check CHECK ((place >= 0)),
    CONSTRAINT file_job_rejected_check CHECK ((rejected >= 0)),
    CONSTRAINT file_job_rows_check CHECK ((rows >= 0)),
    CONSTRAINT file_job_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'checking'::text, 'held'::text, 'running'::text, 'writing'::text, 'done'::text, 'cancelled'::text, 'failed'::text])))
)
WITH (fillfactor='50');
-- Name: TABLE file_job; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.file_job IS 'Files of numbers that organisations send to be verified. The numbers are in the file store, never here.';
-- Name: COLUMN file_job.key_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job.key_id IS 'The key under which every row is recorded.';
-- Name: COLUMN file_job.reason; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job.reason IS 'Why it failed.';
-- Name: COLUMN file_job.file; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job.file IS 'With the id, the entity and the mode, the name of the sent file in the store; null before it is sent and once it is deleted.';
-- Name: COLUMN file_job.rows; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job.rows IS 'Rows of the file; known once it is checked.';
-- Name: COLUMN file_job.place; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job.place IS 'The line of the file up to which its rows are recorded; 0 before the first.';
-- Name: COLUMN file_job.numbers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job.numbers IS 'Different numbers of a live file; about how many of them are not allocated (missed), how many lie in dense blocks of the size block, and in equal steps. For staff only.';
-- Name: COLUMN file_job.result; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job.result IS 'The name of the result in the store, which is made of the id, the entity and the mode; null before it is written and once it is deleted.';
-- Name: COLUMN file_job.kept_until; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job.kept_until IS 'When the result is deleted.';
-- Name: file_job_chunk; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.file_job_chunk (
    job uuid NOT NULL,
    place bigint NOT NULL,
    epoch bigint,
    n bigint,
    at timestamp with time zone,
    unanswered bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    reasons text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT file_job_chunk_check CHECK ((num_nulls(epoch, n, at) = ANY (ARRAY[0, 3]))),
    CONSTRAINT file_job_chunk_check1 CHECK ((cardinality(unanswered) = cardinality(reasons))),
    CONSTRAINT file_job_chunk_place_check CHECK ((place > 0))
);
-- Name: TABLE file_job_chunk; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.file_job_chunk IS 'Which batch of the journal has the records of which rows of a file job, until its result is deleted. Inserted in the transaction of the batch.';
-- Name: COLUMN file_job_chunk.place; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job_chunk.place IS 'The line of the file after the chunk. It begins at the place of the chunk before.';
-- Name: COLUMN file_job_chunk.epoch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job_chunk.epoch IS 'With n and at the key of the batch; null if no row of the chunk has a record.';
-- Name: COLUMN file_job_chunk.unanswered; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job_chunk.unanswered IS 'Lines whose number could be read and has no answer, because a test number simulates an error.';
-- Name: COLUMN file_job_chunk.reasons; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.file_job_chunk.reasons IS 'Why, for each of them.';
-- Name: goose_db_version; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.goose_db_version (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
-- Name: TABLE goose_db_version; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.goose_db_version IS 'Belongs to goose: which migrations were applied.';
-- Name: goose_db_version_id_seq; Type: SEQUENCE; Schema: public; Owner: -
ALTER TABLE public.goose_db_version ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.goose_db_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
-- Name: guard_alert; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.guard_alert (
    id uuid NOT NULL,
    entity_id uuid,
    sponsor_id uuid,
    kind text NOT NULL,
    level text NOT NULL,
    since timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    node text NOT NULL,
    numbers bigint NOT NULL,
    misses bigint NOT NULL,
    dense bigint NOT NULL,
    block bigint NOT NULL,
    budget bigint NOT NULL,
    released_at timestamp with time zone,
    released_by uuid,
    reason text,
    quiet_until timestamp with time zone,
    CONSTRAINT guard_alert_check CHECK ((num_nonnulls(entity_id, sponsor_id) = 1)),
    CONSTRAINT guard_alert_check1 CHECK (((released_at IS NULL) = (reason IS NULL))),
    CONSTRAINT guard_alert_check2 CHECK (((kind = ANY (ARRAY['budget'::text, 'year'::text, 'year-nearly'::text, 'file'::text, 'lists'::text])) = (ends_at IS NOT NULL))),
    CONSTRAINT guard_alert_kind_check CHECK ((kind = ANY (ARRAY['budget'::text, 'density'::text, 'misses'::text, 'year'::text, 'year-nearly'::text, 'harvest'::text, 'harvest-misses'::text, 'file'::text, 'lists'::text]))),
    CONSTRAINT guard_alert_level_check CHECK ((level = ANY (ARRAY['told'::text, 'slowed'::text, 'stopped'::text]))),
    CONSTRAINT guard_alert_reason_check CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 500)))
);
-- Name: TABLE guard_alert; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.guard_alert IS 'Entities whose requests look like number scanning, or that used up their budget of different numbers, with the figures and how the alert ended.';
-- Name: COLUMN guard_alert.sponsor_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_alert.sponsor_id IS 'The client, if the alert is about all entities that it onboarded.';
-- Name: COLUMN guard_alert.level; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_alert.level IS 'The consequence: told, staff are notified; slowed, a tenth of the rate; stopped, no answers. The last two remain until staff release the entity.';
-- Name: COLUMN guard_alert.ends_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_alert.ends_at IS 'When the alert ends by itself. Only an alert about a budget, a held file or watch-lists does: at the end of the day, or of the month for a year''s budget that is nearly used up.';
-- Name: COLUMN guard_alert.numbers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_alert.numbers IS 'Different numbers, as the node counted them: within a day, or within the year for the kinds year, year-nearly, harvest and harvest-misses.';
-- Name: COLUMN guard_alert.dense; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_alert.dense IS 'How many of them are in blocks that are denser than chance allows; block is the size of those blocks, 0 if none was dense.';
-- Name: COLUMN guard_alert.released_by; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_alert.released_by IS 'The account that released the entity; null for the operator at the command line.';
-- Name: COLUMN guard_alert.quiet_until; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_alert.quiet_until IS 'Until then the entity is not slowed or stopped again.';
-- Name: guard_entered; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.guard_entered (
    subject_id uuid NOT NULL,
    year integer NOT NULL,
    is_sponsor boolean NOT NULL,
    version bigint NOT NULL,
    numbers bytea NOT NULL,
    file_day bigint DEFAULT 0 NOT NULL,
    file_spent bigint DEFAULT 0 NOT NULL,
    file_judged bigint DEFAULT 0 NOT NULL,
    file_missed bigint DEFAULT 0 NOT NULL,
    file_day_blocks bytea DEFAULT '\x'::bytea NOT NULL,
    file_since timestamp with time zone,
    file_numbers bytea DEFAULT '\x'::bytea NOT NULL,
    file_blocks bytea DEFAULT '\x'::bytea NOT NULL,
    lists_held bigint DEFAULT 0 NOT NULL,
    lists_deleted bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.guard_entered ALTER COLUMN numbers SET STORAGE EXTERNAL;
-- Name: TABLE guard_entered; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.guard_entered IS 'The different numbers that each entity, and each sponsor, has put into watch-lists in a year (UTC): they spend the same yearly budget as verifications. No number is stored: a sketch counts them. Written in the transaction that changes the list; deleted with the year.';
-- Name: COLUMN guard_entered.subject_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_entered.subject_id IS 'The entity, or the client if is_sponsor is set.';
-- Name: COLUMN guard_entered.version; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_entered.version IS 'Increases with each change, so that nodes read only what they do not know.';
-- Name: COLUMN guard_entered.numbers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_entered.numbers IS 'A HyperLogLog sketch with 2^14 registers of a byte, with the hashes of guard_year.';
-- Name: COLUMN guard_entered.file_day; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_entered.file_day IS 'The day, counted from 1970 (UTC), of whose files file_spent, file_judged, file_missed and file_day_blocks tell.';
-- Name: COLUMN guard_entered.file_spent; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_entered.file_spent IS 'Different numbers of each file, added up; file_judged are those of files that were not held, and file_missed about how many of these are not allocated.';
-- Name: COLUMN guard_entered.file_day_blocks; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_entered.file_day_blocks IS 'Where the numbers of the files of the day are, as in guard_year.blocks; file_numbers (a sketch with 2^12 registers) and file_blocks are those of the year since file_since, the last release.';
-- Name: COLUMN guard_entered.lists_held; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_entered.lists_held IS 'Live watch-lists of the entity that were held in the year; lists_deleted are those that it deleted.';
-- Name: guard_key; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.guard_key (
    key bytea NOT NULL,
    CONSTRAINT guard_key_key_check CHECK ((octet_length(key) = 16))
);
-- Name: TABLE guard_key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.guard_key IS 'One row: the secret key of the hashes in guard_year.';
-- Name: guard_seen; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.guard_seen (
    node text NOT NULL,
    n bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    seen bytea NOT NULL
);
-- Name: TABLE guard_seen; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.guard_seen IS 'Which numbers each entity verified on each node, for the other nodes, so that all of them judge the same. Deleted after 25 hours; read by nobody else.';
-- Name: COLUMN guard_seen.n; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_seen.n IS 'Increases with each report of a node.';
-- Name: COLUMN guard_seen.seen; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_seen.seen IS 'For each entity: its id, that of the client that onboarded it, how many numbers follow, and each as its difference from the one before; see internal/access/guard.';
-- Name: guard_year; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.guard_year (
    subject_id uuid NOT NULL,
    year integer NOT NULL,
    is_sponsor boolean NOT NULL,
    sponsor_id uuid,
    since timestamp with time zone,
    stored_at timestamp with time zone NOT NULL,
    counted bigint NOT NULL,
    numbers bytea NOT NULL,
    recent bytea NOT NULL,
    missed bytea NOT NULL,
    blocks bytea NOT NULL,
    CONSTRAINT guard_year_counted_check CHECK ((counted >= 0))
);
-- Name: TABLE guard_year; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.guard_year IS 'How many different numbers each entity, and each sponsor, has verified in a year (UTC), and how much of each block of 10,000. No number is stored: sketches count them. Written about once an hour; deleted with the year.';
-- Name: COLUMN guard_year.subject_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_year.subject_id IS 'The entity, or the client if is_sponsor is set.';
-- Name: COLUMN guard_year.sponsor_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_year.sponsor_id IS 'The client that onboarded the entity.';
-- Name: COLUMN guard_year.since; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_year.since IS 'When staff last released the subject from an alert about the year; recent, missed and blocks begin there.';
-- Name: COLUMN guard_year.counted; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_year.counted IS 'The estimate of different numbers in the year, within 1 %.';
-- Name: COLUMN guard_year.numbers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_year.numbers IS 'A HyperLogLog sketch of the numbers, with 2^14 registers of a byte; recent and missed (those not allocated) have 2^12. See internal/access/guard/sketch/counter.go.';
-- Name: COLUMN guard_year.blocks; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.guard_year.blocks IS 'For each block of 10,000 numbers its difference from the one before, and 64 bits, each of which stands for some twenty numbers; see internal/access/guard/sketch/blocks.go.';
-- Name: hook_attempt; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.hook_attempt (
    endpoint_id uuid NOT NULL,
    n bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    message text NOT NULL,
    first_seq bigint,
    last_seq bigint,
    events integer NOT NULL,
    status integer,
    error text NOT NULL,
    took_ms integer NOT NULL,
    answer bytea NOT NULL,
    CONSTRAINT hook_attempt_answer_check CHECK ((octet_length(answer) <= 1024)),
    CONSTRAINT hook_attempt_kind_check CHECK ((kind = ANY (ARRAY['events'::text, 'test'::text, 'again'::text, 'challenge'::text])))
);
-- Name: TABLE hook_attempt; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.hook_attempt IS 'The last requests to each endpoint, about 1,000, for its owner. What was sent is not stored.';
-- Name: COLUMN hook_attempt.status; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_attempt.status IS 'Of the answer; null if there was none.';
-- Name: COLUMN hook_attempt.answer; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_attempt.answer IS 'The first 1,024 bytes of the answer.';
-- Name: hook_cursor; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.hook_cursor (
    endpoint_id uuid NOT NULL,
    seq bigint NOT NULL,
    lease bigint DEFAULT 0 NOT NULL,
    node text DEFAULT ''::text NOT NULL,
    leased_until timestamp with time zone,
    attempts bigint DEFAULT 0 NOT NULL,
    delivered_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    next_at timestamp with time zone,
    notified_at timestamp with time zone,
    refusals integer DEFAULT 0 NOT NULL,
    refused_since timestamp with time zone,
    manual_at timestamp with time zone
)
WITH (fillfactor='50');
-- Name: TABLE hook_cursor; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.hook_cursor IS 'How far each endpoint has got in its feed, which node sends to it, and how it fails.';
-- Name: COLUMN hook_cursor.seq; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_cursor.seq IS 'Of the last entry of the feed that the endpoint has accepted, or that was put aside.';
-- Name: COLUMN hook_cursor.lease; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_cursor.lease IS 'Counts the leases. Only the sender with the last one may move the cursor.';
-- Name: COLUMN hook_cursor.notified_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_cursor.notified_at IS 'When the admins were told that the endpoint fails.';
-- Name: COLUMN hook_cursor.refusals; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_cursor.refusals IS 'How often the endpoint refused the entry after seq as malformed.';
-- Name: COLUMN hook_cursor.manual_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_cursor.manual_at IS 'When somebody last asked for a request to the endpoint.';
-- Name: hook_dead; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.hook_dead (
    endpoint_id uuid NOT NULL,
    seq bigint NOT NULL,
    type text NOT NULL,
    refusals integer NOT NULL,
    died_at timestamp with time zone NOT NULL,
    status integer NOT NULL,
    answer bytea NOT NULL,
    sent_at timestamp with time zone,
    CONSTRAINT hook_dead_answer_check CHECK ((octet_length(answer) <= 1024))
);
-- Name: TABLE hook_dead; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.hook_dead IS 'Entries of feeds that an endpoint refused as malformed so often that the sender went on without them. They can be sent again.';
-- Name: COLUMN hook_dead.sent_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_dead.sent_at IS 'When the endpoint accepted the entry after all.';
-- Name: hook_endpoint; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.hook_endpoint (
    id uuid NOT NULL,
    entity_id uuid NOT NULL,
    mode text NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    form text NOT NULL,
    algorithm text NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    key bytea NOT NULL,
    previous_key bytea,
    previous_until timestamp with time zone,
    version bigint DEFAULT 1 NOT NULL,
    made_by_key uuid,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT hook_endpoint_algorithm_check CHECK ((algorithm = ANY (ARRAY['ed25519'::text, 'hmac'::text]))),
    CONSTRAINT hook_endpoint_form_check CHECK ((form = ANY (ARRAY['batch'::text, 'single'::text]))),
    CONSTRAINT hook_endpoint_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT hook_endpoint_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
    CONSTRAINT hook_endpoint_reason_check CHECK ((reason = ANY (ARRAY[''::text, 'gone'::text, 'failing'::text]))),
    CONSTRAINT hook_endpoint_state_check CHECK ((state = ANY (ARRAY['unconfirmed'::text, 'active'::text, 'paused'::text, 'disabled'::text]))),
    CONSTRAINT hook_endpoint_url_check CHECK ((octet_length(url) <= 2000))
);
-- Name: TABLE hook_endpoint; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.hook_endpoint IS 'The addresses to which the feeds of entities are sent.';
-- Name: COLUMN hook_endpoint.state; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_endpoint.state IS 'Only an active endpoint gets events. A new one is unconfirmed until it has answered a challenge; the service disables one that is gone or fails for days.';
-- Name: COLUMN hook_endpoint.reason; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_endpoint.reason IS 'Why it is disabled: gone, it answered 410; failing, it accepted nothing for three days.';
-- Name: COLUMN hook_endpoint.key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_endpoint.key IS 'The key that signs, encrypted under a key that is derived from the pepper, together with id, entity, mode and URL: in a row that was changed elsewhere it cannot be decrypted.';
-- Name: COLUMN hook_endpoint.previous_key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_endpoint.previous_key IS 'The key before the last roll, which also signs until previous_until.';
-- Name: COLUMN hook_endpoint.version; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_endpoint.version IS 'Increases with each change, so that senders notice it.';
-- Name: COLUMN hook_endpoint.made_by_key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.hook_endpoint.made_by_key IS 'The API key that created it; null if a person did, or resumed or confirmed it after that key was revoked. An endpoint whose key is revoked gets no events, whatever its state.';
-- Name: idempotency; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.idempotency (
    caller uuid NOT NULL,
    operation text NOT NULL,
    key_mac bytea NOT NULL,
    body_mac bytea NOT NULL,
    answer bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    replayed_at timestamp with time zone
);
-- Name: TABLE idempotency; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.idempotency IS 'The first response to a request with an Idempotency-Key, kept for a day and written in the transaction of its effect.';
-- Name: COLUMN idempotency.replayed_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.idempotency.replayed_at IS 'Written at every replay: the commit of that write proves that the first one is durable, too.';
-- Name: impact_notice; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.impact_notice (
    request_id uuid NOT NULL,
    events bigint NOT NULL,
    entity_id uuid NOT NULL,
    event_id text NOT NULL,
    told_at timestamp with time zone NOT NULL,
    acknowledged_at timestamp with time zone,
    digest bytea,
    CONSTRAINT impact_notice_digest_check CHECK ((octet_length(digest) = 32))
);
-- Name: TABLE impact_notice; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.impact_notice IS 'The answers of which an entity was told that they would be different now, with the entry of its feed. The last notice of an answer is the one that counts. Has no number, so that erasing a number leaves nothing here.';
-- Name: COLUMN impact_notice.events; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.impact_notice.events IS 'How many events about the number the answer was recomputed by. It orders the notices of an answer, also when two passes find the same answer at once.';
-- Name: COLUMN impact_notice.event_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.impact_notice.event_id IS 'The id of the event in the feed of the live keys, which the entity acknowledges.';
-- Name: COLUMN impact_notice.acknowledged_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.impact_notice.acknowledged_at IS 'When the entity confirmed that it has dealt with the notice.';
-- Name: COLUMN impact_notice.digest; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.impact_notice.digest IS 'SHA-256 of what the answer would say, so that it is told once; null if it would again say what it said.';
-- Name: journal_archive_run; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_archive_run (
    day date NOT NULL,
    node text NOT NULL,
    epoch bigint NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL
);
-- Name: TABLE journal_archive_run; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_archive_run IS 'The numbers of the batches of archived days, as runs without a gap. Only the owner adds rows.';
-- Name: journal_batch; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_batch (
    node text NOT NULL,
    epoch bigint NOT NULL,
    n bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    count integer NOT NULL,
    root bytea NOT NULL,
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT journal_batch_count_check CHECK ((count > 0)),
    CONSTRAINT journal_batch_root_check CHECK ((octet_length(root) = 32))
)
PARTITION BY RANGE (at);
-- Name: TABLE journal_batch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_batch IS 'One flush of the journal: the number of its entries, their Merkle root, and the transaction that wrote them. Append-only.';
-- Name: COLUMN journal_batch.at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_batch.at IS 'The time of all its entries. It is fixed before the batch is written, so that a retry conflicts with the same key.';
-- Name: journal_checked; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_checked (
    day date NOT NULL,
    checked_at timestamp with time zone NOT NULL,
    batches bigint NOT NULL,
    entries bigint NOT NULL,
    erased bigint NOT NULL,
    root bytea NOT NULL,
    findings bigint NOT NULL,
    CONSTRAINT journal_checked_root_check CHECK ((octet_length(root) = 32))
);
-- Name: TABLE journal_checked; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_checked IS 'The last check of each day that has ended, so that lineproof journal check --new can skip it. A convenience and no evidence: whoever can change the journal can change this, too.';
-- Name: COLUMN journal_checked.erased; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_checked.erased IS 'How many records had no personal part any more.';
-- Name: COLUMN journal_checked.root; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_checked.root IS 'Merkle root (RFC 6962) over the roots of the batches by time, epoch, number and node, as an archive of the day has it.';
-- Name: journal_day; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_day (
    entity_id uuid NOT NULL,
    day date NOT NULL,
    mode text NOT NULL,
    status text NOT NULL,
    n bigint NOT NULL,
    CONSTRAINT journal_day_n_check CHECK ((n > 0))
)
WITH (fillfactor='70');
-- Name: TABLE journal_day; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_day IS 'The number of answers by entity, day (UTC), mode and status, counted from the journal by a job; under the zero entity that of all. Rows stay when the day is archived.';
-- Name: journal_entry; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_entry (
    at timestamp with time zone NOT NULL,
    epoch bigint NOT NULL,
    n bigint NOT NULL,
    number bigint NOT NULL,
    line_version bigint NOT NULL,
    idx integer NOT NULL,
    policy_version integer NOT NULL,
    plan_version integer NOT NULL,
    rules integer NOT NULL,
    request_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    key_id uuid NOT NULL,
    type text NOT NULL,
    mode text NOT NULL,
    purpose text NOT NULL,
    purpose_text text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    mobile_network text NOT NULL,
    coverage bytea NOT NULL,
    phone_number text NOT NULL,
    correlator text NOT NULL,
    external_id text NOT NULL,
    on_behalf_of text NOT NULL,
    options text NOT NULL,
    extra text NOT NULL,
    nonce bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT journal_entry_coverage_check CHECK ((octet_length(coverage) = 39)),
    CONSTRAINT journal_entry_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT journal_entry_nonce_check CHECK ((octet_length(nonce) = ANY (ARRAY[16, 32])))
)
PARTITION BY RANGE (at);
-- Name: TABLE journal_entry; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_entry IS 'Every answer of the service, committed before it was sent. Append-only; joins nothing.';
-- Name: COLUMN journal_entry.at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_entry.at IS 'The verificationTimestamp of the answer, which is also the time inside request_id.';
-- Name: COLUMN journal_entry.coverage; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_entry.coverage IS 'The coverage of the supply that decided the answer, by topic.';
-- Name: COLUMN journal_entry.extra; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_entry.extra IS 'The members of the answer besides its five fields, byte for byte as sent; empty if the request included nothing more.';
-- Name: COLUMN journal_entry.nonce; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_entry.nonce IS '16 random bytes. An erased record, whose personal columns are empty, has the hash of the personal part and the nonce here, 32 bytes.';
-- Name: COLUMN journal_entry.hash; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_entry.hash IS 'SHA-256 of the public part and of the hash of the personal part, as docs/reference/journal-record.md describes.';
-- Name: journal_epoch; Type: SEQUENCE; Schema: public; Owner: -
CREATE SEQUENCE public.journal_epoch
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
-- Name: SEQUENCE journal_epoch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON SEQUENCE public.journal_epoch IS 'The epochs of the journal. Each belongs to one process, so that no two write the same key, whatever their node names.';
-- Name: journal_epoch_end; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_epoch_end (
    epoch bigint NOT NULL,
    by_writer boolean NOT NULL,
    last bigint NOT NULL,
    unused bigint[] NOT NULL,
    unknown bigint[] NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
-- Name: TABLE journal_epoch_end; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_epoch_end IS 'The ends of epochs. A number up to the last that is not listed has a batch; if it has none, the batch was removed. Append-only.';
-- Name: COLUMN journal_epoch_end.by_writer; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_epoch_end.by_writer IS 'Whether the process of the epoch wrote this, which knows it for certain, or another one, by the batches that it found.';
-- Name: COLUMN journal_epoch_end.unknown; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_epoch_end.unknown IS 'Numbers of which the process does not know whether they have a batch. Another process then adds an end, by what it found.';
-- Name: journal_epoch_skip; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_epoch_skip (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    last_epoch bigint NOT NULL,
    next_epoch bigint NOT NULL,
    reason text NOT NULL
);
-- Name: TABLE journal_epoch_skip; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_epoch_skip IS 'When and why the counter of epochs was moved ahead: after a restore to an earlier moment, so that no epoch is used twice.';
-- Name: journal_epoch_start; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_epoch_start (
    epoch bigint NOT NULL,
    node text NOT NULL,
    flushes integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT journal_epoch_start_flushes_check CHECK (((flushes >= 1) AND (flushes <= 64)))
);
-- Name: TABLE journal_epoch_start; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_epoch_start IS 'The epochs under which processes write batches, numbered from 1 without a gap. A process uses one for at most an hour. Append-only.';
-- Name: COLUMN journal_epoch_start.flushes; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_epoch_start.flushes IS 'How many batches the process writes at the same time, and so how many numbers can remain unused when it is killed.';
-- Name: journal_fence; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_fence (
    node text NOT NULL,
    at timestamp with time zone NOT NULL
);
-- Name: TABLE journal_fence; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_fence IS 'One row for each node that had a batch of unknown outcome and found it written. The node then updates its row: that commit is later in the log, so when it is confirmed, the batch is durable, too.';
-- Name: journal_minute; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_minute (
    entity_id uuid NOT NULL,
    minute timestamp with time zone NOT NULL,
    mode text NOT NULL,
    status text NOT NULL,
    n integer NOT NULL,
    seconds bigint NOT NULL,
    CONSTRAINT journal_minute_n_check CHECK ((n > 0))
)
WITH (fillfactor='70');
-- Name: TABLE journal_minute; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_minute IS 'The number of answers by entity, minute, mode and status, counted from the journal by a job, for the last 35 days. With it the records of an entity are found without an index on the journal.';
-- Name: COLUMN journal_minute.seconds; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_minute.seconds IS 'In which seconds of the minute there are answers; bit 0 is the first second.';
-- Name: journal_replaced; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_replaced (
    key uuid NOT NULL,
    day date NOT NULL,
    by_sha256 bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT journal_replaced_by_sha256_check CHECK ((octet_length(by_sha256) = 32))
);
-- Name: TABLE journal_replaced; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_replaced IS 'The files of archives that were written anew after an erasure. They are deleted when the new archive is recorded.';
-- Name: COLUMN journal_replaced.by_sha256; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_replaced.by_sha256 IS 'SHA-256 of the manifest of the new archive.';
-- Name: journal_returned; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_returned (
    request_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    epoch bigint NOT NULL,
    n bigint NOT NULL,
    idx bigint NOT NULL,
    count integer NOT NULL,
    root bytea NOT NULL,
    path bytea NOT NULL,
    public bytea NOT NULL,
    personal bytea,
    personal_hash bytea,
    reason text NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    CONSTRAINT journal_returned_check CHECK (((idx >= 0) AND (idx < count))),
    CONSTRAINT journal_returned_check1 CHECK (((personal IS NULL) <> (personal_hash IS NULL))),
    CONSTRAINT journal_returned_count_check CHECK ((count > 0)),
    CONSTRAINT journal_returned_path_check CHECK (((octet_length(path) % 32) = 0)),
    CONSTRAINT journal_returned_personal_hash_check CHECK ((octet_length(personal_hash) = 32)),
    CONSTRAINT journal_returned_root_check CHECK ((octet_length(root) = 32))
);
-- Name: TABLE journal_returned; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_returned IS 'Records that a restore of the database had lost, and that came back by their receipts. Only the owner adds rows, and changes them only by an erasure.';
-- Name: COLUMN journal_returned.epoch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_returned.epoch IS 'With n, the key of the batch of the record, which is lost.';
-- Name: COLUMN journal_returned.path; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_returned.path IS 'The hashes that lead from the record, at idx of count, to the root of its batch, 32 bytes each.';
-- Name: COLUMN journal_returned.public; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_returned.public IS 'The public part of the record in its canonical encoding, as docs/reference/journal-record.md describes.';
-- Name: COLUMN journal_returned.personal; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_returned.personal IS 'The personal part with the nonce behind it. Of an erased record only personal_hash is left.';
-- Name: journal_rewrite; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_rewrite (
    day date NOT NULL
);
-- Name: TABLE journal_rewrite; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_rewrite IS 'The days of which records were erased and whose file in the database still has their bytes. It is written anew when the day has ended.';
-- Name: legal_hold; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.legal_hold (
    id uuid NOT NULL,
    number bigint,
    entity_id uuid,
    reason text NOT NULL,
    placed_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT legal_hold_check CHECK (((number IS NULL) <> (entity_id IS NULL)))
);
-- Name: TABLE legal_hold; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.legal_hold IS 'Numbers and organisations whose records must not be erased while the hold is in force, because a court or an investigation needs them.';
-- Name: line_change; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_change (
    n bigint NOT NULL,
    number bigint,
    reported_at timestamp with time zone NOT NULL,
    lines bigint,
    from_version integer,
    version integer,
    effective integer,
    until integer,
    import integer NOT NULL,
    kind smallint NOT NULL,
    before smallint,
    after smallint,
    from_network smallint,
    network smallint NOT NULL,
    correction boolean NOT NULL,
    CONSTRAINT line_change_after_check CHECK (((after >= 0) AND (after <= 13))),
    CONSTRAINT line_change_before_check CHECK (((before >= 0) AND (before <= 13))),
    CONSTRAINT line_change_check CHECK (((number IS NULL) = (lines IS NOT NULL))),
    CONSTRAINT line_change_kind_check CHECK ((((kind >= 1) AND (kind <= 20)) OR ((kind >= 98) AND (kind <= 102))))
);
-- Name: TABLE line_change; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_change IS 'The outbox: what changed about lines, written in the transaction that changed them and read up to the settled horizon. Kept for some days after it was read. Times are seconds since 2020-01-01 UTC (line_time).';
-- Name: COLUMN line_change.n; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.n IS 'In the order of the changes of one number. Has gaps, and becomes visible out of order: read it by package outbox only.';
-- Name: COLUMN line_change.number; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.number IS 'Null for a class change: many lines at once, which are not listed.';
-- Name: COLUMN line_change.lines; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.lines IS 'Of a class change: how many lines.';
-- Name: COLUMN line_change.from_version; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.from_version IS 'Of line_now before the change; 0 if there was no row.';
-- Name: COLUMN line_change.until; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.until IS 'When the status after the change ends by itself; null if it does not.';
-- Name: COLUMN line_change.import; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.import IS 'The import that made the change; 0 for a call of the API.';
-- Name: COLUMN line_change.kind; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.kind IS 'What happened; see package outbox.';
-- Name: COLUMN line_change.before; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.before IS 'Code of the status before and after, as if the supply were fresh; see package outbox.';
-- Name: COLUMN line_change.correction; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_change.correction IS 'It changes what was known about an earlier time.';
-- Name: line_change_n; Type: SEQUENCE; Schema: public; Owner: -
CREATE SEQUENCE public.line_change_n
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
-- Name: line_change_n; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
ALTER SEQUENCE public.line_change_n OWNED BY public.line_change.n;
-- Name: SEQUENCE line_change_n; Type: COMMENT; Schema: public; Owner: -
COMMENT ON SEQUENCE public.line_change_n IS 'The n of line_change. Never cached: a writer draws its numbers after it has locked the lines, so that n orders the changes of one number.';
-- Name: line_event; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
)
PARTITION BY HASH (number);
-- Name: TABLE line_event; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event IS 'Every stored event of every number. Append-only; a correction is an event that voids another. Times are seconds since 2020-01-01 UTC (line_time).';
-- Name: COLUMN line_event.seq; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.seq IS 'The id of the event, in the order in which events were reported.';
-- Name: COLUMN line_event.reported_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.reported_at IS 'When the event was reported to the service.';
-- Name: COLUMN line_event.effective; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.effective IS 'When the event took effect. Of a bare date the last second of the day, or the first for an end.';
-- Name: COLUMN line_event.import; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.import IS 'The import that contained the event; 0 for a call of the API.';
-- Name: COLUMN line_event.kind; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.kind IS 'Code of the kind of event; see package line. authority is the code of the supplier''s role.';
-- Name: COLUMN line_event.network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.network IS 'The operator that reported the event; 0 for other authorities.';
-- Name: COLUMN line_event.peer; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.peer IS 'The recipient network of a port.';
-- Name: COLUMN line_event.code; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.code IS 'Code of the reason or of the level.';
-- Name: COLUMN line_event.bits; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.bits IS '1 a bare date, 2 a bar on the number, 4 a first holder, 8 reported by a network that had nothing to do with the number at that time, 16 counted in the share of its network''s lines.';
-- Name: COLUMN line_event.hold; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.hold IS 'Why the event does not count until it is confirmed; see package line. Null if it counts at once.';
-- Name: COLUMN line_event.until; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.until IS 'The announced churn date, or when an order ends unless it is confirmed.';
-- Name: COLUMN line_event.ended_after; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.ended_after IS 'For an end implied by a snapshot: the tenure ended after this time and not later than effective.';
-- Name: COLUMN line_event.base_import; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.base_import IS 'The first event of a number that has a baseline also stores that baseline, in the columns base_...; a restatement, whose base_import is its own import, stores its own there.';
-- Name: COLUMN line_event.target; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.target IS 'The seq of the event that this one withdraws or confirms; of a port that two networks reported, that of its release.';
-- Name: COLUMN line_event.event_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.event_id IS 'The supplier''s own id of the event; null for an event implied by a snapshot.';
-- Name: COLUMN line_event.note; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_event.note IS 'The reason of a correction, in words.';
-- Name: line_event_00; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_00 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_00; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_00 IS 'Partition of line_event.';
-- Name: line_event_01; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_01 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_01; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_01 IS 'Partition of line_event.';
-- Name: line_event_02; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_02 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_02; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_02 IS 'Partition of line_event.';
-- Name: line_event_03; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_03 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_03; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_03 IS 'Partition of line_event.';
-- Name: line_event_04; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_04 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_04; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_04 IS 'Partition of line_event.';
-- Name: line_event_05; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_05 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_05; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_05 IS 'Partition of line_event.';
-- Name: line_event_06; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_06 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_06; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_06 IS 'Partition of line_event.';
-- Name: line_event_07; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_07 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_07; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_07 IS 'Partition of line_event.';
-- Name: line_event_08; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_08 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_08; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_08 IS 'Partition of line_event.';
-- Name: line_event_09; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_09 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_09; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_09 IS 'Partition of line_event.';
-- Name: line_event_10; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_10 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_10; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_10 IS 'Partition of line_event.';
-- Name: line_event_11; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_11 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_11; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_11 IS 'Partition of line_event.';
-- Name: line_event_12; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_12 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_12; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_12 IS 'Partition of line_event.';
-- Name: line_event_13; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_13 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_13; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_13 IS 'Partition of line_event.';
-- Name: line_event_14; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_14 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_14; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_14 IS 'Partition of line_event.';
-- Name: line_event_15; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_event_15 (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    effective integer NOT NULL,
    supplier integer NOT NULL,
    import integer NOT NULL,
    kind smallint NOT NULL,
    authority smallint NOT NULL,
    network smallint NOT NULL,
    peer smallint DEFAULT 0 NOT NULL,
    code smallint DEFAULT 0 NOT NULL,
    bits smallint DEFAULT 0 NOT NULL,
    hold smallint,
    base_network smallint,
    base_state smallint,
    base_bits smallint,
    until integer,
    ended_after integer,
    base_import integer,
    base_as_of integer,
    base_tenure integer,
    base_sim integer,
    base_since integer,
    base_until integer,
    target bigint,
    event_id text,
    note text,
    CONSTRAINT line_event_authority_check CHECK (((authority >= 1) AND (authority <= 4))),
    CONSTRAINT line_event_base_bits_check CHECK (((base_bits >= 0) AND (base_bits <= 255))),
    CONSTRAINT line_event_base_state_check CHECK (((base_state >= 0) AND (base_state <= 6))),
    CONSTRAINT line_event_bits_check CHECK (((bits >= 0) AND (bits <= 31))),
    CONSTRAINT line_event_code_check CHECK (((code >= 0) AND (code <= 12))),
    CONSTRAINT line_event_hold_check CHECK (((hold >= 1) AND (hold <= 4))),
    CONSTRAINT line_event_kind_check CHECK (((kind >= 1) AND (kind <= 21)))
);
-- Name: TABLE line_event_15; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_event_15 IS 'Partition of line_event.';
-- Name: line_event_seq; Type: SEQUENCE; Schema: public; Owner: -
CREATE SEQUENCE public.line_event_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
-- Name: SEQUENCE line_event_seq; Type: COMMENT; Schema: public; Owner: -
COMMENT ON SEQUENCE public.line_event_seq IS 'Numbers the events of all lines in the order in which they were reported.';
-- Name: line_now; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_now (
    number bigint NOT NULL,
    version integer NOT NULL,
    baseline integer NOT NULL,
    network smallint NOT NULL,
    state smallint NOT NULL,
    bits smallint NOT NULL,
    bar_reason smallint,
    state_since integer,
    tenure_start integer,
    sim_at integer,
    newest integer,
    until integer,
    ended_after integer,
    port_at integer,
    bar_at integer,
    holder_bar_at integer,
    holder_bar_until integer,
    number_bar_at integer,
    number_bar_until integer,
    flag_medium_at integer,
    flag_high_at integer,
    flag_very_high_at integer,
    black_at integer,
    contested_tenure integer,
    contested_sim integer,
    contested_port integer,
    doubt_at integer,
    holder_bar_reason smallint,
    number_bar_reason smallint,
    CONSTRAINT line_now_bar_reason_check CHECK (((bar_reason >= 1) AND (bar_reason <= 12))),
    CONSTRAINT line_now_bits_check CHECK (((bits >= 0) AND (bits <= 255))),
    CONSTRAINT line_now_holder_bar_reason_check CHECK (((holder_bar_reason >= 1) AND (holder_bar_reason <= 12))),
    CONSTRAINT line_now_number_bar_reason_check CHECK (((number_bar_reason >= 1) AND (number_bar_reason <= 12))),
    CONSTRAINT line_now_state_check CHECK (((state >= 0) AND (state <= 6)))
)
WITH (fillfactor='82');
-- Name: TABLE line_now; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_now IS 'The current state of each line as reported: one compact row per number, computed from its baseline and its events. A row is deleted only with its baseline, when a snapshot is voided and the row has no events. Joins nothing. Times are seconds since 2020-01-01 UTC (line_time).';
-- Name: COLUMN line_now.number; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.number IS 'E.164 without the plus sign.';
-- Name: COLUMN line_now.version; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.version IS 'One for the baseline, if there is one, plus one for each event. A journal record names the version that its answer used.';
-- Name: COLUMN line_now.baseline; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.baseline IS 'The import whose snapshot created the row; 0 if events created it.';
-- Name: COLUMN line_now.network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.network IS 'The network of the current tenure, or of the last one; 0 if no operator has reported the number.';
-- Name: COLUMN line_now.state; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.state IS 'Code of the state of the tenure; see package line.';
-- Name: COLUMN line_now.bits; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.bits IS '1 the SIM change before the snapshot is not known, 2 tenure_start is a bare date, 4 sim_at, 8 port_at, 16 state_since of an end, 32 a first holder, 64 the snapshot is of the network that serves the line, 128 reported by a network that does not hold the range; see line.Bits.';
-- Name: COLUMN line_now.state_since; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.state_since IS 'Null if it equals tenure_start.';
-- Name: COLUMN line_now.newest; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.newest IS 'Effective time of the newest event; null if it equals the newest of the other times in the row.';
-- Name: COLUMN line_now.until; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.until IS 'The announced churn date.';
-- Name: COLUMN line_now.ended_after; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.ended_after IS 'The tenure ended after this time and not later than state_since, because the number was missing from a snapshot.';
-- Name: COLUMN line_now.bar_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.bar_at IS 'Since when the operator bars the line.';
-- Name: COLUMN line_now.holder_bar_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.holder_bar_at IS 'Since when the regulator bars the holder; number_bar_at is the same for the number, whoever holds it.';
-- Name: COLUMN line_now.holder_bar_until; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.holder_bar_until IS 'When that bar ends by itself.';
-- Name: COLUMN line_now.flag_medium_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.flag_medium_at IS 'The newest flag of this level; the other two columns are the same for theirs.';
-- Name: COLUMN line_now.contested_sim; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.contested_sim IS 'A SIM change that its operator withdrew, and whose signal stays until its window ends. contested_tenure is the same for a new holder, and contested_port for a port, which leaves no signal: what has changed since before it is unknown.';
-- Name: COLUMN line_now.doubt_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_now.doubt_at IS 'Since when the network that serves the line contradicts itself or somebody else.';
-- Name: line_open; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_open (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    outcome smallint NOT NULL,
    half boolean NOT NULL,
    hold smallint NOT NULL,
    network smallint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    CONSTRAINT line_open_hold_check CHECK (((hold >= 0) AND (hold <= 4))),
    CONSTRAINT line_open_outcome_check CHECK (((outcome >= 6) AND (outcome <= 7)))
);
-- Name: TABLE line_open; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_open IS 'The events that are stored and do not count yet: held, or waiting for a port or for its other half. Written with the row that they belong to, and computed from the same events.';
-- Name: COLUMN line_open.outcome; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_open.outcome IS 'Code of the outcome; see package line. hold is why it is held, or 0.';
-- Name: COLUMN line_open.half; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_open.half IS 'Half of a port whose other half is missing, or the void of one half. Staff see it at once: it is a conflict between two networks.';
-- Name: COLUMN line_open.network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_open.network IS 'The operator that reported the event; 0 for other authorities.';
-- Name: line_order; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_order (
    id uuid NOT NULL,
    number bigint NOT NULL,
    action text NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    asked_kind text NOT NULL,
    asked_by uuid,
    asked_at timestamp with time zone NOT NULL,
    second_kind text,
    second_by uuid,
    second_at timestamp with time zone,
    effective_at timestamp with time zone NOT NULL,
    seq bigint,
    bar_reason text NOT NULL,
    bar_scope text NOT NULL,
    given_at text NOT NULL,
    event text NOT NULL,
    lapses_at timestamp with time zone,
    rejected_for text DEFAULT ''::text NOT NULL,
    CONSTRAINT line_order_action_check CHECK ((action = ANY (ARRAY['BAR'::text, 'UNBAR'::text, 'BLACKLIST'::text, 'RELEASE'::text, 'VOID'::text, 'CONFIRM'::text]))),
    CONSTRAINT line_order_asked_kind_check CHECK ((asked_kind = ANY (ARRAY['client'::text, 'account'::text, 'operator'::text]))),
    CONSTRAINT line_order_lapses CHECK (((state <> 'UNCONFIRMED'::text) OR ((lapses_at IS NOT NULL) AND (seq IS NOT NULL)))),
    CONSTRAINT line_order_rejected_for_check CHECK ((char_length(rejected_for) <= 500)),
    CONSTRAINT line_order_second_kind_check CHECK ((second_kind = ANY (ARRAY['client'::text, 'account'::text, 'operator'::text]))),
    CONSTRAINT line_order_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'UNCONFIRMED'::text, 'DONE'::text, 'WITHDRAWN'::text]))),
    CONSTRAINT line_order_two_people CHECK (((state <> 'DONE'::text) OR (second_kind IS NULL) OR ((second_kind IS DISTINCT FROM asked_kind) OR (second_by IS DISTINCT FROM asked_by))))
);
-- Name: TABLE line_order; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_order IS 'Orders of the regulator about numbers. One that lowers a guard waits until a second person confirms it; a bar acts at once, and ends if nobody confirms it.';
-- Name: COLUMN line_order.asked_by; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_order.asked_by IS 'The client or account that gave the order; null for the operator at the command line. second_by is the same for who confirmed or withdrew it.';
-- Name: COLUMN line_order.seq; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_order.seq IS 'The event in line_event that carried the order out.';
-- Name: COLUMN line_order.bar_reason; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_order.bar_reason IS 'Of a bar, as given; so are bar_scope, given_at (the time it names; empty for now) and event (the seq that a VOID or CONFIRM names). A confirmation reads them.';
-- Name: COLUMN line_order.lapses_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_order.lapses_at IS 'When a bar by one person ends, or would have ended, unless a second one confirms it; null for other orders. Nothing is written then.';
-- Name: COLUMN line_order.rejected_for; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_order.rejected_for IS 'As in approval.';
-- Name: line_seal; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_seal (
    id uuid NOT NULL,
    number bigint NOT NULL,
    until timestamp with time zone NOT NULL,
    active boolean NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
-- Name: TABLE line_seal; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_seal IS 'Numbers about which no organisation is told anything before a time, by two people. A row is deleted when the seal ends; the changes of a number wait while it has an active one.';
-- Name: COLUMN line_seal.id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_seal.id IS 'The subject of the approvals.';
-- Name: COLUMN line_seal.active; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_seal.active IS 'A second person has confirmed it.';
-- Name: COLUMN line_seal.expires_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_seal.expires_at IS 'Until when it can be confirmed.';
-- Name: line_timer; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line_timer (
    number bigint NOT NULL,
    due integer NOT NULL,
    told boolean DEFAULT false NOT NULL
);
-- Name: TABLE line_timer; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line_timer IS 'The announced churn dates of lines, written in the transaction that stores the announcement, so that watchers are told when one is reached. Whether it still holds is decided then. Kept for some days after it was told.';
-- Name: COLUMN line_timer.due; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_timer.due IS 'The announced churn date, in seconds since 2020-01-01 UTC (line_time).';
-- Name: COLUMN line_timer.told; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line_timer.told IS 'It was reached and passed on: the same date is not told again.';
-- Name: log_checkpoint; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.log_checkpoint (
    size bigint NOT NULL,
    root bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT log_checkpoint_root_check CHECK ((octet_length(root) = 32)),
    CONSTRAINT log_checkpoint_size_check CHECK ((size > 0))
);
-- Name: TABLE log_checkpoint; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.log_checkpoint IS 'The sizes of the public log with their roots. Only these may be signed.';
-- Name: log_key_id_seq; Type: SEQUENCE; Schema: public; Owner: -
ALTER TABLE public.log_key ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.log_key_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
-- Name: log_pending_id_seq; Type: SEQUENCE; Schema: public; Owner: -
ALTER TABLE public.log_pending ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.log_pending_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
-- Name: log_published; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.log_published (
    one boolean DEFAULT true NOT NULL,
    written bigint NOT NULL,
    published bigint NOT NULL,
    note text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT log_published_check CHECK ((written >= published)),
    CONSTRAINT log_published_one_check CHECK (one),
    CONSTRAINT log_published_published_check CHECK ((published >= 0))
);
-- Name: TABLE log_published; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.log_published IS 'How much of the public log is published, in one row.';
-- Name: COLUMN log_published.written; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_published.written IS 'Up to which size the tiles are durable.';
-- Name: COLUMN log_published.published; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_published.published IS 'The size of the newest signed checkpoint. No smaller one is signed any more.';
-- Name: COLUMN log_published.note; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.log_published.note IS 'That checkpoint, with its signatures.';
-- Name: login_device; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.login_device (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    mac bytea NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
-- Name: TABLE login_device; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.login_device IS 'Devices that have logged in to an account, as HMACs of their device tokens. Each has its own count of attempts, so that an attacker cannot lock the owner out.';
-- Name: login_trouble; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.login_trouble (
    mac bytea NOT NULL,
    tries integer NOT NULL,
    counted_at timestamp with time zone NOT NULL,
    not_before timestamp with time zone NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    account_id uuid,
    CONSTRAINT login_trouble_failed_check CHECK ((failed >= 0)),
    CONSTRAINT login_trouble_tries_check CHECK ((tries >= 0))
);
-- Name: TABLE login_trouble; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.login_trouble IS 'Counters of login attempts per account and network, per account, and per account and known device; and of e-mails that a person or an address can cause.';
-- Name: COLUMN login_trouble.mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.login_trouble.mac IS 'The HMAC of what is counted. It hides the e-mail address; one without an account is counted like any other.';
-- Name: COLUMN login_trouble.tries; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.login_trouble.tries IS 'Attempts that were evaluated. A correct one is subtracted again, and all expire when none was wrong for the length of the window.';
-- Name: COLUMN login_trouble.counted_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.login_trouble.counted_at IS 'When the window started: at the first attempt, and again at every wrong one.';
-- Name: COLUMN login_trouble.not_before; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.login_trouble.not_before IS 'No further attempt is evaluated before this time.';
-- Name: COLUMN login_trouble.failed; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.login_trouble.failed IS 'Wrong attempts that the audit trail does not have yet.';
-- Name: COLUMN login_trouble.account_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.login_trouble.account_id IS 'The account that the wrong attempts were for; the zero id for an address without one. It has no foreign key: checking it would take time that shows whether there is an account.';
-- Name: mandate; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.mandate (
    id uuid NOT NULL,
    entity_id uuid NOT NULL,
    principal text NOT NULL,
    purposes text[] NOT NULL,
    until timestamp with time zone NOT NULL,
    document text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by uuid,
    ended_at timestamp with time zone,
    ended_by uuid,
    row_sum bytea,
    row_mac bytea,
    CONSTRAINT mandate_document_check CHECK (((char_length(document) >= 1) AND (char_length(document) <= 200))),
    CONSTRAINT mandate_principal_check CHECK (((char_length(principal) >= 1) AND (char_length(principal) <= 100)))
);
-- Name: TABLE mandate; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.mandate IS 'For whom an entity may verify numbers as an agent.';
-- Name: COLUMN mandate.entity_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.mandate.entity_id IS 'The agent.';
-- Name: COLUMN mandate.principal; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.mandate.principal IS 'For whom the agent asks, as its requests name it.';
-- Name: COLUMN mandate.purposes; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.mandate.purposes IS 'The purposes of keys with which it may ask, codes of the policy; empty means all.';
-- Name: COLUMN mandate.document; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.mandate.document IS 'Where the mandate is written down, such as the reference of a letter.';
-- Name: COLUMN mandate.created_by; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.mandate.created_by IS 'The account that recorded the mandate; null for the operator at the command line. The same for ended_by.';
-- Name: COLUMN mandate.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.mandate.row_sum IS 'As in account.';
-- Name: COLUMN mandate.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.mandate.row_mac IS 'As in account.';
-- Name: message; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.message (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    kind text NOT NULL,
    ref uuid,
    about text NOT NULL,
    detail text NOT NULL,
    path text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    read_at timestamp with time zone,
    CONSTRAINT message_about_check CHECK ((char_length(about) <= 300)),
    CONSTRAINT message_detail_check CHECK ((char_length(detail) <= 500)),
    CONSTRAINT message_path_check CHECK ((path ~~ '/portal/%'::text))
);
-- Name: TABLE message; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.message IS 'What a person finds under Messages in the portal, each also sent as an e-mail unless the person has muted its kind. Deleted after 90 days. No phone number and no secret.';
-- Name: COLUMN message.kind; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.message.kind IS 'The kind of the e-mail that says the same.';
-- Name: COLUMN message.ref; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.message.ref IS 'What it is about, where a job looks for it again and again: each person is told once. Null for a message that its event stores.';
-- Name: COLUMN message.about; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.message.about IS 'The name of what it is about: an organisation, a file, a document.';
-- Name: COLUMN message.path; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.message.path IS 'The page of the portal where the person can act.';
-- Name: COLUMN message.read_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.message.read_at IS 'Null until the person has opened it or marked it as read.';
-- Name: message_mute; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.message_mute (
    account_id uuid NOT NULL,
    kind text NOT NULL
);
-- Name: TABLE message_mute; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.message_mute IS 'Kinds of message that a person does not want as an e-mail. They stay in the portal.';
-- Name: network; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.network (
    id smallint NOT NULL,
    name text NOT NULL,
    CONSTRAINT network_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 64)))
);
-- Name: TABLE network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.network IS 'The mobile networks. The id of a network never changes.';
-- Name: network_lines; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.network_lines (
    network smallint NOT NULL,
    lines bigint NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
-- Name: TABLE network_lines; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.network_lines IS 'How many numbers with a current tenure each network has.';
-- Name: numbering_draft; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.numbering_draft (
    id uuid NOT NULL,
    version integer NOT NULL,
    effective_at timestamp with time zone,
    digits smallint NOT NULL,
    source text NOT NULL,
    ranges text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT numbering_draft_digits_check CHECK (((digits >= 6) AND (digits <= 15))),
    CONSTRAINT numbering_draft_source_check CHECK (((char_length(source) >= 1) AND (char_length(source) <= 2000))),
    CONSTRAINT numbering_draft_version_check CHECK ((version > 0))
);
-- Name: TABLE numbering_draft; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.numbering_draft IS 'Versions of the numbering plan that one person requested. A draft never changes; it becomes the version when a second person confirms the approval whose subject it is.';
-- Name: COLUMN numbering_draft.version; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.numbering_draft.version IS 'The version that it would be: it is refused if there is another one by then.';
-- Name: COLUMN numbering_draft.effective_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.numbering_draft.effective_at IS 'Null: when it is confirmed.';
-- Name: COLUMN numbering_draft.ranges; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.numbering_draft.ranges IS 'The whole plan as CSV, as lineproof plan export prints it.';
-- Name: outbox_mark; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.outbox_mark (
    reader text NOT NULL,
    n bigint NOT NULL
);
-- Name: TABLE outbox_mark; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.outbox_mark IS 'Up to where each reader of the outbox has read. Whoever locks a row, reader or watch-list, is before or after a whole batch of changes.';
-- Name: pepper_check; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.pepper_check (
    mac bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
-- Name: TABLE pepper_check; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.pepper_check IS 'The HMAC of a known text under each pepper that was ever used, so that a node with a wrong pepper fails at its start and not at every request.';
-- Name: recovery_code; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.recovery_code (
    account_id uuid NOT NULL,
    mac bytea NOT NULL,
    used_at timestamp with time zone
);
-- Name: TABLE recovery_code; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.recovery_code IS 'Recovery codes for a lost authenticator, as HMACs. Each works once.';
-- Name: refused_request; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.refused_request (
    at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    entity_id uuid NOT NULL,
    key_id uuid NOT NULL,
    mode text NOT NULL,
    route text NOT NULL,
    status integer NOT NULL,
    code text NOT NULL,
    violations text[] NOT NULL,
    number_mac bytea,
    correlator text NOT NULL,
    skipped bigint NOT NULL
)
PARTITION BY RANGE (at);
-- Name: TABLE refused_request; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.refused_request IS 'Requests with an API key that were refused or failed, for the people of its organisation. A sample above a rate, partitioned by day, dropped after 30 days. No phone number.';
-- Name: COLUMN refused_request.id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.refused_request.id IS 'The X-Request-Id of the response.';
-- Name: COLUMN refused_request.violations; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.refused_request.violations IS 'What was wrong, each as field and code.';
-- Name: COLUMN refused_request.number_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.refused_request.number_mac IS 'HMAC of the organisation and the number under the pepper, so that the organisation can find its requests about a number; null if the request has no valid number.';
-- Name: COLUMN refused_request.skipped; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.refused_request.skipped IS 'How many refused requests of the organisation are not stored since the one before.';
-- Name: rehearsal_clock; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.rehearsal_clock (
    key_id uuid NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    ahead bigint NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT rehearsal_clock_ahead_check CHECK (((ahead >= 0) AND (ahead <= 315360000)))
);
-- Name: TABLE rehearsal_clock; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.rehearsal_clock IS 'The test clocks that test keys have set. A test clock affects only the answers about test numbers.';
-- Name: COLUMN rehearsal_clock.begun_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.rehearsal_clock.begun_at IS 'Day 0 of the histories of the test numbers.';
-- Name: COLUMN rehearsal_clock.ahead; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.rehearsal_clock.ahead IS 'By how many seconds the test clock is ahead of the real time; at most ten years.';
-- Name: river_job; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.river_job (
    id bigint NOT NULL,
    state public.river_job_state DEFAULT 'available'::public.river_job_state NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 25 NOT NULL,
    attempted_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finalized_at timestamp with time zone,
    scheduled_at timestamp with time zone DEFAULT now() NOT NULL,
    priority smallint DEFAULT 1 NOT NULL,
    args jsonb NOT NULL,
    attempted_by text[],
    errors jsonb[],
    kind text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    queue text DEFAULT 'default'::text NOT NULL,
    tags character varying(255)[] DEFAULT '{}'::character varying[] NOT NULL,
    unique_key bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK ((((finalized_at IS NULL) AND (state <> ALL (ARRAY['cancelled'::public.river_job_state, 'completed'::public.river_job_state, 'discarded'::public.river_job_state]))) OR ((finalized_at IS NOT NULL) AND (state = ANY (ARRAY['cancelled'::public.river_job_state, 'completed'::public.river_job_state, 'discarded'::public.river_job_state]))))),
    CONSTRAINT kind_length CHECK (((char_length(kind) > 0) AND (char_length(kind) < 128))),
    CONSTRAINT max_attempts_is_positive CHECK ((max_attempts > 0)),
    CONSTRAINT priority_in_range CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT queue_length CHECK (((char_length(queue) > 0) AND (char_length(queue) < 128)))
);
-- Name: TABLE river_job; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.river_job IS 'Belongs to River, the job queue.';
-- Name: river_job_id_seq; Type: SEQUENCE; Schema: public; Owner: -
CREATE SEQUENCE public.river_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
-- Name: river_job_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
ALTER SEQUENCE public.river_job_id_seq OWNED BY public.river_job.id;
-- Name: river_leader; Type: TABLE; Schema: public; Owner: -
CREATE UNLOGGED TABLE public.river_leader (
    elected_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    leader_id text NOT NULL,
    name text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT leader_id_length CHECK (((char_length(leader_id) > 0) AND (char_length(leader_id) < 128))),
    CONSTRAINT name_length CHECK ((name = 'default'::text))
);
-- Name: TABLE river_leader; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.river_leader IS 'Belongs to River, the job queue.';
-- Name: river_migration; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.river_migration (
    line text NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT line_length CHECK (((char_length(line) > 0) AND (char_length(line) < 128))),
    CONSTRAINT version_gte_1 CHECK ((version >= 1))
);
-- Name: TABLE river_migration; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.river_migration IS 'Belongs to River, the job queue.';
-- Name: river_notification; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.river_notification (
    id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    payload text NOT NULL,
    topic text NOT NULL,
    CONSTRAINT topic_length CHECK (((length(topic) > 0) AND (length(topic) < 128)))
);
-- Name: TABLE river_notification; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.river_notification IS 'Belongs to River, the job queue.';
-- Name: river_notification_id_seq; Type: SEQUENCE; Schema: public; Owner: -
CREATE SEQUENCE public.river_notification_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
-- Name: river_notification_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
ALTER SEQUENCE public.river_notification_id_seq OWNED BY public.river_notification.id;
-- Name: river_queue; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.river_queue (
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);
-- Name: TABLE river_queue; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.river_queue IS 'Belongs to River, the job queue.';
-- Name: row_signed; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.row_signed (
    table_name text NOT NULL,
    id uuid NOT NULL,
    n bigint NOT NULL,
    sum bytea NOT NULL,
    mac bytea NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT row_signed_n_check CHECK ((n > 0))
);
-- Name: TABLE row_signed; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.row_signed IS 'What was signed of the rows that decide access after they had changed: the newest sum of a row is that of its highest number. Append-only for the service; the owner removes what is superseded.';
-- Name: COLUMN row_signed.n; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.row_signed.n IS 'One more than that of the record before.';
-- Name: COLUMN row_signed.mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.row_signed.mac IS 'The version of the key and the HMAC of table, id, n and sum.';
-- Name: running_node; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.running_node (
    name text NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    version text NOT NULL,
    connections integer NOT NULL,
    peppers bytea[] NOT NULL,
    files text NOT NULL,
    settings jsonb NOT NULL,
    CONSTRAINT running_node_connections_check CHECK ((connections > 0))
);
-- Name: TABLE running_node; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.running_node IS 'The nodes that run, so that each can be compared with the others. A node writes its row at its start, renews seen_at, and deletes the row when it stops; one that ended otherwise is deleted by the others after a day.';
-- Name: COLUMN running_node.connections; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.running_node.connections IS 'How many connections the node may open.';
-- Name: COLUMN running_node.peppers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.running_node.peppers IS 'The HMAC of a known text under each of its peppers, newest first.';
-- Name: COLUMN running_node.files; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.running_node.files IS 'Where it stores documents: the bucket, or the id that stands in its directory.';
-- Name: COLUMN running_node.settings; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.running_node.settings IS 'The HMAC of each setting that all nodes should share, under the newest pepper, by its name.';
-- Name: sealed_change; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.sealed_change (
    n bigint NOT NULL,
    number bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    from_version integer,
    version integer,
    effective integer,
    until integer,
    import integer NOT NULL,
    kind smallint NOT NULL,
    before smallint,
    after smallint,
    from_network smallint,
    network smallint NOT NULL,
    correction boolean NOT NULL,
    feed boolean NOT NULL,
    CONSTRAINT sealed_change_after_check CHECK (((after >= 0) AND (after <= 13))),
    CONSTRAINT sealed_change_before_check CHECK (((before >= 0) AND (before <= 13))),
    CONSTRAINT sealed_change_kind_check CHECK ((((kind >= 1) AND (kind <= 20)) OR ((kind >= 98) AND (kind <= 102))))
);
-- Name: TABLE sealed_change; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.sealed_change IS 'The changes of sealed numbers that the readers of line_change have set aside, with the columns of line_change. They are passed on in the order of n when the last seal of the number ends.';
-- Name: COLUMN sealed_change.feed; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.sealed_change.feed IS 'The feeds have not told it. False if they told it before the number was sealed, and only notices about past answers are to follow.';
-- Name: second_factor; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.second_factor (
    account_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    sealed bytea NOT NULL,
    last_step bigint DEFAULT 0 NOT NULL,
    wrong_codes integer DEFAULT 0 NOT NULL,
    locked_at timestamp with time zone,
    confirmed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT second_factor_wrong_codes_check CHECK ((wrong_codes >= 0))
);
-- Name: TABLE second_factor; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.second_factor IS 'The TOTP secret of an account, encrypted under a key that is derived from the pepper.';
-- Name: COLUMN second_factor.id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.second_factor.id IS 'Another at each set-up. The secret and the recovery codes are bound to it.';
-- Name: COLUMN second_factor.last_step; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.second_factor.last_step IS 'The time step of the last accepted code. Codes of that step or an earlier one are rejected.';
-- Name: COLUMN second_factor.wrong_codes; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.second_factor.wrong_codes IS 'Codes that were evaluated since the last right one.';
-- Name: COLUMN second_factor.locked_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.second_factor.locked_at IS 'Since when no code is accepted, because too many were wrong; null if it is not locked.';
-- Name: COLUMN second_factor.confirmed_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.second_factor.confirmed_at IS 'Null during the set-up; until it is set, a login needs no code.';
-- Name: session; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.session (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    mac bytea NOT NULL,
    from_addr inet,
    agent text DEFAULT ''::text NOT NULL,
    limited boolean DEFAULT false NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    proved_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    row_sum bytea,
    row_mac bytea
);
-- Name: TABLE session; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.session IS 'Logins of people, as HMACs of their tokens.';
-- Name: COLUMN session.agent; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.session.agent IS 'The User-Agent header of the login, truncated.';
-- Name: COLUMN session.limited; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.session.limited IS 'Whether the session allows only what is needed to set up two-factor authentication.';
-- Name: COLUMN session.last_seen_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.session.last_seen_at IS 'Since when the session is idle. Updated in coarse steps.';
-- Name: COLUMN session.proved_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.session.proved_at IS 'When the person last entered the password, and the code where there is a second factor: at the login, or before a change that a stolen session must not allow.';
-- Name: COLUMN session.row_sum; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.session.row_sum IS 'As in account.';
-- Name: COLUMN session.row_mac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.session.row_mac IS 'As in account.';
-- Name: supplier; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supplier (
    id integer NOT NULL,
    network smallint,
    client_id uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT supplier_check CHECK (((network IS NULL) OR (client_id IS NULL)))
);
-- Name: TABLE supplier; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supplier IS 'Who reports events. An operator is identified by its network, whichever of its clients calls, and any other authority by its client. The row with neither is the regulator at the command line.';
-- Name: supplier_id_seq; Type: SEQUENCE; Schema: public; Owner: -
ALTER TABLE public.supplier ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.supplier_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
-- Name: supply_announced; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_announced (
    id uuid NOT NULL,
    network smallint NOT NULL,
    lines bigint NOT NULL,
    used bigint DEFAULT 0 NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    announced_at timestamp with time zone NOT NULL,
    CONSTRAINT supply_announced_check CHECK (((used >= 0) AND (used <= lines))),
    CONSTRAINT supply_announced_check1 CHECK ((ends_at > starts_at)),
    CONSTRAINT supply_announced_lines_check CHECK ((lines > 0))
);
-- Name: TABLE supply_announced; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_announced IS 'Mass changes of lines that staff announced, and two people agreed to: so many events that end, move or re-assign lines of the network are not held in that period.';
-- Name: COLUMN supply_announced.id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_announced.id IS 'The subject of the approval by which two people announced it.';
-- Name: COLUMN supply_announced.used; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_announced.used IS 'How many of the lines have been changed so far.';
-- Name: supply_coverage; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_coverage (
    network smallint NOT NULL,
    topic smallint NOT NULL,
    known_since timestamp with time zone,
    complete_since timestamp with time zone,
    supplied_through timestamp with time zone,
    doubtful boolean DEFAULT false NOT NULL,
    accepted_on date,
    held_from timestamp with time zone,
    held_through timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT supply_coverage_topic_check CHECK (((topic >= 1) AND (topic <= 3)))
);
-- Name: TABLE supply_coverage; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_coverage IS 'The period that the supply of each topic covers: LIFECYCLE (1) and SIM (2) of each network, and PORT (3) of the nation, which is network 0.';
-- Name: COLUMN supply_coverage.known_since; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_coverage.known_since IS 'The time of the first supply of any kind.';
-- Name: COLUMN supply_coverage.complete_since; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_coverage.complete_since IS 'The asOf of the first complete snapshot. From then on a number that the operator never reported is known to be unassigned.';
-- Name: COLUMN supply_coverage.supplied_through; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_coverage.supplied_through IS 'Everything that took effect until then has been supplied. It advances when a whole import is applied, or when a call reports it.';
-- Name: COLUMN supply_coverage.doubtful; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_coverage.doubtful IS 'Its assurances were false too often, so that it does not count as fresh until 30 days have passed without another false one, or two people accept it again.';
-- Name: COLUMN supply_coverage.accepted_on; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_coverage.accepted_on IS 'The day (UTC) on which two people last let a topic that was disbelieved be believed again. False assurances count from the day after.';
-- Name: COLUMN supply_coverage.held_from; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_coverage.held_from IS 'The earliest event of a mass change that waits for the regulator took effect just after this time, and supplied_through does not pass it. Null if none waits.';
-- Name: COLUMN supply_coverage.held_through; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_coverage.held_through IS 'What supplied_through becomes when the mass change is decided; null while none waits.';
-- Name: supply_coverage_history; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_coverage_history (
    network smallint NOT NULL,
    topic smallint NOT NULL,
    at timestamp with time zone NOT NULL,
    known_since timestamp with time zone,
    complete_since timestamp with time zone,
    supplied_through timestamp with time zone,
    doubtful boolean NOT NULL,
    CONSTRAINT supply_coverage_history_topic_check CHECK (((topic >= 1) AND (topic <= 3)))
);
-- Name: TABLE supply_coverage_history; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_coverage_history IS 'What supply_coverage was from a time on, so that a past answer can be computed again.';
-- Name: supply_day; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_day (
    network smallint NOT NULL,
    day date NOT NULL,
    kind smallint NOT NULL,
    accepted bigint NOT NULL,
    refused bigint NOT NULL,
    late bigint NOT NULL,
    early bigint NOT NULL,
    broken bigint NOT NULL,
    seconds bigint NOT NULL,
    worst bigint NOT NULL,
    CONSTRAINT supply_day_kind_check CHECK (((kind >= 0) AND (kind <= 24)))
);
-- Name: TABLE supply_day; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_day IS 'Events of each operator by day and kind: how many were accepted, rejected and reported late.';
-- Name: COLUMN supply_day.kind; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_day.kind IS 'Code of the kind of event, as in line_event; 0 counts what was rejected.';
-- Name: COLUMN supply_day.late; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_day.late IS 'Events reported later than the policy allows.';
-- Name: COLUMN supply_day.early; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_day.early IS 'Numbers assigned to a new holder before their quarantine was over.';
-- Name: COLUMN supply_day.broken; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_day.broken IS 'Events that took effect before the operator''s own suppliedThrough.';
-- Name: COLUMN supply_day.seconds; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_day.seconds IS 'Sum of the seconds between the effective time and the report; worst is the greatest of them.';
-- Name: supply_example; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_example (
    import integer NOT NULL,
    kind text NOT NULL,
    place smallint NOT NULL,
    number text NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT supply_example_kind_check CHECK ((kind = ANY (ARRAY['added'::text, 'changed'::text, 'ended'::text]))),
    CONSTRAINT supply_example_place_check CHECK (((place >= 1) AND (place <= 10)))
);
-- Name: TABLE supply_example; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_example IS 'Examples of what a held file would change, at most ten of each kind, for those who decide about it. Deleted after 30 days.';
-- Name: COLUMN supply_example.before; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_example.before IS 'The line as it is stored, in words; empty for a number of which nothing is known.';
-- Name: COLUMN supply_example.after; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_example.after IS 'The line as the file would leave it, in words.';
-- Name: supply_import_id_seq; Type: SEQUENCE; Schema: public; Owner: -
ALTER TABLE public.supply_import ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.supply_import_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
-- Name: supply_reach; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_reach (
    network smallint NOT NULL,
    day date NOT NULL,
    lines bigint NOT NULL,
    capacity bigint NOT NULL,
    supplied_through timestamp with time zone,
    noted_at timestamp with time zone NOT NULL
);
-- Name: TABLE supply_reach; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_reach IS 'The supply of each operator on each day (UTC), as a job last recorded it on that day. Rows are never deleted; a day on which the job did not run has none.';
-- Name: COLUMN supply_reach.lines; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_reach.lines IS 'Numbers with a current tenure.';
-- Name: COLUMN supply_reach.capacity; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_reach.capacity IS 'Numbers in the operator''s ranges.';
-- Name: COLUMN supply_reach.supplied_through; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_reach.supplied_through IS 'As in supply_coverage; null for an operator that never supplied.';
-- Name: supply_refused; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_refused (
    import integer NOT NULL,
    place bigint NOT NULL,
    field text NOT NULL,
    reason text NOT NULL
);
-- Name: TABLE supply_refused; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_refused IS 'Rejected rows of a file: the line of the file, the column and the reason. Only the first hundred thousand of each import.';
-- Name: supply_refused_value; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_refused_value (
    import integer NOT NULL,
    place bigint NOT NULL,
    field text NOT NULL,
    number text NOT NULL,
    value text NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL
);
-- Name: TABLE supply_refused_value; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_refused_value IS 'What stood in rejected rows of a file, shortened, for the people of the operator that sent it. Deleted after 30 days; supply_refused stays.';
-- Name: COLUMN supply_refused_value.number; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_refused_value.number IS 'The phone number as in the file; empty if the line has none that can be read.';
-- Name: COLUMN supply_refused_value.value; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_refused_value.value IS 'The value of the column as in the file.';
-- Name: supply_share; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.supply_share (
    supplier integer NOT NULL,
    network smallint NOT NULL,
    hour timestamp with time zone NOT NULL,
    numbers bigint NOT NULL
);
-- Name: TABLE supply_share; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.supply_share IS 'How many lines of a network each supplier has ended, moved or given to new holders by events, by the hour of the report. Events beyond a share within 7 days are held.';
-- Name: COLUMN supply_share.numbers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.supply_share.numbers IS 'Numbers whose last such event of this supplier was reported in that hour. Of events that belong to an announced mass change none.';
-- Name: tally_mark; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.tally_mark (
    only_one boolean DEFAULT true NOT NULL,
    settled timestamp with time zone NOT NULL,
    seen timestamp with time zone NOT NULL,
    fence_at timestamp with time zone NOT NULL,
    fence_xact xid8 NOT NULL,
    CONSTRAINT tally_mark_only_one_check CHECK (only_one)
);
-- Name: TABLE tally_mark; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.tally_mark IS 'Up to when the journal is counted. It has one row, which the job locks while it counts.';
-- Name: COLUMN tally_mark.settled; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.tally_mark.settled IS 'The counts of minutes before this time are final: no transaction can write to them any more.';
-- Name: COLUMN tally_mark.seen; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.tally_mark.seen IS 'Everything that was committed by this time is counted, and may be counted again.';
-- Name: COLUMN tally_mark.fence_xact; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.tally_mark.fence_xact IS 'The first transaction that had not started to write at fence_at. When all transactions before it have ended, every record with a time before the fence is visible.';
-- Name: usage_day; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.usage_day (
    day date NOT NULL,
    entity_id uuid NOT NULL,
    node text NOT NULL,
    asked bigint NOT NULL,
    answered bigint NOT NULL,
    misses bigint NOT NULL,
    numbers bigint NOT NULL,
    CONSTRAINT usage_day_answered_check CHECK ((answered >= 0)),
    CONSTRAINT usage_day_asked_check CHECK ((asked >= 0)),
    CONSTRAINT usage_day_misses_check CHECK ((misses >= 0)),
    CONSTRAINT usage_day_numbers_check CHECK ((numbers >= 0))
);
-- Name: TABLE usage_day; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.usage_day IS 'Usage of each entity with live keys, by day (UTC) and node. A node adds its counts every few seconds; the total is the sum over the nodes.';
-- Name: COLUMN usage_day.asked; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_day.asked IS 'Verifications that were admitted.';
-- Name: COLUMN usage_day.answered; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_day.answered IS 'Verifications that were answered. Quotas limit these.';
-- Name: COLUMN usage_day.misses; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_day.misses IS 'Answers that the number is not allocated.';
-- Name: COLUMN usage_day.numbers; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_day.numbers IS 'Different numbers, as the node counted them. A number that is verified on two nodes, or before and after a restart, counts twice.';
-- Name: usage_key; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.usage_key (
    entity_id uuid NOT NULL,
    day date NOT NULL,
    key_id uuid NOT NULL,
    mode text NOT NULL,
    node text NOT NULL,
    outcome text NOT NULL,
    n bigint NOT NULL,
    CONSTRAINT usage_key_n_check CHECK ((n > 0))
);
-- Name: TABLE usage_key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.usage_key IS 'What each API key got, by day (UTC) and node: numbers by the status of their answer, and refused or failed requests by the code of their error. A node adds its counts every few seconds; the total is the sum over the nodes.';
-- Name: COLUMN usage_key.outcome; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_key.outcome IS 'The status of an answer, or the code of an error.';
-- Name: usage_pace; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.usage_pace (
    entity_id uuid NOT NULL,
    day date NOT NULL,
    mode text NOT NULL,
    node text NOT NULL,
    asked bigint NOT NULL,
    refused bigint NOT NULL,
    failed bigint NOT NULL,
    times bigint[] NOT NULL,
    CONSTRAINT usage_pace_asked_check CHECK ((asked >= 0)),
    CONSTRAINT usage_pace_failed_check CHECK ((failed >= 0)),
    CONSTRAINT usage_pace_refused_check CHECK ((refused >= 0))
);
-- Name: TABLE usage_pace; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.usage_pace IS 'Results and latency of the verification requests of each entity, by day (UTC) and node. A node adds its counts every few seconds; the total is the sum over the nodes.';
-- Name: COLUMN usage_pace.asked; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_pace.asked IS 'Requests.';
-- Name: COLUMN usage_pace.refused; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_pace.refused IS 'Requests with a 4xx response.';
-- Name: COLUMN usage_pace.failed; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_pace.failed IS 'Requests with a 5xx response.';
-- Name: COLUMN usage_pace.times; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.usage_pace.times IS 'Latency of requests for a single number, as a histogram; package tally has its bounds.';
-- Name: watch_block; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.watch_block (
    block bigint NOT NULL,
    list integer NOT NULL,
    members bytea NOT NULL,
    CONSTRAINT watch_block_members_check CHECK (((octet_length(members) >= 2) AND (octet_length(members) <= 125)))
);
ALTER TABLE ONLY public.watch_block ALTER COLUMN members SET STORAGE PLAIN;
-- Name: TABLE watch_block; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.watch_block IS 'The members of watch-lists: one row for each list and block of 1,000 numbers that it has; the lock of the row in watch_list keeps it one. No page or command shows them to staff.';
-- Name: COLUMN watch_block.block; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.watch_block.block IS 'The number divided by 1,000.';
-- Name: COLUMN watch_block.members; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.watch_block.members IS 'The rests of the numbers: a byte with their count, and their differences in a Rice code; or, if that is not shorter, 125 bytes with a bit for each rest, the lowest bit of the first byte for 0. See internal/notify/watchlist/block.go.';
-- Name: watch_list; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.watch_list (
    id uuid NOT NULL,
    entity_id uuid NOT NULL,
    mode text NOT NULL,
    name text NOT NULL,
    blocks integer NOT NULL,
    members bigint DEFAULT 0 NOT NULL,
    digest bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
    state text DEFAULT 'active'::text NOT NULL,
    sampled bigint DEFAULT 0 NOT NULL,
    missing bigint DEFAULT 0 NOT NULL,
    uncovered bigint DEFAULT 0 NOT NULL,
    judge_at timestamp with time zone,
    to_hold boolean DEFAULT false NOT NULL,
    effective_from bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT watch_list_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT watch_list_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT watch_list_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
    CONSTRAINT watch_list_state_check CHECK ((state = ANY (ARRAY['active'::text, 'held'::text])))
);
-- Name: TABLE watch_list; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.watch_list IS 'The lists of numbers of whose changes an entity is told.';
-- Name: COLUMN watch_list.blocks; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.watch_list.blocks IS 'The number of the list in watch_block.';
-- Name: COLUMN watch_list.digest; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.watch_list.digest IS 'The XOR of SHA-256(block, members) over all blocks, the block as eight bytes, so that an entity can compare its list with ours.';
-- Name: COLUMN watch_list.state; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.watch_list.state IS 'A held list waits for staff, and nothing is told of its numbers.';
-- Name: COLUMN watch_list.sampled; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.watch_list.sampled IS 'How many numbers were sampled when they entered, since staff last released the list; missing of them had no running tenure, and uncovered no supply. For staff only: the entity must not learn which numbers are lines.';
-- Name: COLUMN watch_list.judge_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.watch_list.judge_at IS 'When the verdict about the numbers that have entered takes effect; null if none waits. Then the list is held if to_hold is set.';
-- Name: COLUMN watch_list.effective_from; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.watch_list.effective_from IS 'The place in the outbox after which changes are matched with the list as it is.';
-- Name: watch_block_list; Type: SEQUENCE; Schema: public; Owner: -
CREATE SEQUENCE public.watch_block_list
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
-- Name: watch_block_list; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
ALTER SEQUENCE public.watch_block_list OWNED BY public.watch_list.blocks;
-- Name: SEQUENCE watch_block_list; Type: COMMENT; Schema: public; Owner: -
COMMENT ON SEQUENCE public.watch_block_list IS 'The numbers under which blocks of watch-lists are stored. A list that is replaced gets a new one.';
-- Name: who_asked; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.who_asked (
    id uuid NOT NULL,
    number bigint NOT NULL,
    first_day date NOT NULL,
    last_day date NOT NULL,
    allowed boolean NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT who_asked_check CHECK ((last_day >= first_day))
);
-- Name: TABLE who_asked; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.who_asked IS 'Requested searches of all answers about one number. A second person allows each; a row is deleted when it expires.';
-- Name: COLUMN who_asked.id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.who_asked.id IS 'The subject of the approval.';
-- Name: COLUMN who_asked.expires_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.who_asked.expires_at IS 'Seven days after the request; after the confirmation, seven days after that.';
-- Name: line_event_00; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_00 FOR VALUES WITH (modulus 16, remainder 0);
-- Name: line_event_01; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_01 FOR VALUES WITH (modulus 16, remainder 1);
-- Name: line_event_02; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_02 FOR VALUES WITH (modulus 16, remainder 2);
-- Name: line_event_03; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_03 FOR VALUES WITH (modulus 16, remainder 3);
-- Name: line_event_04; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_04 FOR VALUES WITH (modulus 16, remainder 4);
-- Name: line_event_05; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_05 FOR VALUES WITH (modulus 16, remainder 5);
-- Name: line_event_06; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_06 FOR VALUES WITH (modulus 16, remainder 6);
-- Name: line_event_07; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_07 FOR VALUES WITH (modulus 16, remainder 7);
-- Name: line_event_08; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_08 FOR VALUES WITH (modulus 16, remainder 8);
-- Name: line_event_09; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_09 FOR VALUES WITH (modulus 16, remainder 9);
-- Name: line_event_10; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_10 FOR VALUES WITH (modulus 16, remainder 10);
-- Name: line_event_11; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_11 FOR VALUES WITH (modulus 16, remainder 11);
-- Name: line_event_12; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_12 FOR VALUES WITH (modulus 16, remainder 12);
-- Name: line_event_13; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_13 FOR VALUES WITH (modulus 16, remainder 13);
-- Name: line_event_14; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_14 FOR VALUES WITH (modulus 16, remainder 14);
-- Name: line_event_15; Type: TABLE ATTACH; Schema: public; Owner: -
ALTER TABLE ONLY public.line_event ATTACH PARTITION public.line_event_15 FOR VALUES WITH (modulus 16, remainder 15);
-- Name: line_change n; Type: DEFAULT; Schema: public; Owner: -
ALTER TABLE ONLY public.line_change ALTER COLUMN n SET DEFAULT nextval('public.line_change_n'::regclass);
-- Name: river_job id; Type: DEFAULT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_job ALTER COLUMN id SET DEFAULT nextval('public.river_job_id_seq'::regclass);
-- Name: river_notification id; Type: DEFAULT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_notification ALTER COLUMN id SET DEFAULT nextval('public.river_notification_id_seq'::regclass);
-- Name: watch_list blocks; Type: DEFAULT; Schema: public; Owner: -
ALTER TABLE ONLY public.watch_list ALTER COLUMN blocks SET DEFAULT nextval('public.watch_block_list'::regclass);
-- Name: access_channel access_channel_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_channel
    ADD CONSTRAINT access_channel_pkey PRIMARY KEY (name);
-- Name: access_given access_given_id_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_given
    ADD CONSTRAINT access_given_id_unique UNIQUE (id);
-- Name: access_token access_token_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_mac_unique UNIQUE (mac);
-- Name: access_token access_token_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_pkey PRIMARY KEY (id);
-- Name: account account_email_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_email_unique UNIQUE (email_key);
-- Name: account_link account_link_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account_link
    ADD CONSTRAINT account_link_mac_unique UNIQUE (mac);
-- Name: account_link account_link_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account_link
    ADD CONSTRAINT account_link_pkey PRIMARY KEY (id);
-- Name: account account_phone_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_phone_unique UNIQUE (phone);
-- Name: account account_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);
-- Name: api_key api_key_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_mac_unique UNIQUE (mac);
-- Name: api_key api_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
-- Name: approval approval_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_pkey PRIMARY KEY (id);
-- Name: audit_hour audit_hour_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.audit_hour
    ADD CONSTRAINT audit_hour_pkey PRIMARY KEY (hour);
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
-- Name: break_glass break_glass_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.break_glass
    ADD CONSTRAINT break_glass_pkey PRIMARY KEY (approval_id);
-- Name: class_told class_told_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.class_told
    ADD CONSTRAINT class_told_pkey PRIMARY KEY (subject);
-- Name: client client_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.client
    ADD CONSTRAINT client_pkey PRIMARY KEY (id);
-- Name: client_secret client_secret_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.client_secret
    ADD CONSTRAINT client_secret_mac_unique UNIQUE (mac);
-- Name: client_secret client_secret_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.client_secret
    ADD CONSTRAINT client_secret_pkey PRIMARY KEY (id);
-- Name: document_move document_move_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.document_move
    ADD CONSTRAINT document_move_pkey PRIMARY KEY (document_id, seq);
-- Name: document document_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (id);
-- Name: document document_replaced_by_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_replaced_by_unique UNIQUE (replaced_by);
-- Name: entity_limit entity_limit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.entity_limit
    ADD CONSTRAINT entity_limit_pkey PRIMARY KEY (entity_id);
-- Name: entity entity_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.entity
    ADD CONSTRAINT entity_pkey PRIMARY KEY (id);
-- Name: erasure erasure_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.erasure
    ADD CONSTRAINT erasure_pkey PRIMARY KEY (id);
-- Name: feed_entry feed_entry_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.feed_entry
    ADD CONSTRAINT feed_entry_pkey PRIMARY KEY (entity_id, mode, seq, at);
-- Name: feed_epoch feed_epoch_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.feed_epoch
    ADD CONSTRAINT feed_epoch_pkey PRIMARY KEY (one);
-- Name: feed_head feed_head_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.feed_head
    ADD CONSTRAINT feed_head_pkey PRIMARY KEY (entity_id, mode);
-- Name: feed_segment feed_segment_file_key; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.feed_segment
    ADD CONSTRAINT feed_segment_file_key UNIQUE (file);
-- Name: feed_segment feed_segment_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.feed_segment
    ADD CONSTRAINT feed_segment_pkey PRIMARY KEY (day);
-- Name: file_job_chunk file_job_chunk_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.file_job_chunk
    ADD CONSTRAINT file_job_chunk_pkey PRIMARY KEY (job, place);
-- Name: file_job file_job_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.file_job
    ADD CONSTRAINT file_job_pkey PRIMARY KEY (id);
-- Name: goose_db_version goose_db_version_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.goose_db_version
    ADD CONSTRAINT goose_db_version_pkey PRIMARY KEY (id);
-- Name: guard_alert guard_alert_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.guard_alert
    ADD CONSTRAINT guard_alert_pkey PRIMARY KEY (id);
-- Name: guard_entered guard_entered_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.guard_entered
    ADD CONSTRAINT guard_entered_pkey PRIMARY KEY (subject_id, year);
-- Name: guard_seen guard_seen_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.guard_seen
    ADD CONSTRAINT guard_seen_pkey PRIMARY KEY (node, n);
-- Name: guard_year guard_year_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.guard_year
    ADD CONSTRAINT guard_year_pkey PRIMARY KEY (subject_id, year);
-- Name: hook_attempt hook_attempt_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_attempt
    ADD CONSTRAINT hook_attempt_pkey PRIMARY KEY (endpoint_id, n);
-- Name: hook_cursor hook_cursor_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_cursor
    ADD CONSTRAINT hook_cursor_pkey PRIMARY KEY (endpoint_id);
-- Name: hook_dead hook_dead_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_dead
    ADD CONSTRAINT hook_dead_pkey PRIMARY KEY (endpoint_id, seq);
-- Name: hook_endpoint hook_endpoint_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_endpoint
    ADD CONSTRAINT hook_endpoint_pkey PRIMARY KEY (id);
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (caller, operation, key_mac);
-- Name: impact_notice impact_notice_entity_id_event_id_key; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.impact_notice
    ADD CONSTRAINT impact_notice_entity_id_event_id_key UNIQUE (entity_id, event_id);
-- Name: impact_notice impact_notice_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.impact_notice
    ADD CONSTRAINT impact_notice_pkey PRIMARY KEY (request_id, events);
-- Name: journal_archive journal_archive_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_archive
    ADD CONSTRAINT journal_archive_pkey PRIMARY KEY (manifest);
-- Name: journal_archive_run journal_archive_run_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_archive_run
    ADD CONSTRAINT journal_archive_run_pkey PRIMARY KEY (day, node, epoch, first);
-- Name: journal_batch journal_batch_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_batch
    ADD CONSTRAINT journal_batch_pkey PRIMARY KEY (node, epoch, n, at);
-- Name: journal_checked journal_checked_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_checked
    ADD CONSTRAINT journal_checked_pkey PRIMARY KEY (day);
-- Name: journal_day journal_day_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_day
    ADD CONSTRAINT journal_day_pkey PRIMARY KEY (entity_id, day, mode, status);
-- Name: journal_epoch_end journal_epoch_end_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_epoch_end
    ADD CONSTRAINT journal_epoch_end_pkey PRIMARY KEY (epoch, by_writer);
-- Name: journal_epoch_skip journal_epoch_skip_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_epoch_skip
    ADD CONSTRAINT journal_epoch_skip_pkey PRIMARY KEY (id);
-- Name: journal_epoch_start journal_epoch_start_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_epoch_start
    ADD CONSTRAINT journal_epoch_start_pkey PRIMARY KEY (epoch);
-- Name: journal_erased_day journal_erased_day_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_erased_day
    ADD CONSTRAINT journal_erased_day_pkey PRIMARY KEY (day);
-- Name: journal_erased journal_erased_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_erased
    ADD CONSTRAINT journal_erased_pkey PRIMARY KEY (request_id);
-- Name: journal_fence journal_fence_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_fence
    ADD CONSTRAINT journal_fence_pkey PRIMARY KEY (node);
-- Name: journal_minute journal_minute_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_minute
    ADD CONSTRAINT journal_minute_pkey PRIMARY KEY (entity_id, minute, mode, status);
-- Name: journal_replaced journal_replaced_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_replaced
    ADD CONSTRAINT journal_replaced_pkey PRIMARY KEY (key);
-- Name: journal_returned journal_returned_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_returned
    ADD CONSTRAINT journal_returned_pkey PRIMARY KEY (request_id);
-- Name: journal_rewrite journal_rewrite_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_rewrite
    ADD CONSTRAINT journal_rewrite_pkey PRIMARY KEY (day);
-- Name: legal_hold legal_hold_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.legal_hold
    ADD CONSTRAINT legal_hold_pkey PRIMARY KEY (id);
-- Name: line_change line_change_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.line_change
    ADD CONSTRAINT line_change_pkey PRIMARY KEY (n);
-- Name: line_now line_now_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.line_now
    ADD CONSTRAINT line_now_pkey PRIMARY KEY (number);
-- Name: line_open line_open_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.line_open
    ADD CONSTRAINT line_open_pkey PRIMARY KEY (number, seq);
-- Name: line_order line_order_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.line_order
    ADD CONSTRAINT line_order_pkey PRIMARY KEY (id);
-- Name: line_seal line_seal_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.line_seal
    ADD CONSTRAINT line_seal_pkey PRIMARY KEY (id);
-- Name: line_timer line_timer_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.line_timer
    ADD CONSTRAINT line_timer_pkey PRIMARY KEY (number);
-- Name: log_checkpoint log_checkpoint_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.log_checkpoint
    ADD CONSTRAINT log_checkpoint_pkey PRIMARY KEY (size);
-- Name: log_entry log_entry_epoch_n_at_key; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.log_entry
    ADD CONSTRAINT log_entry_epoch_n_at_key UNIQUE (epoch, n, at);
-- Name: log_entry log_entry_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.log_entry
    ADD CONSTRAINT log_entry_pkey PRIMARY KEY (idx, at);
-- Name: log_head log_head_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.log_head
    ADD CONSTRAINT log_head_pkey PRIMARY KEY (one);
-- Name: log_key log_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.log_key
    ADD CONSTRAINT log_key_pkey PRIMARY KEY (id);
-- Name: log_pending log_pending_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.log_pending
    ADD CONSTRAINT log_pending_pkey PRIMARY KEY (id);
-- Name: log_published log_published_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.log_published
    ADD CONSTRAINT log_published_pkey PRIMARY KEY (one);
-- Name: login_device login_device_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.login_device
    ADD CONSTRAINT login_device_mac_unique UNIQUE (mac);
-- Name: login_device login_device_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.login_device
    ADD CONSTRAINT login_device_pkey PRIMARY KEY (id);
-- Name: login_trouble login_trouble_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.login_trouble
    ADD CONSTRAINT login_trouble_pkey PRIMARY KEY (mac);
-- Name: mandate mandate_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.mandate
    ADD CONSTRAINT mandate_pkey PRIMARY KEY (id);
-- Name: message_mute message_mute_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.message_mute
    ADD CONSTRAINT message_mute_pkey PRIMARY KEY (account_id, kind);
-- Name: message message_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_pkey PRIMARY KEY (id);
-- Name: network_lines network_lines_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.network_lines
    ADD CONSTRAINT network_lines_pkey PRIMARY KEY (network);
-- Name: network network_name_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.network
    ADD CONSTRAINT network_name_unique UNIQUE (name);
-- Name: network network_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.network
    ADD CONSTRAINT network_pkey PRIMARY KEY (id);
-- Name: numbering_draft numbering_draft_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.numbering_draft
    ADD CONSTRAINT numbering_draft_pkey PRIMARY KEY (id);
-- Name: numbering_network numbering_network_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.numbering_network
    ADD CONSTRAINT numbering_network_pkey PRIMARY KEY (version, network);
-- Name: numbering_plan numbering_plan_id_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.numbering_plan
    ADD CONSTRAINT numbering_plan_id_unique UNIQUE (id);
-- Name: numbering_plan numbering_plan_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.numbering_plan
    ADD CONSTRAINT numbering_plan_pkey PRIMARY KEY (version);
-- Name: numbering_range numbering_range_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.numbering_range
    ADD CONSTRAINT numbering_range_pkey PRIMARY KEY (version, prefix, allocated);
-- Name: outbox_mark outbox_mark_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.outbox_mark
    ADD CONSTRAINT outbox_mark_pkey PRIMARY KEY (reader);
-- Name: pepper_check pepper_check_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.pepper_check
    ADD CONSTRAINT pepper_check_pkey PRIMARY KEY (mac);
-- Name: policy policy_id_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.policy
    ADD CONSTRAINT policy_id_unique UNIQUE (id);
-- Name: policy policy_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.policy
    ADD CONSTRAINT policy_pkey PRIMARY KEY (version);
-- Name: recovery_code recovery_code_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT recovery_code_pkey PRIMARY KEY (account_id, mac);
-- Name: refused_request refused_request_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.refused_request
    ADD CONSTRAINT refused_request_pkey PRIMARY KEY (entity_id, at, id);
-- Name: rehearsal_clock rehearsal_clock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.rehearsal_clock
    ADD CONSTRAINT rehearsal_clock_pkey PRIMARY KEY (key_id);
-- Name: river_job river_job_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_job
    ADD CONSTRAINT river_job_pkey PRIMARY KEY (id);
-- Name: river_leader river_leader_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_leader
    ADD CONSTRAINT river_leader_pkey PRIMARY KEY (name);
-- Name: river_migration river_migration_pkey1; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_migration
    ADD CONSTRAINT river_migration_pkey1 PRIMARY KEY (line, version);
-- Name: river_notification river_notification_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_notification
    ADD CONSTRAINT river_notification_pkey PRIMARY KEY (id);
-- Name: river_queue river_queue_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_queue
    ADD CONSTRAINT river_queue_pkey PRIMARY KEY (name);
-- Name: row_signed row_signed_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.row_signed
    ADD CONSTRAINT row_signed_pkey PRIMARY KEY (table_name, id, n);
-- Name: running_node running_node_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.running_node
    ADD CONSTRAINT running_node_pkey PRIMARY KEY (name);
-- Name: sealed_change sealed_change_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.sealed_change
    ADD CONSTRAINT sealed_change_pkey PRIMARY KEY (n);
-- Name: second_factor second_factor_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.second_factor
    ADD CONSTRAINT second_factor_pkey PRIMARY KEY (account_id);
-- Name: session session_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_mac_unique UNIQUE (mac);
-- Name: session session_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);
-- Name: supplier supplier_client_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supplier
    ADD CONSTRAINT supplier_client_unique UNIQUE (client_id);
-- Name: supplier supplier_network_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supplier
    ADD CONSTRAINT supplier_network_unique UNIQUE (network);
-- Name: supplier supplier_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supplier
    ADD CONSTRAINT supplier_pkey PRIMARY KEY (id);
-- Name: supply_announced supply_announced_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_announced
    ADD CONSTRAINT supply_announced_pkey PRIMARY KEY (id);
-- Name: supply_coverage_history supply_coverage_history_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_coverage_history
    ADD CONSTRAINT supply_coverage_history_pkey PRIMARY KEY (network, topic, at);
-- Name: supply_coverage supply_coverage_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_coverage
    ADD CONSTRAINT supply_coverage_pkey PRIMARY KEY (network, topic);
-- Name: supply_day supply_day_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_day
    ADD CONSTRAINT supply_day_pkey PRIMARY KEY (network, day, kind);
-- Name: supply_example supply_example_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_example
    ADD CONSTRAINT supply_example_pkey PRIMARY KEY (import, kind, place);
-- Name: supply_import supply_import_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_import
    ADD CONSTRAINT supply_import_pkey PRIMARY KEY (id);
-- Name: supply_import supply_import_uid_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_import
    ADD CONSTRAINT supply_import_uid_unique UNIQUE (uid);
-- Name: supply_reach supply_reach_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_reach
    ADD CONSTRAINT supply_reach_pkey PRIMARY KEY (network, day);
-- Name: supply_refused supply_refused_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_refused
    ADD CONSTRAINT supply_refused_pkey PRIMARY KEY (import, place, field);
-- Name: supply_refused_value supply_refused_value_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_refused_value
    ADD CONSTRAINT supply_refused_value_pkey PRIMARY KEY (import, place, field);
-- Name: supply_share supply_share_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.supply_share
    ADD CONSTRAINT supply_share_pkey PRIMARY KEY (supplier, network, hour);
-- Name: tally_mark tally_mark_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.tally_mark
    ADD CONSTRAINT tally_mark_pkey PRIMARY KEY (only_one);
-- Name: usage_day usage_day_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.usage_day
    ADD CONSTRAINT usage_day_pkey PRIMARY KEY (day, entity_id, node);
-- Name: usage_key usage_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.usage_key
    ADD CONSTRAINT usage_key_pkey PRIMARY KEY (entity_id, day, key_id, mode, node, outcome);
-- Name: usage_pace usage_pace_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.usage_pace
    ADD CONSTRAINT usage_pace_pkey PRIMARY KEY (entity_id, day, mode, node);
-- Name: watch_list watch_list_blocks_key; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.watch_list
    ADD CONSTRAINT watch_list_blocks_key UNIQUE (blocks);
-- Name: watch_list watch_list_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.watch_list
    ADD CONSTRAINT watch_list_pkey PRIMARY KEY (id);
-- Name: who_asked who_asked_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.who_asked
    ADD CONSTRAINT who_asked_pkey PRIMARY KEY (id);
-- Name: access_given_subject; Type: INDEX; Schema: public; Owner: -
CREATE INDEX access_given_subject ON public.access_given USING btree (subject_id, at);
-- Name: access_token_client; Type: INDEX; Schema: public; Owner: -
CREATE INDEX access_token_client ON public.access_token USING btree (client_id);
-- Name: access_token_expiry; Type: INDEX; Schema: public; Owner: -
CREATE INDEX access_token_expiry ON public.access_token USING btree (expires_at);
-- Name: account_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX account_entity ON public.account USING btree (entity_id);
-- Name: account_link_account; Type: INDEX; Schema: public; Owner: -
CREATE INDEX account_link_account ON public.account_link USING btree (account_id, kind);
-- Name: account_link_expiry; Type: INDEX; Schema: public; Owner: -
CREATE INDEX account_link_expiry ON public.account_link USING btree (expires_at);
-- Name: api_key_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX api_key_entity ON public.api_key USING btree (entity_id);
-- Name: api_key_successor; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX api_key_successor ON public.api_key USING btree (replaces) WHERE (replaces IS NOT NULL);
-- Name: approval_asked; Type: INDEX; Schema: public; Owner: -
CREATE INDEX approval_asked ON public.approval USING btree (asked_at);
-- Name: approval_waiting; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX approval_waiting ON public.approval USING btree (kind, subject_id) WHERE (state = 'waiting'::text);
-- Name: audit_actor; Type: INDEX; Schema: public; Owner: -
CREATE INDEX audit_actor ON public.audit USING btree (actor_id, at);
-- Name: audit_at; Type: INDEX; Schema: public; Owner: -
CREATE INDEX audit_at ON public.audit USING btree (at);
-- Name: audit_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX audit_entity ON public.audit USING btree (entity_id, at);
-- Name: audit_request; Type: INDEX; Schema: public; Owner: -
CREATE INDEX audit_request ON public.audit USING btree (request_id, at) WHERE (request_id IS NOT NULL);
-- Name: audit_sort; Type: INDEX; Schema: public; Owner: -
CREATE INDEX audit_sort ON public.audit USING btree (action, actor_kind, at, id);
-- Name: audit_subject; Type: INDEX; Schema: public; Owner: -
CREATE INDEX audit_subject ON public.audit USING btree (subject_id, at);
-- Name: client_secret_client; Type: INDEX; Schema: public; Owner: -
CREATE INDEX client_secret_client ON public.client_secret USING btree (client_id);
-- Name: document_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX document_entity ON public.document USING btree (entity_id, created_at);
-- Name: document_entity_id; Type: INDEX; Schema: public; Owner: -
CREATE INDEX document_entity_id ON public.document USING btree (entity_id, id);
-- Name: document_state; Type: INDEX; Schema: public; Owner: -
CREATE INDEX document_state ON public.document USING btree (state, id);
-- Name: entity_cac; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_cac ON public.entity USING btree (cac_class, cac_digits);
-- Name: entity_cac_text; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_cac_text ON public.entity USING btree (upper(cac));
-- Name: entity_client; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_client ON public.entity USING btree (client_id, created_at);
-- Name: entity_created; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_created ON public.entity USING btree (created_at, id);
-- Name: INDEX entity_created; Type: COMMENT; Schema: public; Owner: -
COMMENT ON INDEX public.entity_created IS 'Entities by age, from any position.';
-- Name: entity_name; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_name ON public.entity USING btree (lower(name) COLLATE "C", id);
-- Name: INDEX entity_name; Type: COMMENT; Schema: public; Owner: -
COMMENT ON INDEX public.entity_name IS 'Entities by name, from any position.';
-- Name: entity_status; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_status ON public.entity USING btree (status, lower(name) COLLATE "C", id);
-- Name: INDEX entity_status; Type: COMMENT; Schema: public; Owner: -
COMMENT ON INDEX public.entity_status IS 'Entities by status and then by name, and those of one status by name.';
-- Name: entity_token; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_token ON public.entity USING btree (token_id, created_at);
-- Name: file_job_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX file_job_entity ON public.file_job USING btree (entity_id, mode, created_at);
-- Name: file_job_files; Type: INDEX; Schema: public; Owner: -
CREATE INDEX file_job_files ON public.file_job USING btree (id) WHERE ((file IS NOT NULL) OR (result IS NOT NULL));
-- Name: file_job_open; Type: INDEX; Schema: public; Owner: -
CREATE INDEX file_job_open ON public.file_job USING btree (state) WHERE (state = ANY (ARRAY['waiting'::text, 'checking'::text, 'held'::text, 'running'::text, 'writing'::text]));
-- Name: guard_alert_budget; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX guard_alert_budget ON public.guard_alert USING btree (COALESCE(entity_id, sponsor_id), kind, ends_at) WHERE (ends_at IS NOT NULL);
-- Name: guard_alert_ends; Type: INDEX; Schema: public; Owner: -
CREATE INDEX guard_alert_ends ON public.guard_alert USING btree (ends_at) WHERE (ends_at IS NOT NULL);
-- Name: guard_alert_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX guard_alert_entity ON public.guard_alert USING btree (entity_id, since);
-- Name: guard_alert_open; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX guard_alert_open ON public.guard_alert USING btree (COALESCE(entity_id, sponsor_id), kind, level) WHERE ((released_at IS NULL) AND (ends_at IS NULL));
-- Name: guard_alert_quiet; Type: INDEX; Schema: public; Owner: -
CREATE INDEX guard_alert_quiet ON public.guard_alert USING btree (quiet_until) WHERE (quiet_until IS NOT NULL);
-- Name: guard_alert_released; Type: INDEX; Schema: public; Owner: -
CREATE INDEX guard_alert_released ON public.guard_alert USING btree (released_at) WHERE (kind = ANY (ARRAY['harvest'::text, 'harvest-misses'::text]));
-- Name: guard_alert_since; Type: INDEX; Schema: public; Owner: -
CREATE INDEX guard_alert_since ON public.guard_alert USING btree (since);
-- Name: guard_seen_at; Type: INDEX; Schema: public; Owner: -
CREATE INDEX guard_seen_at ON public.guard_seen USING btree (at);
-- Name: hook_endpoint_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX hook_endpoint_entity ON public.hook_endpoint USING btree (entity_id, mode);
-- Name: hook_endpoint_key; Type: INDEX; Schema: public; Owner: -
CREATE INDEX hook_endpoint_key ON public.hook_endpoint USING btree (made_by_key) WHERE (made_by_key IS NOT NULL);
-- Name: idempotency_created; Type: INDEX; Schema: public; Owner: -
CREATE INDEX idempotency_created ON public.idempotency USING btree (created_at);
-- Name: impact_notice_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX impact_notice_entity ON public.impact_notice USING btree (entity_id, told_at, request_id);
-- Name: impact_notice_told; Type: INDEX; Schema: public; Owner: -
CREATE INDEX impact_notice_told ON public.impact_notice USING brin (told_at);
-- Name: journal_archive_day; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_archive_day ON public.journal_archive USING btree (day, archived_at);
-- Name: journal_archive_run_epoch; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_archive_run_epoch ON public.journal_archive_run USING btree (epoch);
-- Name: journal_batch_at; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_batch_at ON ONLY public.journal_batch USING brin (at) WITH (pages_per_range='8');
-- Name: journal_batch_xact; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_batch_xact ON ONLY public.journal_batch USING btree (xact);
-- Name: journal_entry_at; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_entry_at ON ONLY public.journal_entry USING brin (at) WITH (pages_per_range='32');
-- Name: journal_entry_number; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_entry_number ON ONLY public.journal_entry USING brin (number int8_bloom_ops (n_distinct_per_range='1000'), at) WITH (pages_per_range='32');
-- Name: INDEX journal_entry_number; Type: COMMENT; Schema: public; Owner: -
COMMENT ON INDEX public.journal_entry_number IS 'Finds the answers about a few numbers, for the impact of a correction.';
-- Name: journal_erased_at; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_erased_at ON public.journal_erased USING btree (at);
-- Name: journal_minute_minute; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_minute_minute ON public.journal_minute USING btree (minute);
-- Name: journal_returned_at; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_returned_at ON public.journal_returned USING btree (at);
-- Name: line_event_implied; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_implied ON ONLY public.line_event USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: INDEX line_event_implied; Type: COMMENT; Schema: public; Owner: -
COMMENT ON INDEX public.line_event_implied IS 'Finds the events that a snapshot made, when it is voided. Events that a supplier reported have an id and are not in it.';
-- Name: line_event_00_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_00_import_number_idx ON public.line_event_00 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_reported_once; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_reported_once ON ONLY public.line_event USING btree (number, supplier, event_id);
-- Name: line_event_00_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_00_number_supplier_event_id_idx ON public.line_event_00 USING btree (number, supplier, event_id);
-- Name: line_event_order; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_order ON ONLY public.line_event USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: INDEX line_event_order; Type: COMMENT; Schema: public; Owner: -
COMMENT ON INDEX public.line_event_order IS 'Finds the events of a correction: one, those of a period, or those of a file.';
-- Name: line_event_00_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_00_seq_reported_at_idx ON public.line_event_00 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_id; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_id ON ONLY public.line_event USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: INDEX line_event_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON INDEX public.line_event_id IS 'Finds an id that a supplier has already used for another number.';
-- Name: line_event_00_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_00_supplier_event_id_idx ON public.line_event_00 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_01_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_01_import_number_idx ON public.line_event_01 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_01_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_01_number_supplier_event_id_idx ON public.line_event_01 USING btree (number, supplier, event_id);
-- Name: line_event_01_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_01_seq_reported_at_idx ON public.line_event_01 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_01_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_01_supplier_event_id_idx ON public.line_event_01 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_02_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_02_import_number_idx ON public.line_event_02 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_02_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_02_number_supplier_event_id_idx ON public.line_event_02 USING btree (number, supplier, event_id);
-- Name: line_event_02_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_02_seq_reported_at_idx ON public.line_event_02 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_02_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_02_supplier_event_id_idx ON public.line_event_02 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_03_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_03_import_number_idx ON public.line_event_03 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_03_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_03_number_supplier_event_id_idx ON public.line_event_03 USING btree (number, supplier, event_id);
-- Name: line_event_03_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_03_seq_reported_at_idx ON public.line_event_03 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_03_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_03_supplier_event_id_idx ON public.line_event_03 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_04_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_04_import_number_idx ON public.line_event_04 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_04_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_04_number_supplier_event_id_idx ON public.line_event_04 USING btree (number, supplier, event_id);
-- Name: line_event_04_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_04_seq_reported_at_idx ON public.line_event_04 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_04_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_04_supplier_event_id_idx ON public.line_event_04 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_05_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_05_import_number_idx ON public.line_event_05 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_05_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_05_number_supplier_event_id_idx ON public.line_event_05 USING btree (number, supplier, event_id);
-- Name: line_event_05_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_05_seq_reported_at_idx ON public.line_event_05 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_05_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_05_supplier_event_id_idx ON public.line_event_05 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_06_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_06_import_number_idx ON public.line_event_06 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_06_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_06_number_supplier_event_id_idx ON public.line_event_06 USING btree (number, supplier, event_id);
-- Name: line_event_06_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_06_seq_reported_at_idx ON public.line_event_06 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_06_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_06_supplier_event_id_idx ON public.line_event_06 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_07_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_07_import_number_idx ON public.line_event_07 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_07_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_07_number_supplier_event_id_idx ON public.line_event_07 USING btree (number, supplier, event_id);
-- Name: line_event_07_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_07_seq_reported_at_idx ON public.line_event_07 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_07_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_07_supplier_event_id_idx ON public.line_event_07 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_08_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_08_import_number_idx ON public.line_event_08 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_08_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_08_number_supplier_event_id_idx ON public.line_event_08 USING btree (number, supplier, event_id);
-- Name: line_event_08_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_08_seq_reported_at_idx ON public.line_event_08 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_08_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_08_supplier_event_id_idx ON public.line_event_08 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_09_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_09_import_number_idx ON public.line_event_09 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_09_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_09_number_supplier_event_id_idx ON public.line_event_09 USING btree (number, supplier, event_id);
-- Name: line_event_09_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_09_seq_reported_at_idx ON public.line_event_09 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_09_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_09_supplier_event_id_idx ON public.line_event_09 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_10_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_10_import_number_idx ON public.line_event_10 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_10_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_10_number_supplier_event_id_idx ON public.line_event_10 USING btree (number, supplier, event_id);
-- Name: line_event_10_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_10_seq_reported_at_idx ON public.line_event_10 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_10_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_10_supplier_event_id_idx ON public.line_event_10 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_11_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_11_import_number_idx ON public.line_event_11 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_11_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_11_number_supplier_event_id_idx ON public.line_event_11 USING btree (number, supplier, event_id);
-- Name: line_event_11_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_11_seq_reported_at_idx ON public.line_event_11 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_11_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_11_supplier_event_id_idx ON public.line_event_11 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_12_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_12_import_number_idx ON public.line_event_12 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_12_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_12_number_supplier_event_id_idx ON public.line_event_12 USING btree (number, supplier, event_id);
-- Name: line_event_12_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_12_seq_reported_at_idx ON public.line_event_12 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_12_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_12_supplier_event_id_idx ON public.line_event_12 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_13_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_13_import_number_idx ON public.line_event_13 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_13_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_13_number_supplier_event_id_idx ON public.line_event_13 USING btree (number, supplier, event_id);
-- Name: line_event_13_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_13_seq_reported_at_idx ON public.line_event_13 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_13_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_13_supplier_event_id_idx ON public.line_event_13 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_14_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_14_import_number_idx ON public.line_event_14 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_14_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_14_number_supplier_event_id_idx ON public.line_event_14 USING btree (number, supplier, event_id);
-- Name: line_event_14_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_14_seq_reported_at_idx ON public.line_event_14 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_14_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_14_supplier_event_id_idx ON public.line_event_14 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_event_15_import_number_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_15_import_number_idx ON public.line_event_15 USING btree (import, number) WHERE ((event_id IS NULL) AND (import <> 0));
-- Name: line_event_15_number_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX line_event_15_number_supplier_event_id_idx ON public.line_event_15 USING btree (number, supplier, event_id);
-- Name: line_event_15_seq_reported_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_15_seq_reported_at_idx ON public.line_event_15 USING brin (seq, reported_at) WITH (pages_per_range='32', autosummarize='on');
-- Name: line_event_15_supplier_event_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_event_15_supplier_event_id_idx ON public.line_event_15 USING btree (supplier, event_id) WHERE (event_id IS NOT NULL);
-- Name: line_now_ported; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_now_ported ON public.line_now USING btree (network, number) WHERE (port_at IS NOT NULL);
-- Name: INDEX line_now_ported; Type: COMMENT; Schema: public; Owner: -
COMMENT ON INDEX public.line_now_ported IS 'The few numbers that are not with the network of their range.';
-- Name: line_open_network; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_open_network ON public.line_open USING btree (network, outcome);
-- Name: line_open_outcome; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_open_outcome ON public.line_open USING btree (outcome, reported_at, number);
-- Name: line_open_seq; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_open_seq ON public.line_open USING btree (seq);
-- Name: line_order_number; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_order_number ON public.line_order USING btree (number, asked_at);
-- Name: line_order_pending; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_order_pending ON public.line_order USING btree (asked_at) WHERE (state = ANY (ARRAY['PENDING'::text, 'UNCONFIRMED'::text]));
-- Name: line_order_refused; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_order_refused ON public.line_order USING btree (second_at) WHERE (state = 'WITHDRAWN'::text);
-- Name: line_seal_number; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_seal_number ON public.line_seal USING btree (number) WHERE active;
-- Name: line_timer_due; Type: INDEX; Schema: public; Owner: -
CREATE INDEX line_timer_due ON public.line_timer USING btree (due) WHERE (NOT told);
-- Name: log_entry_other; Type: INDEX; Schema: public; Owner: -
CREATE INDEX log_entry_other ON ONLY public.log_entry USING btree (kind) WHERE (kind <> 1);
-- Name: log_entry_supply; Type: INDEX; Schema: public; Owner: -
CREATE INDEX log_entry_supply ON ONLY public.log_entry USING btree (SUBSTRING(entry FROM 32)) WHERE (kind = 2);
-- Name: login_device_account; Type: INDEX; Schema: public; Owner: -
CREATE INDEX login_device_account ON public.login_device USING btree (account_id, last_used_at);
-- Name: login_device_used; Type: INDEX; Schema: public; Owner: -
CREATE INDEX login_device_used ON public.login_device USING btree (last_used_at);
-- Name: login_trouble_counted; Type: INDEX; Schema: public; Owner: -
CREATE INDEX login_trouble_counted ON public.login_trouble USING btree (counted_at);
-- Name: login_trouble_failed; Type: INDEX; Schema: public; Owner: -
CREATE INDEX login_trouble_failed ON public.login_trouble USING btree (account_id) WHERE (failed > 0);
-- Name: mandate_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX mandate_entity ON public.mandate USING btree (entity_id);
-- Name: message_account; Type: INDEX; Schema: public; Owner: -
CREATE INDEX message_account ON public.message USING btree (account_id, id);
-- Name: message_created; Type: INDEX; Schema: public; Owner: -
CREATE INDEX message_created ON public.message USING btree (created_at);
-- Name: message_once; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX message_once ON public.message USING btree (account_id, kind, ref) WHERE (ref IS NOT NULL);
-- Name: message_unread; Type: INDEX; Schema: public; Owner: -
CREATE INDEX message_unread ON public.message USING btree (account_id) WHERE (read_at IS NULL);
-- Name: refused_request_code; Type: INDEX; Schema: public; Owner: -
CREATE INDEX refused_request_code ON ONLY public.refused_request USING btree (entity_id, code, at, id);
-- Name: refused_request_correlator; Type: INDEX; Schema: public; Owner: -
CREATE INDEX refused_request_correlator ON ONLY public.refused_request USING btree (entity_id, correlator) WHERE (correlator <> ''::text);
-- Name: refused_request_key; Type: INDEX; Schema: public; Owner: -
CREATE INDEX refused_request_key ON ONLY public.refused_request USING btree (entity_id, key_id, code, at, id);
-- Name: refused_request_number; Type: INDEX; Schema: public; Owner: -
CREATE INDEX refused_request_number ON ONLY public.refused_request USING btree (entity_id, number_mac) WHERE (number_mac IS NOT NULL);
-- Name: river_job_args_index; Type: INDEX; Schema: public; Owner: -
CREATE INDEX river_job_args_index ON public.river_job USING gin (args);
-- Name: river_job_kind; Type: INDEX; Schema: public; Owner: -
CREATE INDEX river_job_kind ON public.river_job USING btree (kind);
-- Name: river_job_metadata_index; Type: INDEX; Schema: public; Owner: -
CREATE INDEX river_job_metadata_index ON public.river_job USING gin (metadata);
-- Name: river_job_prioritized_fetching_index; Type: INDEX; Schema: public; Owner: -
CREATE INDEX river_job_prioritized_fetching_index ON public.river_job USING btree (state, queue, priority, scheduled_at, id);
-- Name: river_job_state_and_finalized_at_index; Type: INDEX; Schema: public; Owner: -
CREATE INDEX river_job_state_and_finalized_at_index ON public.river_job USING btree (state, finalized_at) WHERE (finalized_at IS NOT NULL);
-- Name: river_job_unique_idx; Type: INDEX; Schema: public; Owner: -
CREATE UNIQUE INDEX river_job_unique_idx ON public.river_job USING btree (unique_key) WHERE ((unique_key IS NOT NULL) AND (unique_states IS NOT NULL) AND public.river_job_state_in_bitmask(unique_states, state));
-- Name: river_notification_created_at_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX river_notification_created_at_idx ON public.river_notification USING btree (created_at);
-- Name: river_notification_topic_id_idx; Type: INDEX; Schema: public; Owner: -
CREATE INDEX river_notification_topic_id_idx ON public.river_notification USING btree (topic, id);
-- Name: sealed_change_number; Type: INDEX; Schema: public; Owner: -
CREATE INDEX sealed_change_number ON public.sealed_change USING btree (number);
-- Name: session_account; Type: INDEX; Schema: public; Owner: -
CREATE INDEX session_account ON public.session USING btree (account_id);
-- Name: session_expiry; Type: INDEX; Schema: public; Owner: -
CREATE INDEX session_expiry ON public.session USING btree (expires_at);
-- Name: supply_announced_network; Type: INDEX; Schema: public; Owner: -
CREATE INDEX supply_announced_network ON public.supply_announced USING btree (network, ends_at);
-- Name: supply_example_age; Type: INDEX; Schema: public; Owner: -
CREATE INDEX supply_example_age ON public.supply_example USING btree (stored_at);
-- Name: supply_import_network; Type: INDEX; Schema: public; Owner: -
CREATE INDEX supply_import_network ON public.supply_import USING btree (network, created_at);
-- Name: supply_import_open; Type: INDEX; Schema: public; Owner: -
CREATE INDEX supply_import_open ON public.supply_import USING btree (id) WHERE (state = ANY (ARRAY['receiving'::text, 'checking'::text, 'held'::text, 'applying'::text, 'voiding'::text]));
-- Name: supply_refused_value_age; Type: INDEX; Schema: public; Owner: -
CREATE INDEX supply_refused_value_age ON public.supply_refused_value USING btree (stored_at);
-- Name: usage_pace_day; Type: INDEX; Schema: public; Owner: -
CREATE INDEX usage_pace_day ON public.usage_pace USING btree (day);
-- Name: watch_block_block; Type: INDEX; Schema: public; Owner: -
CREATE INDEX watch_block_block ON public.watch_block USING btree (block);
-- Name: watch_block_of_list; Type: INDEX; Schema: public; Owner: -
CREATE INDEX watch_block_of_list ON public.watch_block USING btree (list);
-- Name: watch_list_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX watch_list_entity ON public.watch_list USING btree (entity_id, mode);
-- Name: watch_list_judge; Type: INDEX; Schema: public; Owner: -
CREATE INDEX watch_list_judge ON public.watch_list USING btree (judge_at) WHERE (judge_at IS NOT NULL);
-- Name: who_asked_expires; Type: INDEX; Schema: public; Owner: -
CREATE INDEX who_asked_expires ON public.who_asked USING btree (expires_at);
-- Name: line_event_00_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_00_import_number_idx;
-- Name: line_event_00_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_00_number_supplier_event_id_idx;
-- Name: line_event_00_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_00_seq_reported_at_idx;
-- Name: line_event_00_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_00_supplier_event_id_idx;
-- Name: line_event_01_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_01_import_number_idx;
-- Name: line_event_01_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_01_number_supplier_event_id_idx;
-- Name: line_event_01_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_01_seq_reported_at_idx;
-- Name: line_event_01_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_01_supplier_event_id_idx;
-- Name: line_event_02_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_02_import_number_idx;
-- Name: line_event_02_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_02_number_supplier_event_id_idx;
-- Name: line_event_02_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_02_seq_reported_at_idx;
-- Name: line_event_02_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_02_supplier_event_id_idx;
-- Name: line_event_03_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_03_import_number_idx;
-- Name: line_event_03_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_03_number_supplier_event_id_idx;
-- Name: line_event_03_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_03_seq_reported_at_idx;
-- Name: line_event_03_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_03_supplier_event_id_idx;
-- Name: line_event_04_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_04_import_number_idx;
-- Name: line_event_04_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_04_number_supplier_event_id_idx;
-- Name: line_event_04_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_04_seq_reported_at_idx;
-- Name: line_event_04_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_04_supplier_event_id_idx;
-- Name: line_event_05_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_05_import_number_idx;
-- Name: line_event_05_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_05_number_supplier_event_id_idx;
-- Name: line_event_05_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_05_seq_reported_at_idx;
-- Name: line_event_05_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_05_supplier_event_id_idx;
-- Name: line_event_06_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_06_import_number_idx;
-- Name: line_event_06_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_06_number_supplier_event_id_idx;
-- Name: line_event_06_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_06_seq_reported_at_idx;
-- Name: line_event_06_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_06_supplier_event_id_idx;
-- Name: line_event_07_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_07_import_number_idx;
-- Name: line_event_07_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_07_number_supplier_event_id_idx;
-- Name: line_event_07_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_07_seq_reported_at_idx;
-- Name: line_event_07_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_07_supplier_event_id_idx;
-- Name: line_event_08_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_08_import_number_idx;
-- Name: line_event_08_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_08_number_supplier_event_id_idx;
-- Name: line_event_08_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_08_seq_reported_at_idx;
-- Name: line_event_08_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_08_supplier_event_id_idx;
-- Name: line_event_09_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_09_import_number_idx;
-- Name: line_event_09_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_09_number_supplier_event_id_idx;
-- Name: line_event_09_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_09_seq_reported_at_idx;
-- Name: line_event_09_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_09_supplier_event_id_idx;
-- Name: line_event_10_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_10_import_number_idx;
-- Name: line_event_10_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_10_number_supplier_event_id_idx;
-- Name: line_event_10_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_10_seq_reported_at_idx;
-- Name: line_event_10_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_10_supplier_event_id_idx;
-- Name: line_event_11_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_11_import_number_idx;
-- Name: line_event_11_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_11_number_supplier_event_id_idx;
-- Name: line_event_11_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_11_seq_reported_at_idx;
-- Name: line_event_11_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_11_supplier_event_id_idx;
-- Name: line_event_12_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_12_import_number_idx;
-- Name: line_event_12_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_12_number_supplier_event_id_idx;
-- Name: line_event_12_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_12_seq_reported_at_idx;
-- Name: line_event_12_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_12_supplier_event_id_idx;
-- Name: line_event_13_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_13_import_number_idx;
-- Name: line_event_13_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_13_number_supplier_event_id_idx;
-- Name: line_event_13_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_13_seq_reported_at_idx;
-- Name: line_event_13_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_13_supplier_event_id_idx;
-- Name: line_event_14_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_14_import_number_idx;
-- Name: line_event_14_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_14_number_supplier_event_id_idx;
-- Name: line_event_14_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_14_seq_reported_at_idx;
-- Name: line_event_14_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_14_supplier_event_id_idx;
-- Name: line_event_15_import_number_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_implied ATTACH PARTITION public.line_event_15_import_number_idx;
-- Name: line_event_15_number_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_reported_once ATTACH PARTITION public.line_event_15_number_supplier_event_id_idx;
-- Name: line_event_15_seq_reported_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_order ATTACH PARTITION public.line_event_15_seq_reported_at_idx;
-- Name: line_event_15_supplier_event_id_idx; Type: INDEX ATTACH; Schema: public; Owner: -
ALTER INDEX public.line_event_id ATTACH PARTITION public.line_event_15_supplier_event_id_idx;
-- Name: access_token access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER UPDATE ON public.access_token FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.access_changed('token', 'id');
-- Name: account access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER UPDATE ON public.account FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.access_changed('account', 'id');
-- Name: api_key access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER UPDATE ON public.api_key FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.access_changed('key', 'id');
-- Name: client access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER UPDATE ON public.client FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.access_changed('client', 'id');
-- Name: client_secret access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER UPDATE ON public.client_secret FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.access_changed('secret', 'id');
-- Name: entity access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER UPDATE ON public.entity FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.access_changed('entity', 'id');
-- Name: entity_limit access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE ON public.entity_limit FOR EACH ROW EXECUTE FUNCTION public.access_changed('entity', 'entity_id');
-- Name: mandate access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE ON public.mandate FOR EACH ROW EXECUTE FUNCTION public.access_changed('entity', 'entity_id');
-- Name: session access_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER access_changed AFTER UPDATE ON public.session FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.access_changed('session', 'id');
-- Name: audit audit_append_only; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION public.audit_is_append_only();
-- Name: audit_hour audit_hour_append_only; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER audit_hour_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_hour FOR EACH STATEMENT EXECUTE FUNCTION public.audit_is_append_only();
-- Name: audit audit_time; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER audit_time BEFORE INSERT ON public.audit FOR EACH ROW WHEN (((new.at < (clock_timestamp() - '00:01:00'::interval)) OR (new.at > (clock_timestamp() + '00:01:00'::interval)))) EXECUTE FUNCTION public.audit_refuse_time();
-- Name: document_move document_move_append_only; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER document_move_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.document_move FOR EACH STATEMENT EXECUTE FUNCTION public.document_move_is_append_only();
-- Name: second_factor factor_changed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER factor_changed AFTER INSERT OR DELETE OR UPDATE OF account_id, id, confirmed_at ON public.second_factor FOR EACH ROW EXECUTE FUNCTION public.factor_changed();
-- Name: journal_batch journal_batch_time; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER journal_batch_time BEFORE INSERT ON public.journal_batch FOR EACH ROW WHEN (((new.at < (clock_timestamp() - '00:01:00'::interval)) OR (new.at > (clock_timestamp() + '00:01:00'::interval)))) EXECUTE FUNCTION public.journal_batch_refuse_time();
-- Name: journal_archive log_note_archive; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER log_note_archive AFTER INSERT ON public.journal_archive FOR EACH ROW EXECUTE FUNCTION public.log_note('6', 'archive', 'manifest');
-- Name: audit_hour log_note_audit; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER log_note_audit AFTER INSERT ON public.audit_hour FOR EACH ROW EXECUTE FUNCTION public.log_note('4', 'audit', 'hour');
-- Name: log_head log_note_begin; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER log_note_begin AFTER INSERT ON public.log_head FOR EACH ROW EXECUTE FUNCTION public.log_note_all();
-- Name: supply_import log_note_import; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER log_note_import AFTER UPDATE OF state ON public.supply_import FOR EACH ROW WHEN (((new.state = 'applied'::text) AND (old.state <> 'applied'::text))) EXECUTE FUNCTION public.log_note('2', 'import', 'id');
-- Name: log_key log_note_key; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER log_note_key AFTER INSERT ON public.log_key FOR EACH ROW EXECUTE FUNCTION public.log_note('5', 'key', 'id');
-- Name: numbering_plan log_note_plan; Type: TRIGGER; Schema: public; Owner: -
CREATE CONSTRAINT TRIGGER log_note_plan AFTER INSERT ON public.numbering_plan DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.log_note('3', 'plan', 'version');
-- Name: policy log_note_policy; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER log_note_policy AFTER INSERT ON public.policy FOR EACH ROW EXECUTE FUNCTION public.log_note('3', 'policy', 'version');
-- Name: access_given row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.access_given FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: access_token row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.access_token FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: account row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.account FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: account_link row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.account_link FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: api_key row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.api_key FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: approval row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.approval FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: break_glass row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.break_glass FOR EACH ROW EXECUTE FUNCTION public.row_changed('approval_id');
-- Name: client row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.client FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: client_secret row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.client_secret FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: entity row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.entity FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: entity_limit row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.entity_limit FOR EACH ROW EXECUTE FUNCTION public.row_changed('entity_id');
-- Name: mandate row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.mandate FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: session row_inserted; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_inserted AFTER INSERT ON public.session FOR EACH ROW EXECUTE FUNCTION public.row_changed('id');
-- Name: row_signed row_signed_next; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_signed_next BEFORE INSERT ON public.row_signed FOR EACH ROW EXECUTE FUNCTION public.row_signed_next();
-- Name: access_given row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.access_given FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'subject_id', 'by_id', 'how', 'before_staff', 'at');
-- Name: access_token row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.access_token FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'client_id', 'secret_id', 'mac', 'scopes', 'expires_at', 'revoked_at', 'created_at');
-- Name: account row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.account FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'kind', 'entity_id', 'role', 'makes_keys', 'supplies', 'email', 'email_key', 'phone', 'password_hash', 'verified_at', 'verified_by', 'disabled_at', 'created_at', 'has_factor', 'factor_id');
-- Name: account_link row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.account_link FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'account_id', 'kind', 'mac', 'expires_at', 'used_at', 'created_at');
-- Name: api_key row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.api_key FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'entity_id', 'mode', 'purpose', 'purpose_text', 'mac', 'networks', 'rate', 'burst', 'rights', 'replaces', 'expires_at', 'revoked_at', 'created_at', 'created_by');
-- Name: approval row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.approval FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'kind', 'subject_id', 'entity_id', 'details', 'reason', 'state', 'asked_kind', 'asked_by', 'asked_at', 'expires_at', 'decided_kind', 'decided_by', 'decided_at', 'rejected_for');
-- Name: break_glass row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.break_glass FOR EACH ROW EXECUTE FUNCTION public.row_summed('approval_id', 'reason', 'at');
-- Name: client row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.client FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'scopes', 'network', 'vouches', 'sole', 'suspended_at', 'revoked_at', 'created_at');
-- Name: client_secret row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.client_secret FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'client_id', 'mac', 'waits', 'revoked_at', 'created_at');
-- Name: entity row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.entity FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'name', 'cac', 'status', 'document_required', 'supplies', 'asks', 'client_id', 'token_id', 'created_at');
-- Name: entity_limit row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.entity_limit FOR EACH ROW EXECUTE FUNCTION public.row_summed('entity_id', 'rate', 'burst', 'day_quota', 'month_quota', 'day_numbers', 'year_numbers');
-- Name: mandate row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.mandate FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'entity_id', 'principal', 'purposes', 'until', 'document', 'created_at', 'created_by', 'ended_at');
-- Name: session row_summed; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON public.session FOR EACH ROW EXECUTE FUNCTION public.row_summed('id', 'account_id', 'mac', 'limited', 'proved_at', 'expires_at', 'revoked_at', 'created_at');
-- Name: access_given row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.access_given FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: access_token row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.access_token FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: account row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.account FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: account_link row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.account_link FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: api_key row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.api_key FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: approval row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.approval FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: break_glass row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.break_glass FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('approval_id');
-- Name: client row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.client FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: client_secret row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.client_secret FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: entity row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.entity FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: entity_limit row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.entity_limit FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('entity_id');
-- Name: mandate row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.mandate FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: session row_updated; Type: TRIGGER; Schema: public; Owner: -
CREATE TRIGGER row_updated AFTER UPDATE ON public.session FOR EACH ROW WHEN ((old.row_sum IS DISTINCT FROM new.row_sum)) EXECUTE FUNCTION public.row_changed('id');
-- Name: access_token access_token_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(id);
-- Name: access_token access_token_secret_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_secret_id_fkey FOREIGN KEY (secret_id) REFERENCES public.client_secret(id);
-- Name: account account_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: account_link account_link_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account_link
    ADD CONSTRAINT account_link_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
-- Name: api_key api_key_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: api_key api_key_replaces_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_replaces_fkey FOREIGN KEY (replaces) REFERENCES public.api_key(id);
-- Name: break_glass break_glass_approval_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.break_glass
    ADD CONSTRAINT break_glass_approval_id_fkey FOREIGN KEY (approval_id) REFERENCES public.approval(id);
-- Name: client_secret client_secret_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.client_secret
    ADD CONSTRAINT client_secret_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(id);
-- Name: document document_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: document_move document_move_document_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.document_move
    ADD CONSTRAINT document_move_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.document(id);
-- Name: document document_replaced_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_replaced_by_fkey FOREIGN KEY (replaced_by) REFERENCES public.document(id);
-- Name: entity entity_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.entity
    ADD CONSTRAINT entity_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(id);
-- Name: entity_limit entity_limit_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.entity_limit
    ADD CONSTRAINT entity_limit_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: feed_head feed_head_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.feed_head
    ADD CONSTRAINT feed_head_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: file_job_chunk file_job_chunk_job_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.file_job_chunk
    ADD CONSTRAINT file_job_chunk_job_fkey FOREIGN KEY (job) REFERENCES public.file_job(id) ON DELETE CASCADE;
-- Name: file_job file_job_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.file_job
    ADD CONSTRAINT file_job_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: file_job file_job_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.file_job
    ADD CONSTRAINT file_job_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_key(id);
-- Name: guard_alert guard_alert_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.guard_alert
    ADD CONSTRAINT guard_alert_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: guard_alert guard_alert_sponsor_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.guard_alert
    ADD CONSTRAINT guard_alert_sponsor_id_fkey FOREIGN KEY (sponsor_id) REFERENCES public.client(id);
-- Name: hook_attempt hook_attempt_endpoint_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_attempt
    ADD CONSTRAINT hook_attempt_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.hook_endpoint(id) ON DELETE CASCADE;
-- Name: hook_cursor hook_cursor_endpoint_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_cursor
    ADD CONSTRAINT hook_cursor_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.hook_endpoint(id) ON DELETE CASCADE;
-- Name: hook_dead hook_dead_endpoint_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_dead
    ADD CONSTRAINT hook_dead_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.hook_endpoint(id) ON DELETE CASCADE;
-- Name: hook_endpoint hook_endpoint_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_endpoint
    ADD CONSTRAINT hook_endpoint_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: hook_endpoint hook_endpoint_made_by_key_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.hook_endpoint
    ADD CONSTRAINT hook_endpoint_made_by_key_fkey FOREIGN KEY (made_by_key) REFERENCES public.api_key(id);
-- Name: impact_notice impact_notice_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.impact_notice
    ADD CONSTRAINT impact_notice_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: login_device login_device_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.login_device
    ADD CONSTRAINT login_device_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
-- Name: mandate mandate_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.mandate
    ADD CONSTRAINT mandate_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: message message_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
-- Name: message_mute message_mute_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.message_mute
    ADD CONSTRAINT message_mute_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
-- Name: numbering_network numbering_network_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.numbering_network
    ADD CONSTRAINT numbering_network_version_fkey FOREIGN KEY (version) REFERENCES public.numbering_plan(version);
-- Name: numbering_range numbering_range_version_network_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.numbering_range
    ADD CONSTRAINT numbering_range_version_network_fkey FOREIGN KEY (version, network) REFERENCES public.numbering_network(version, network);
-- Name: recovery_code recovery_code_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT recovery_code_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.second_factor(account_id) ON DELETE CASCADE;
-- Name: rehearsal_clock rehearsal_clock_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.rehearsal_clock
    ADD CONSTRAINT rehearsal_clock_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_key(id);
-- Name: second_factor second_factor_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.second_factor
    ADD CONSTRAINT second_factor_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
-- Name: session session_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
-- Name: usage_day usage_day_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.usage_day
    ADD CONSTRAINT usage_day_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: usage_key usage_key_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.usage_key
    ADD CONSTRAINT usage_key_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: usage_pace usage_pace_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.usage_pace
    ADD CONSTRAINT usage_pace_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: watch_list watch_list_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.watch_list
    ADD CONSTRAINT watch_list_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
GRANT ALL ON SCHEMA public TO lineproof_owner;
-- Name: FUNCTION journal_drop_day(the_day date); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.journal_drop_day(the_day date) FROM PUBLIC;
-- Name: FUNCTION journal_make_day(the_day date); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.journal_make_day(the_day date) FROM PUBLIC;
-- Name: FUNCTION journal_make_partitions(days integer); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.journal_make_partitions(days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.journal_make_partitions(days integer) TO lineproof_serve;
-- Name: FUNCTION journal_summarize(); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.journal_summarize() FROM PUBLIC;
GRANT ALL ON FUNCTION public.journal_summarize() TO lineproof_serve;
-- Name: FUNCTION line_delete_baselines(snapshot integer, after bigint, last bigint, OUT deleted bigint, OUT running bigint); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.line_delete_baselines(snapshot integer, after bigint, last bigint, OUT deleted bigint, OUT running bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.line_delete_baselines(snapshot integer, after bigint, last bigint, OUT deleted bigint, OUT running bigint) TO lineproof_serve;
-- Name: FUNCTION log_drop_day(the_day date); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.log_drop_day(the_day date) FROM PUBLIC;
-- Name: FUNCTION log_note(); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.log_note() FROM PUBLIC;
-- Name: FUNCTION log_note_all(); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.log_note_all() FROM PUBLIC;
-- Name: TABLE numbering_network; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.numbering_network TO lineproof_serve;
GRANT SELECT ON TABLE public.numbering_network TO lineproof_read;
-- Name: TABLE numbering_plan; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.numbering_plan TO lineproof_serve;
GRANT SELECT ON TABLE public.numbering_plan TO lineproof_read;
-- Name: TABLE numbering_range; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.numbering_range TO lineproof_serve;
GRANT SELECT ON TABLE public.numbering_range TO lineproof_read;
-- Name: TABLE policy; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.policy TO lineproof_serve;
GRANT SELECT ON TABLE public.policy TO lineproof_read;
-- Name: TABLE supply_import; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.supply_import TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_import TO lineproof_read;
-- Name: TABLE audit_hour; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.audit_hour TO lineproof_serve;
GRANT SELECT ON TABLE public.audit_hour TO lineproof_read;
-- Name: TABLE erasure; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.erasure TO lineproof_serve;
GRANT SELECT ON TABLE public.erasure TO lineproof_read;
-- Name: COLUMN erasure.state; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(state) ON TABLE public.erasure TO lineproof_serve;
-- Name: COLUMN erasure.confirmed_at; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(confirmed_at) ON TABLE public.erasure TO lineproof_serve;
-- Name: TABLE journal_archive; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.journal_archive TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_archive TO lineproof_read;
-- Name: TABLE journal_erased; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.journal_erased TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_erased TO lineproof_read;
-- Name: TABLE journal_erased_day; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.journal_erased_day TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_erased_day TO lineproof_read;
-- Name: TABLE log_entry; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.log_entry TO lineproof_serve;
GRANT SELECT ON TABLE public.log_entry TO lineproof_read;
-- Name: TABLE log_head; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.log_head TO lineproof_serve;
GRANT SELECT ON TABLE public.log_head TO lineproof_read;
-- Name: COLUMN log_head.size; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(size) ON TABLE public.log_head TO lineproof_serve;
-- Name: COLUMN log_head.edge; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(edge) ON TABLE public.log_head TO lineproof_serve;
-- Name: COLUMN log_head.root; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(root) ON TABLE public.log_head TO lineproof_serve;
-- Name: COLUMN log_head.seen; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(seen) ON TABLE public.log_head TO lineproof_serve;
-- Name: COLUMN log_head.since; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(since) ON TABLE public.log_head TO lineproof_serve;
-- Name: COLUMN log_head.system; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(system) ON TABLE public.log_head TO lineproof_serve;
-- Name: TABLE log_key; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.log_key TO lineproof_serve;
GRANT SELECT ON TABLE public.log_key TO lineproof_read;
-- Name: TABLE log_pending; Type: ACL; Schema: public; Owner: -
GRANT SELECT,DELETE ON TABLE public.log_pending TO lineproof_serve;
GRANT SELECT ON TABLE public.log_pending TO lineproof_read;
-- Name: TABLE log_source; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.log_source TO lineproof_serve;
GRANT SELECT ON TABLE public.log_source TO lineproof_read;
-- Name: FUNCTION log_note_months(); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.log_note_months() FROM PUBLIC;
GRANT ALL ON FUNCTION public.log_note_months() TO lineproof_serve;
-- Name: FUNCTION refused_request_make_partitions(); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.refused_request_make_partitions() FROM PUBLIC;
GRANT ALL ON FUNCTION public.refused_request_make_partitions() TO lineproof_serve;
-- Name: TABLE access_channel; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.access_channel TO lineproof_serve;
-- Name: TABLE access_given; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.access_given TO lineproof_serve;
GRANT SELECT ON TABLE public.access_given TO lineproof_read;
-- Name: COLUMN access_given.row_mac; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(row_mac) ON TABLE public.access_given TO lineproof_serve;
-- Name: TABLE access_token; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.access_token TO lineproof_serve;
-- Name: COLUMN access_token.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.access_token TO lineproof_read;
-- Name: COLUMN access_token.client_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(client_id) ON TABLE public.access_token TO lineproof_read;
-- Name: COLUMN access_token.secret_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(secret_id) ON TABLE public.access_token TO lineproof_read;
-- Name: COLUMN access_token.scopes; Type: ACL; Schema: public; Owner: -
GRANT SELECT(scopes) ON TABLE public.access_token TO lineproof_read;
-- Name: COLUMN access_token.expires_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expires_at) ON TABLE public.access_token TO lineproof_read;
-- Name: COLUMN access_token.revoked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(revoked_at) ON TABLE public.access_token TO lineproof_read;
-- Name: COLUMN access_token.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.access_token TO lineproof_read;
-- Name: TABLE account; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.account TO lineproof_serve;
-- Name: COLUMN account.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.kind; Type: ACL; Schema: public; Owner: -
GRANT SELECT(kind) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.entity_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(entity_id) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.role; Type: ACL; Schema: public; Owner: -
GRANT SELECT(role) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.makes_keys; Type: ACL; Schema: public; Owner: -
GRANT SELECT(makes_keys) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.supplies; Type: ACL; Schema: public; Owner: -
GRANT SELECT(supplies) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.name; Type: ACL; Schema: public; Owner: -
GRANT SELECT(name) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.email; Type: ACL; Schema: public; Owner: -
GRANT SELECT(email) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.email_key; Type: ACL; Schema: public; Owner: -
GRANT SELECT(email_key) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.phone; Type: ACL; Schema: public; Owner: -
GRANT SELECT(phone) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.verified_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(verified_at) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.verified_by; Type: ACL; Schema: public; Owner: -
GRANT SELECT(verified_by) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.disabled_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(disabled_at) ON TABLE public.account TO lineproof_read;
-- Name: COLUMN account.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.account TO lineproof_read;
-- Name: TABLE account_link; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_link TO lineproof_serve;
-- Name: COLUMN account_link.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.account_link TO lineproof_read;
-- Name: COLUMN account_link.account_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(account_id) ON TABLE public.account_link TO lineproof_read;
-- Name: COLUMN account_link.kind; Type: ACL; Schema: public; Owner: -
GRANT SELECT(kind) ON TABLE public.account_link TO lineproof_read;
-- Name: COLUMN account_link.expires_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expires_at) ON TABLE public.account_link TO lineproof_read;
-- Name: COLUMN account_link.used_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(used_at) ON TABLE public.account_link TO lineproof_read;
-- Name: COLUMN account_link.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.account_link TO lineproof_read;
-- Name: TABLE api_key; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.api_key TO lineproof_serve;
-- Name: COLUMN api_key.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.entity_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(entity_id) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.name; Type: ACL; Schema: public; Owner: -
GRANT SELECT(name) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.mode; Type: ACL; Schema: public; Owner: -
GRANT SELECT(mode) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.purpose; Type: ACL; Schema: public; Owner: -
GRANT SELECT(purpose) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.purpose_text; Type: ACL; Schema: public; Owner: -
GRANT SELECT(purpose_text) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.preview; Type: ACL; Schema: public; Owner: -
GRANT SELECT(preview) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.networks; Type: ACL; Schema: public; Owner: -
GRANT SELECT(networks) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.rate; Type: ACL; Schema: public; Owner: -
GRANT SELECT(rate) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.burst; Type: ACL; Schema: public; Owner: -
GRANT SELECT(burst) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.replaces; Type: ACL; Schema: public; Owner: -
GRANT SELECT(replaces) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.last_used_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(last_used_at) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.last_used_from; Type: ACL; Schema: public; Owner: -
GRANT SELECT(last_used_from) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.expires_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expires_at) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.expiry_notice; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expiry_notice) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.leak_notice_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(leak_notice_at) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.revoked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(revoked_at) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.revoked_by; Type: ACL; Schema: public; Owner: -
GRANT SELECT(revoked_by) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.created_by; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_by) ON TABLE public.api_key TO lineproof_read;
-- Name: TABLE approval; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.approval TO lineproof_serve;
GRANT SELECT ON TABLE public.approval TO lineproof_read;
-- Name: TABLE audit; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.audit TO lineproof_serve;
GRANT SELECT ON TABLE public.audit TO lineproof_read;
-- Name: TABLE break_glass; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.break_glass TO lineproof_serve;
GRANT SELECT ON TABLE public.break_glass TO lineproof_read;
-- Name: COLUMN break_glass.row_mac; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(row_mac) ON TABLE public.break_glass TO lineproof_serve;
-- Name: TABLE class_told; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.class_told TO lineproof_serve;
-- Name: TABLE client; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.client TO lineproof_serve;
GRANT SELECT ON TABLE public.client TO lineproof_read;
-- Name: TABLE client_secret; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.client_secret TO lineproof_serve;
-- Name: COLUMN client_secret.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.client_secret TO lineproof_read;
-- Name: COLUMN client_secret.client_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(client_id) ON TABLE public.client_secret TO lineproof_read;
-- Name: COLUMN client_secret.preview; Type: ACL; Schema: public; Owner: -
GRANT SELECT(preview) ON TABLE public.client_secret TO lineproof_read;
-- Name: COLUMN client_secret.waits; Type: ACL; Schema: public; Owner: -
GRANT SELECT(waits) ON TABLE public.client_secret TO lineproof_read;
-- Name: COLUMN client_secret.last_used_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(last_used_at) ON TABLE public.client_secret TO lineproof_read;
-- Name: COLUMN client_secret.revoked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(revoked_at) ON TABLE public.client_secret TO lineproof_read;
-- Name: COLUMN client_secret.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.client_secret TO lineproof_read;
-- Name: TABLE document; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.document TO lineproof_serve;
GRANT SELECT ON TABLE public.document TO lineproof_read;
-- Name: COLUMN document.state; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(state) ON TABLE public.document TO lineproof_serve;
-- Name: COLUMN document.reason; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(reason) ON TABLE public.document TO lineproof_serve;
-- Name: COLUMN document.note; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(note) ON TABLE public.document TO lineproof_serve;
-- Name: COLUMN document.moved_at; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(moved_at) ON TABLE public.document TO lineproof_serve;
-- Name: COLUMN document.replaced_by; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(replaced_by) ON TABLE public.document TO lineproof_serve;
-- Name: COLUMN document.held_at; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(held_at) ON TABLE public.document TO lineproof_serve;
-- Name: COLUMN document.held_for; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(held_for) ON TABLE public.document TO lineproof_serve;
-- Name: TABLE document_move; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.document_move TO lineproof_serve;
GRANT SELECT ON TABLE public.document_move TO lineproof_read;
-- Name: TABLE entity; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.entity TO lineproof_serve;
GRANT SELECT ON TABLE public.entity TO lineproof_read;
-- Name: TABLE entity_limit; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.entity_limit TO lineproof_serve;
GRANT SELECT ON TABLE public.entity_limit TO lineproof_read;
-- Name: TABLE feed_entry; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.feed_entry TO lineproof_serve;
-- Name: TABLE feed_epoch; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.feed_epoch TO lineproof_serve;
-- Name: TABLE feed_head; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.feed_head TO lineproof_serve;
-- Name: COLUMN feed_head.seq; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(seq) ON TABLE public.feed_head TO lineproof_serve;
-- Name: COLUMN feed_head.hash; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(hash) ON TABLE public.feed_head TO lineproof_serve;
-- Name: TABLE file_job; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.file_job TO lineproof_serve;
GRANT SELECT ON TABLE public.file_job TO lineproof_read;
-- Name: TABLE file_job_chunk; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.file_job_chunk TO lineproof_serve;
GRANT SELECT ON TABLE public.file_job_chunk TO lineproof_read;
-- Name: TABLE goose_db_version; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.goose_db_version TO lineproof_serve;
GRANT SELECT ON TABLE public.goose_db_version TO lineproof_read;
-- Name: TABLE guard_alert; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.guard_alert TO lineproof_serve;
GRANT SELECT ON TABLE public.guard_alert TO lineproof_read;
-- Name: TABLE guard_entered; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guard_entered TO lineproof_serve;
-- Name: TABLE guard_key; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.guard_key TO lineproof_serve;
-- Name: TABLE guard_seen; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.guard_seen TO lineproof_serve;
-- Name: TABLE guard_year; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guard_year TO lineproof_serve;
-- Name: TABLE hook_attempt; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hook_attempt TO lineproof_serve;
-- Name: TABLE hook_cursor; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hook_cursor TO lineproof_serve;
-- Name: TABLE hook_dead; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hook_dead TO lineproof_serve;
-- Name: TABLE hook_endpoint; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hook_endpoint TO lineproof_serve;
-- Name: TABLE idempotency; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency TO lineproof_serve;
-- Name: TABLE impact_notice; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.impact_notice TO lineproof_serve;
-- Name: COLUMN impact_notice.acknowledged_at; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(acknowledged_at) ON TABLE public.impact_notice TO lineproof_serve;
-- Name: TABLE journal_archive_run; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.journal_archive_run TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_archive_run TO lineproof_read;
-- Name: TABLE journal_batch; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.journal_batch TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_batch TO lineproof_read;
-- Name: TABLE journal_checked; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.journal_checked TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_checked TO lineproof_read;
-- Name: TABLE journal_day; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.journal_day TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_day TO lineproof_read;
-- Name: TABLE journal_entry; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.journal_entry TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_entry TO lineproof_read;
-- Name: SEQUENCE journal_epoch; Type: ACL; Schema: public; Owner: -
GRANT USAGE ON SEQUENCE public.journal_epoch TO lineproof_serve;
-- Name: TABLE journal_epoch_end; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.journal_epoch_end TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_epoch_end TO lineproof_read;
-- Name: TABLE journal_epoch_skip; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.journal_epoch_skip TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_epoch_skip TO lineproof_read;
-- Name: TABLE journal_epoch_start; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.journal_epoch_start TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_epoch_start TO lineproof_read;
-- Name: TABLE journal_fence; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.journal_fence TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_fence TO lineproof_read;
-- Name: TABLE journal_minute; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.journal_minute TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_minute TO lineproof_read;
-- Name: TABLE journal_replaced; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.journal_replaced TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_replaced TO lineproof_read;
-- Name: TABLE journal_returned; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.journal_returned TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_returned TO lineproof_read;
-- Name: TABLE journal_rewrite; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.journal_rewrite TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_rewrite TO lineproof_read;
-- Name: TABLE legal_hold; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.legal_hold TO lineproof_serve;
GRANT SELECT ON TABLE public.legal_hold TO lineproof_read;
-- Name: COLUMN legal_hold.ended_at; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(ended_at) ON TABLE public.legal_hold TO lineproof_serve;
-- Name: TABLE line_change; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.line_change TO lineproof_serve;
-- Name: SEQUENCE line_change_n; Type: ACL; Schema: public; Owner: -
GRANT SELECT,USAGE ON SEQUENCE public.line_change_n TO lineproof_serve;
-- Name: TABLE line_event; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.line_event TO lineproof_serve;
GRANT SELECT ON TABLE public.line_event TO lineproof_read;
-- Name: SEQUENCE line_event_seq; Type: ACL; Schema: public; Owner: -
GRANT USAGE ON SEQUENCE public.line_event_seq TO lineproof_serve;
-- Name: TABLE line_now; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.line_now TO lineproof_serve;
GRANT SELECT ON TABLE public.line_now TO lineproof_read;
-- Name: TABLE line_open; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.line_open TO lineproof_serve;
GRANT SELECT ON TABLE public.line_open TO lineproof_read;
-- Name: TABLE line_order; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.line_order TO lineproof_serve;
GRANT SELECT ON TABLE public.line_order TO lineproof_read;
-- Name: TABLE line_seal; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.line_seal TO lineproof_serve;
-- Name: COLUMN line_seal.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.line_seal TO lineproof_read;
-- Name: COLUMN line_seal.until; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(until) ON TABLE public.line_seal TO lineproof_serve;
GRANT SELECT(until) ON TABLE public.line_seal TO lineproof_read;
-- Name: COLUMN line_seal.active; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(active) ON TABLE public.line_seal TO lineproof_serve;
GRANT SELECT(active) ON TABLE public.line_seal TO lineproof_read;
-- Name: COLUMN line_seal.asked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(asked_at) ON TABLE public.line_seal TO lineproof_read;
-- Name: COLUMN line_seal.expires_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expires_at) ON TABLE public.line_seal TO lineproof_read;
-- Name: TABLE line_timer; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.line_timer TO lineproof_serve;
-- Name: TABLE log_checkpoint; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.log_checkpoint TO lineproof_serve;
GRANT SELECT ON TABLE public.log_checkpoint TO lineproof_read;
-- Name: TABLE log_published; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.log_published TO lineproof_serve;
GRANT SELECT ON TABLE public.log_published TO lineproof_read;
-- Name: COLUMN log_published.written; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(written) ON TABLE public.log_published TO lineproof_serve;
-- Name: COLUMN log_published.published; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(published) ON TABLE public.log_published TO lineproof_serve;
-- Name: COLUMN log_published.note; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(note) ON TABLE public.log_published TO lineproof_serve;
-- Name: COLUMN log_published.at; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(at) ON TABLE public.log_published TO lineproof_serve;
-- Name: TABLE login_device; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.login_device TO lineproof_serve;
-- Name: COLUMN login_device.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.login_device TO lineproof_read;
-- Name: COLUMN login_device.account_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(account_id) ON TABLE public.login_device TO lineproof_read;
-- Name: COLUMN login_device.last_used_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(last_used_at) ON TABLE public.login_device TO lineproof_read;
-- Name: COLUMN login_device.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.login_device TO lineproof_read;
-- Name: TABLE login_trouble; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.login_trouble TO lineproof_serve;
-- Name: COLUMN login_trouble.tries; Type: ACL; Schema: public; Owner: -
GRANT SELECT(tries) ON TABLE public.login_trouble TO lineproof_read;
-- Name: COLUMN login_trouble.counted_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(counted_at) ON TABLE public.login_trouble TO lineproof_read;
-- Name: COLUMN login_trouble.not_before; Type: ACL; Schema: public; Owner: -
GRANT SELECT(not_before) ON TABLE public.login_trouble TO lineproof_read;
-- Name: COLUMN login_trouble.failed; Type: ACL; Schema: public; Owner: -
GRANT SELECT(failed) ON TABLE public.login_trouble TO lineproof_read;
-- Name: COLUMN login_trouble.account_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(account_id) ON TABLE public.login_trouble TO lineproof_read;
-- Name: TABLE mandate; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.mandate TO lineproof_serve;
GRANT SELECT ON TABLE public.mandate TO lineproof_read;
-- Name: COLUMN mandate.ended_at; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(ended_at) ON TABLE public.mandate TO lineproof_serve;
-- Name: COLUMN mandate.ended_by; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(ended_by) ON TABLE public.mandate TO lineproof_serve;
-- Name: COLUMN mandate.row_mac; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(row_mac) ON TABLE public.mandate TO lineproof_serve;
-- Name: TABLE message; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message TO lineproof_serve;
GRANT SELECT ON TABLE public.message TO lineproof_read;
-- Name: TABLE message_mute; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.message_mute TO lineproof_serve;
GRANT SELECT ON TABLE public.message_mute TO lineproof_read;
-- Name: TABLE network; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.network TO lineproof_serve;
GRANT SELECT ON TABLE public.network TO lineproof_read;
-- Name: TABLE network_lines; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.network_lines TO lineproof_serve;
GRANT SELECT ON TABLE public.network_lines TO lineproof_read;
-- Name: TABLE numbering_draft; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.numbering_draft TO lineproof_serve;
GRANT SELECT ON TABLE public.numbering_draft TO lineproof_read;
-- Name: TABLE outbox_mark; Type: ACL; Schema: public; Owner: -
GRANT SELECT,UPDATE ON TABLE public.outbox_mark TO lineproof_serve;
-- Name: TABLE pepper_check; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.pepper_check TO lineproof_serve;
-- Name: TABLE recovery_code; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.recovery_code TO lineproof_serve;
-- Name: COLUMN recovery_code.account_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(account_id) ON TABLE public.recovery_code TO lineproof_read;
-- Name: COLUMN recovery_code.used_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(used_at) ON TABLE public.recovery_code TO lineproof_read;
-- Name: TABLE refused_request; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.refused_request TO lineproof_serve;
GRANT SELECT ON TABLE public.refused_request TO lineproof_read;
-- Name: TABLE rehearsal_clock; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.rehearsal_clock TO lineproof_serve;
GRANT SELECT ON TABLE public.rehearsal_clock TO lineproof_read;
-- Name: TABLE river_job; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.river_job TO lineproof_serve;
GRANT SELECT ON TABLE public.river_job TO lineproof_read;
-- Name: SEQUENCE river_job_id_seq; Type: ACL; Schema: public; Owner: -
GRANT USAGE ON SEQUENCE public.river_job_id_seq TO lineproof_serve;
-- Name: TABLE river_leader; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.river_leader TO lineproof_serve;
GRANT SELECT ON TABLE public.river_leader TO lineproof_read;
-- Name: TABLE river_migration; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.river_migration TO lineproof_serve;
GRANT SELECT ON TABLE public.river_migration TO lineproof_read;
-- Name: TABLE river_notification; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.river_notification TO lineproof_serve;
GRANT SELECT ON TABLE public.river_notification TO lineproof_read;
-- Name: SEQUENCE river_notification_id_seq; Type: ACL; Schema: public; Owner: -
GRANT USAGE ON SEQUENCE public.river_notification_id_seq TO lineproof_serve;
-- Name: TABLE river_queue; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.river_queue TO lineproof_serve;
GRANT SELECT ON TABLE public.river_queue TO lineproof_read;
-- Name: TABLE row_signed; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.row_signed TO lineproof_serve;
-- Name: TABLE running_node; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.running_node TO lineproof_serve;
GRANT SELECT ON TABLE public.running_node TO lineproof_read;
-- Name: TABLE sealed_change; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.sealed_change TO lineproof_serve;
-- Name: COLUMN sealed_change.feed; Type: ACL; Schema: public; Owner: -
GRANT UPDATE(feed) ON TABLE public.sealed_change TO lineproof_serve;
-- Name: TABLE second_factor; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.second_factor TO lineproof_serve;
-- Name: COLUMN second_factor.account_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(account_id) ON TABLE public.second_factor TO lineproof_read;
-- Name: COLUMN second_factor.wrong_codes; Type: ACL; Schema: public; Owner: -
GRANT SELECT(wrong_codes) ON TABLE public.second_factor TO lineproof_read;
-- Name: COLUMN second_factor.locked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(locked_at) ON TABLE public.second_factor TO lineproof_read;
-- Name: COLUMN second_factor.confirmed_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(confirmed_at) ON TABLE public.second_factor TO lineproof_read;
-- Name: COLUMN second_factor.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.second_factor TO lineproof_read;
-- Name: TABLE session; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.session TO lineproof_serve;
-- Name: COLUMN session.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.account_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(account_id) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.from_addr; Type: ACL; Schema: public; Owner: -
GRANT SELECT(from_addr) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.agent; Type: ACL; Schema: public; Owner: -
GRANT SELECT(agent) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.limited; Type: ACL; Schema: public; Owner: -
GRANT SELECT(limited) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.last_seen_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(last_seen_at) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.proved_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(proved_at) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.expires_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expires_at) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.revoked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(revoked_at) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.session TO lineproof_read;
-- Name: TABLE supplier; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.supplier TO lineproof_serve;
GRANT SELECT ON TABLE public.supplier TO lineproof_read;
-- Name: TABLE supply_announced; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.supply_announced TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_announced TO lineproof_read;
-- Name: TABLE supply_coverage; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.supply_coverage TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_coverage TO lineproof_read;
-- Name: TABLE supply_coverage_history; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.supply_coverage_history TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_coverage_history TO lineproof_read;
-- Name: TABLE supply_day; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.supply_day TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_day TO lineproof_read;
-- Name: TABLE supply_example; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.supply_example TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_example TO lineproof_read;
-- Name: TABLE supply_reach; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.supply_reach TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_reach TO lineproof_read;
-- Name: TABLE supply_refused; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.supply_refused TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_refused TO lineproof_read;
-- Name: TABLE supply_refused_value; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE ON TABLE public.supply_refused_value TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_refused_value TO lineproof_read;
-- Name: TABLE supply_share; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.supply_share TO lineproof_serve;
GRANT SELECT ON TABLE public.supply_share TO lineproof_read;
-- Name: TABLE tally_mark; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.tally_mark TO lineproof_serve;
GRANT SELECT ON TABLE public.tally_mark TO lineproof_read;
-- Name: TABLE usage_day; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.usage_day TO lineproof_serve;
GRANT SELECT ON TABLE public.usage_day TO lineproof_read;
-- Name: TABLE usage_key; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.usage_key TO lineproof_serve;
GRANT SELECT ON TABLE public.usage_key TO lineproof_read;
-- Name: TABLE usage_pace; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.usage_pace TO lineproof_serve;
GRANT SELECT ON TABLE public.usage_pace TO lineproof_read;
-- Name: TABLE watch_block; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.watch_block TO lineproof_serve;
-- Name: TABLE watch_list; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.watch_list TO lineproof_serve;
-- Name: SEQUENCE watch_block_list; Type: ACL; Schema: public; Owner: -
GRANT USAGE ON SEQUENCE public.watch_block_list TO lineproof_serve;
-- Name: TABLE who_asked; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.who_asked TO lineproof_serve;
-- Name: COLUMN who_asked.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.who_asked TO lineproof_read;
-- Name: COLUMN who_asked.first_day; Type: ACL; Schema: public; Owner: -
GRANT SELECT(first_day) ON TABLE public.who_asked TO lineproof_read;
-- Name: COLUMN who_asked.last_day; Type: ACL; Schema: public; Owner: -
GRANT SELECT(last_day) ON TABLE public.who_asked TO lineproof_read;
-- Name: COLUMN who_asked.allowed; Type: ACL; Schema: public; Owner: -
GRANT SELECT(allowed) ON TABLE public.who_asked TO lineproof_read;
-- Name: COLUMN who_asked.expires_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expires_at) ON TABLE public.who_asked TO lineproof_read;
-- PostgreSQL database dump complete
