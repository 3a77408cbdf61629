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
-- Name: journal_make_partitions(integer); Type: FUNCTION; Schema: public; Owner: -
CREATE FUNCTION public.journal_make_partitions(days integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
DECLARE
    today  date := (now() AT TIME ZONE 'UTC')::date;
    parent text;
    child  text;
    made   integer := 0;
BEGIN
    IF days IS NULL OR days < 0 OR days > 366 THEN
        RAISE EXCEPTION 'days must be between 0 and 366';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('lineproof journal partitions', 0));
    FOREACH parent IN ARRAY ARRAY['journal_batch', 'journal_entry'] LOOP
        FOR day IN -1 .. days LOOP
            child := parent || '_' || to_char(today + day, 'YYYYMMDD');
            IF to_regclass('public.' || child) IS NULL THEN
                EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING ALL)', child, parent);
                EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
                    to_char(today + day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(today + day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
                made := made + 1;
            END IF;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;
-- Name: FUNCTION journal_make_partitions(days integer); Type: COMMENT; Schema: public; Owner: -
COMMENT ON FUNCTION public.journal_make_partitions(days integer) IS 'Makes the journal''s daily partitions from yesterday to so many days ahead; returns how many were missing.';
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
-- Name: access_token; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.access_token (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    mac bytea NOT NULL,
    scopes text[] NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
-- Name: TABLE access_token; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.access_token IS 'Access tokens that clients hold, as HMACs.';
-- Name: account; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.account (
    id uuid NOT NULL,
    kind text NOT NULL,
    entity_id uuid,
    role text,
    name text NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    phone bigint,
    password_hash text,
    verified_at timestamp with time zone,
    verified_by text,
    disabled_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT account_check CHECK (((kind = 'staff'::text) = (entity_id IS NULL))),
    CONSTRAINT account_check1 CHECK (((kind = 'staff'::text) = (role IS NOT NULL))),
    CONSTRAINT account_check2 CHECK (((verified_at IS NULL) = (verified_by IS NULL))),
    CONSTRAINT account_kind_check CHECK ((kind = ANY (ARRAY['staff'::text, 'admin'::text, 'member'::text]))),
    CONSTRAINT account_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT account_role_check CHECK ((role = ANY (ARRAY['administrator'::text, 'reviewer'::text, 'auditor'::text]))),
    CONSTRAINT account_verified_by_check CHECK ((verified_by = ANY (ARRAY['email'::text, 'phone'::text, 'client'::text])))
);
-- Name: TABLE account; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.account IS 'A person who can log in: staff of the regulator, admin of an entity, or member of one.';
-- Name: COLUMN account.email; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.email IS 'The address as it was sent; email_key is its case-folded form, unique over all kinds.';
-- Name: COLUMN account.phone; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.phone IS 'E.164 without the plus sign, unique over all kinds.';
-- Name: COLUMN account.verified_by; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.account.verified_by IS 'What confirmed the account: its e-mail, its phone, or the word of a client that may vouch.';
-- Name: api_key; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.api_key (
    id uuid NOT NULL,
    entity_id uuid NOT NULL,
    name text NOT NULL,
    mode text NOT NULL,
    purpose text DEFAULT ''::text NOT NULL,
    mac bytea NOT NULL,
    preview text NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT api_key_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT api_key_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100)))
);
-- Name: TABLE api_key; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.api_key IS 'Keys with which the programs of an entity ask, as HMACs.';
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
    CONSTRAINT audit_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['client'::text, 'account'::text, 'operator'::text])))
);
-- Name: TABLE audit; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.audit IS 'What staff, admins, clients and operators did, written in the transaction that did it. Append-only; no foreign keys, so that an entry outlives its subject.';
-- Name: COLUMN audit.actor_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.audit.actor_id IS 'The client or account that acted; null for the operator at the command line.';
-- Name: client; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.client (
    id uuid NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    network text DEFAULT ''::text NOT NULL,
    vouches boolean DEFAULT false NOT NULL,
    suspended_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT client_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);
-- Name: TABLE client; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.client IS 'A program of a pre-approved telco, or of another authority, that may ask for access tokens.';
-- Name: COLUMN client.network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client.network IS 'The network for which the client may supply lines; empty where it supplies none.';
-- Name: COLUMN client.vouches; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.client.vouches IS 'Whether admins that the client brings in count as verified from the start.';
-- Name: client_secret; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.client_secret (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    mac bytea NOT NULL,
    preview text NOT NULL,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
-- Name: TABLE client_secret; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.client_secret IS 'The secrets of a client, as HMACs; two may stand at a time so that one can be rotated.';
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
    state text NOT NULL,
    uploader text NOT NULL,
    uploader_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT document_sha256_check CHECK ((octet_length(sha256) = 32)),
    CONSTRAINT document_size_check CHECK ((size > 0)),
    CONSTRAINT document_state_check CHECK ((state = 'received'::text)),
    CONSTRAINT document_uploader_check CHECK ((uploader = ANY (ARRAY['client'::text, 'account'::text])))
);
-- Name: TABLE document; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.document IS 'Papers that entities uploaded. The content is in the blob store under the id.';
-- Name: COLUMN document.label; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.label IS 'The type as it was sent; type is OTHER where it is none of the known ones.';
-- Name: COLUMN document.file_name; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.document.file_name IS 'Metadata only: never a path.';
-- Name: entity; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.entity (
    id uuid NOT NULL,
    name text NOT NULL,
    cac text NOT NULL,
    cac_class text,
    cac_digits text,
    status text NOT NULL,
    document_required boolean NOT NULL,
    supplies boolean NOT NULL,
    asks boolean NOT NULL,
    client_id uuid,
    token_id uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT entity_cac_check CHECK (((char_length(cac) >= 1) AND (char_length(cac) <= 32))),
    CONSTRAINT entity_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT entity_status_check CHECK ((status = ANY (ARRAY['Approved'::text, 'Suspended'::text, 'Revoked'::text])))
);
-- Name: TABLE entity; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.entity IS 'A telco, bank or service provider that the regulator has let in.';
-- Name: COLUMN entity.cac; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.cac IS 'The CAC number as it was sent; class and digits are its canonical form where the form is known.';
-- Name: COLUMN entity.client_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.client_id IS 'The client that brought the entity in; its credential is the pre-approval.';
-- Name: COLUMN entity.token_id; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.entity.token_id IS 'The access token that brought the entity in; an upload with that token means its last entity.';
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
COMMENT ON TABLE public.idempotency IS 'The first answer to a request that carried an Idempotency-Key, kept for a day and written in the transaction of its effect.';
-- Name: COLUMN idempotency.replayed_at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.idempotency.replayed_at IS 'Written at every replay: the commit of that write proves that the first one is durable, too.';
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
COMMENT ON TABLE public.journal_batch IS 'One flush of the journal: how many entries, their Merkle root, and the transaction that wrote them. Append-only.';
-- Name: COLUMN journal_batch.at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_batch.at IS 'The time of the batch''s first entry. It is fixed before the batch is written, so that a second try would meet the same key.';
-- Name: journal_entry; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.journal_entry (
    request_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    epoch bigint NOT NULL,
    n bigint NOT NULL,
    idx integer NOT NULL,
    entity_id uuid NOT NULL,
    key_id uuid NOT NULL,
    mode text NOT NULL,
    purpose text NOT NULL,
    correlator text NOT NULL,
    number bigint NOT NULL,
    phone_number text NOT NULL,
    options text NOT NULL,
    status text NOT NULL,
    mobile_network text NOT NULL,
    line_version bigint NOT NULL,
    policy_version integer NOT NULL,
    plan_version integer NOT NULL,
    nonce bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT journal_entry_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT journal_entry_nonce_check CHECK ((octet_length(nonce) = 16))
)
PARTITION BY RANGE (at);
-- Name: TABLE journal_entry; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.journal_entry IS 'Every answer that was given, committed before it was given. Append-only; joins nothing.';
-- Name: COLUMN journal_entry.at; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_entry.at IS 'The reading of the clock that is also the verificationTimestamp and the time inside request_id.';
-- Name: COLUMN journal_entry.hash; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.journal_entry.hash IS 'SHA-256 over the canonical encoding in docs/reference/journal-record.md.';
-- Name: journal_epoch; Type: SEQUENCE; Schema: public; Owner: -
CREATE SEQUENCE public.journal_epoch
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
-- Name: SEQUENCE journal_epoch; Type: COMMENT; Schema: public; Owner: -
COMMENT ON SEQUENCE public.journal_epoch IS 'One number for each start of a node: no two processes ever share an epoch, whatever they are called.';
-- Name: line; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.line (
    number bigint NOT NULL,
    version bigint NOT NULL,
    network smallint NOT NULL,
    status smallint NOT NULL
);
-- Name: TABLE line; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.line IS 'One compact row per number that was ever supplied. Joins nothing.';
-- Name: COLUMN line.number; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line.number IS 'E.164 without the plus sign.';
-- Name: COLUMN line.version; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line.version IS 'Counts the changes of the row; the journal names the version that answered.';
-- Name: COLUMN line.status; Type: COMMENT; Schema: public; Owner: -
COMMENT ON COLUMN public.line.status IS 'Code of the status; the words are in package line.';
-- Name: network; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.network (
    id smallint NOT NULL,
    name text NOT NULL,
    CONSTRAINT network_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 64)))
);
-- Name: TABLE network; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.network IS 'Names of the mobile networks.';
-- Name: pepper_check; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.pepper_check (
    mac bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
-- Name: TABLE pepper_check; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.pepper_check IS 'A known text under each pepper that was ever in force, so that a wrong pepper is noticed at start and not by every caller.';
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
-- Name: session; Type: TABLE; Schema: public; Owner: -
CREATE TABLE public.session (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    mac bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
-- Name: TABLE session; Type: COMMENT; Schema: public; Owner: -
COMMENT ON TABLE public.session IS 'Logins of people, as HMACs of their tokens; idle since last_seen_at, which is written in coarse steps.';
-- Name: river_job id; Type: DEFAULT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_job ALTER COLUMN id SET DEFAULT nextval('public.river_job_id_seq'::regclass);
-- Name: river_notification id; Type: DEFAULT; Schema: public; Owner: -
ALTER TABLE ONLY public.river_notification ALTER COLUMN id SET DEFAULT nextval('public.river_notification_id_seq'::regclass);
-- Name: access_token access_token_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_mac_unique UNIQUE (mac);
-- Name: access_token access_token_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_pkey PRIMARY KEY (id);
-- Name: account account_email_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_email_unique UNIQUE (email_key);
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
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
-- Name: client client_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.client
    ADD CONSTRAINT client_pkey PRIMARY KEY (id);
-- Name: client_secret client_secret_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.client_secret
    ADD CONSTRAINT client_secret_mac_unique UNIQUE (mac);
-- Name: client_secret client_secret_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.client_secret
    ADD CONSTRAINT client_secret_pkey PRIMARY KEY (id);
-- Name: document document_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (id);
-- Name: entity entity_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.entity
    ADD CONSTRAINT entity_pkey PRIMARY KEY (id);
-- Name: goose_db_version goose_db_version_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.goose_db_version
    ADD CONSTRAINT goose_db_version_pkey PRIMARY KEY (id);
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (caller, operation, key_mac);
-- Name: journal_batch journal_batch_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.journal_batch
    ADD CONSTRAINT journal_batch_pkey PRIMARY KEY (node, epoch, n, at);
-- Name: line line_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.line
    ADD CONSTRAINT line_pkey PRIMARY KEY (number);
-- Name: network network_name_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.network
    ADD CONSTRAINT network_name_unique UNIQUE (name);
-- Name: network network_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.network
    ADD CONSTRAINT network_pkey PRIMARY KEY (id);
-- Name: pepper_check pepper_check_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.pepper_check
    ADD CONSTRAINT pepper_check_pkey PRIMARY KEY (mac);
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
-- Name: session session_mac_unique; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_mac_unique UNIQUE (mac);
-- Name: session session_pkey; Type: CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);
-- Name: access_token_client; Type: INDEX; Schema: public; Owner: -
CREATE INDEX access_token_client ON public.access_token USING btree (client_id);
-- Name: access_token_expiry; Type: INDEX; Schema: public; Owner: -
CREATE INDEX access_token_expiry ON public.access_token USING btree (expires_at);
-- Name: account_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX account_entity ON public.account USING btree (entity_id);
-- Name: api_key_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX api_key_entity ON public.api_key USING btree (entity_id);
-- Name: audit_at; Type: INDEX; Schema: public; Owner: -
CREATE INDEX audit_at ON public.audit USING btree (at);
-- Name: audit_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX audit_entity ON public.audit USING btree (entity_id, at);
-- Name: client_secret_client; Type: INDEX; Schema: public; Owner: -
CREATE INDEX client_secret_client ON public.client_secret USING btree (client_id);
-- Name: document_entity; Type: INDEX; Schema: public; Owner: -
CREATE INDEX document_entity ON public.document USING btree (entity_id, created_at);
-- Name: entity_cac; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_cac ON public.entity USING btree (cac_class, cac_digits);
-- Name: entity_cac_text; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_cac_text ON public.entity USING btree (upper(cac));
-- Name: entity_client; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_client ON public.entity USING btree (client_id, created_at);
-- Name: entity_token; Type: INDEX; Schema: public; Owner: -
CREATE INDEX entity_token ON public.entity USING btree (token_id, created_at);
-- Name: idempotency_created; Type: INDEX; Schema: public; Owner: -
CREATE INDEX idempotency_created ON public.idempotency USING btree (created_at);
-- Name: journal_entry_at; Type: INDEX; Schema: public; Owner: -
CREATE INDEX journal_entry_at ON ONLY public.journal_entry USING brin (at) WITH (pages_per_range='32');
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
-- Name: session_account; Type: INDEX; Schema: public; Owner: -
CREATE INDEX session_account ON public.session USING btree (account_id);
-- Name: session_expiry; Type: INDEX; Schema: public; Owner: -
CREATE INDEX session_expiry ON public.session USING btree (expires_at);
-- Name: access_token access_token_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.access_token
    ADD CONSTRAINT access_token_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(id);
-- Name: account account_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: api_key api_key_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: client_secret client_secret_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.client_secret
    ADD CONSTRAINT client_secret_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(id);
-- Name: document document_entity_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES public.entity(id);
-- Name: entity entity_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.entity
    ADD CONSTRAINT entity_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(id);
-- Name: session session_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
GRANT ALL ON SCHEMA public TO lineproof_owner;
-- Name: FUNCTION journal_make_partitions(days integer); Type: ACL; Schema: public; Owner: -
REVOKE ALL ON FUNCTION public.journal_make_partitions(days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.journal_make_partitions(days integer) TO lineproof_serve;
-- Name: TABLE access_token; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.access_token TO lineproof_serve;
-- Name: COLUMN access_token.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.access_token TO lineproof_read;
-- Name: COLUMN access_token.client_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(client_id) ON TABLE public.access_token TO lineproof_read;
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
-- Name: COLUMN api_key.preview; Type: ACL; Schema: public; Owner: -
GRANT SELECT(preview) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.expires_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expires_at) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.revoked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(revoked_at) ON TABLE public.api_key TO lineproof_read;
-- Name: COLUMN api_key.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.api_key TO lineproof_read;
-- Name: TABLE audit; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.audit TO lineproof_serve;
GRANT SELECT ON TABLE public.audit TO lineproof_read;
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
-- Name: COLUMN client_secret.revoked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(revoked_at) ON TABLE public.client_secret TO lineproof_read;
-- Name: COLUMN client_secret.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.client_secret TO lineproof_read;
-- Name: TABLE document; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.document TO lineproof_serve;
GRANT SELECT ON TABLE public.document TO lineproof_read;
-- Name: TABLE entity; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.entity TO lineproof_serve;
GRANT SELECT ON TABLE public.entity TO lineproof_read;
-- Name: TABLE goose_db_version; Type: ACL; Schema: public; Owner: -
GRANT SELECT ON TABLE public.goose_db_version TO lineproof_serve;
GRANT SELECT ON TABLE public.goose_db_version TO lineproof_read;
-- Name: TABLE idempotency; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency TO lineproof_serve;
-- Name: TABLE journal_batch; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.journal_batch TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_batch TO lineproof_read;
-- Name: TABLE journal_entry; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.journal_entry TO lineproof_serve;
GRANT SELECT ON TABLE public.journal_entry TO lineproof_read;
-- Name: SEQUENCE journal_epoch; Type: ACL; Schema: public; Owner: -
GRANT USAGE ON SEQUENCE public.journal_epoch TO lineproof_serve;
-- Name: TABLE line; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.line TO lineproof_serve;
GRANT SELECT ON TABLE public.line TO lineproof_read;
-- Name: TABLE network; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,UPDATE ON TABLE public.network TO lineproof_serve;
GRANT SELECT ON TABLE public.network TO lineproof_read;
-- Name: TABLE pepper_check; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT ON TABLE public.pepper_check TO lineproof_serve;
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
-- Name: TABLE session; Type: ACL; Schema: public; Owner: -
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.session TO lineproof_serve;
-- Name: COLUMN session.id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(id) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.account_id; Type: ACL; Schema: public; Owner: -
GRANT SELECT(account_id) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.expires_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(expires_at) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.last_seen_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(last_seen_at) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.revoked_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(revoked_at) ON TABLE public.session TO lineproof_read;
-- Name: COLUMN session.created_at; Type: ACL; Schema: public; Owner: -
GRANT SELECT(created_at) ON TABLE public.session TO lineproof_read;
-- PostgreSQL database dump complete
