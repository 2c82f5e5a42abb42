#if Postgres
    /// The SQL schema `martlet`, which contains the tables and functions of the service.
    enum ServiceSchema {
        /// The version of the tables below. A service refuses a database that another version of `deploy` has prepared.
        static let format = 5

        /// Creates the tables and indexes that do not exist yet, and creates or replaces the functions.
        static let script = """
            CREATE SCHEMA IF NOT EXISTS martlet;
            -- All roles may use the schema, because their statements may name the domain below.
            GRANT USAGE ON SCHEMA martlet TO PUBLIC;
            DO $$ BEGIN
                CREATE DOMAIN martlet.object_id AS bytea CHECK (octet_length(VALUE) = 12);
            EXCEPTION WHEN duplicate_object THEN NULL;
            END $$;

            -- The schemas that were deployed. Entries of the log name the schema in which they are written.
            CREATE TABLE IF NOT EXISTS martlet.facts (
                id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                hash bytea NOT NULL UNIQUE,
                text text NOT NULL
            );
            -- The numbers of types in the log. They do not change when types are added.
            CREATE TABLE IF NOT EXISTS martlet.types (
                id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name text COLLATE "C" NOT NULL UNIQUE
            );
            -- This table has one row. The log contains no entries of the transaction 'horizon' and of older ones. The
            -- transaction 'deployed' installed the triggers, so the log may lack changes of older transactions.
            CREATE TABLE IF NOT EXISTS martlet.deployment (
                singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
                format integer NOT NULL,
                facts integer NOT NULL REFERENCES martlet.facts (id),
                table_schema text NOT NULL,
                horizon xid8 NOT NULL,
                deployed xid8 NOT NULL DEFAULT pg_current_xact_id()
            );
            -- The clients. 'upload' is the number of the newest stored upload. 'secret' is the SHA-256 of the secret
            -- that the client sends. 'readable' is the SHA-256 of the read rules with the claims of the user, and
            -- changes only while the client has no data.
            CREATE TABLE IF NOT EXISTS martlet.clients (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                secret bytea NOT NULL,
                readable bytea NOT NULL,
                upload bigint NOT NULL DEFAULT 0
            );
            -- 'op' is i(nsert), u(pdate), d(elete), e(lement of a collection was changed), t(ouch: an upload names the
            -- object without changing it), n(o row can have the key of a touched object), or a(cknowledgement of an
            -- upload that names no object). 'columns' has one bit for each column: 1 if the update has changed the
            -- column or the touch names it. NULL stands for all columns. 'paths' has the paths inside embedded objects
            -- that a touch names. 'time' is a hybrid time stamp.
            CREATE TABLE IF NOT EXISTS martlet.log (
                xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
                seq bigint GENERATED ALWAYS AS IDENTITY,
                type integer NOT NULL,
                op "char" NOT NULL,
                facts integer NOT NULL,
                key bytea NOT NULL,
                columns bit varying,
                old bytea,
                new bytea,
                time bigint NOT NULL,
                client bigint,
                upload bigint,
                PRIMARY KEY (xid, seq)
            );
            -- At the time 'at', all transactions before 'xid' had ended. With these rows, 'martlet-sync prune' finds
            -- old entries. 'checksum' is the sum of the numbers 'nonce' of all entries that 'snapshot' contains and that
            -- were written since the first mark.
            CREATE TABLE IF NOT EXISTS martlet.marks (
                at timestamp with time zone PRIMARY KEY DEFAULT clock_timestamp(),
                xid xid8 NOT NULL
            );
            ALTER TABLE martlet.marks ADD COLUMN IF NOT EXISTS snapshot pg_snapshot;
            ALTER TABLE martlet.marks ADD COLUMN IF NOT EXISTS checksum bigint;
            ALTER TABLE martlet.log ADD COLUMN IF NOT EXISTS paths bytea;
            -- A random number. The sum of these numbers shows whether a client has seen the entries of this log, or those
            -- of a log that a restore of the database has replaced.
            -- Old entries get 0, so that PostgreSQL does not write the whole table again.
            ALTER TABLE martlet.log ADD COLUMN IF NOT EXISTS nonce integer NOT NULL DEFAULT 0;
            ALTER TABLE martlet.log ALTER COLUMN nonce SET DEFAULT uuid_hash(gen_random_uuid());
            -- The encoded messages that name the objects of reverted changes, for uploads whose acknowledgement the
            -- client may not have received.
            ALTER TABLE martlet.clients ADD COLUMN IF NOT EXISTS reverted bytea;
            -- When the client has connected or uploaded, to the day, and the number of the newest upload of which the
            -- client has confirmed that it has received the acknowledgement.
            ALTER TABLE martlet.clients ADD COLUMN IF NOT EXISTS seen timestamp with time zone NOT NULL DEFAULT now();
            ALTER TABLE martlet.clients ADD COLUMN IF NOT EXISTS confirmed bigint NOT NULL DEFAULT 0;
            -- The time stamp of the newest stored upload, as the client has sent it.
            ALTER TABLE martlet.clients ADD COLUMN IF NOT EXISTS upload_time bigint;
            -- Identifies the history of the database to which the log belongs.
            ALTER TABLE martlet.deployment ADD COLUMN IF NOT EXISTS epoch text;
            -- 'property' is the name of a collection property. 'element' identifies the element in the collection: a
            -- byte, followed by the position in a list, the member of a set, or the key of a map.
            ALTER TABLE martlet.log ADD COLUMN IF NOT EXISTS property text COLLATE "C";
            ALTER TABLE martlet.log ADD COLUMN IF NOT EXISTS element bytea;
            -- The audits of the clients. Instances audit their clients until the time 'ends'.
            CREATE TABLE IF NOT EXISTS martlet.audits (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                began timestamp with time zone NOT NULL DEFAULT now(),
                ends timestamp with time zone NOT NULL
            );
            -- The clients that were connected during an audit. 'comparisons' is how often the client was compared with
            -- the database, 'row_count' is the number of rows that it must have, 'differences' is the number of
            -- differing buckets in the first comparison, and 'remaining' the number in the newest one.
            CREATE TABLE IF NOT EXISTS martlet.audit_results (
                audit bigint NOT NULL REFERENCES martlet.audits (id) ON DELETE CASCADE,
                client bigint NOT NULL,
                supported boolean NOT NULL,
                comparisons integer NOT NULL DEFAULT 0,
                row_count bigint NOT NULL DEFAULT 0,
                differences integer NOT NULL DEFAULT 0,
                remaining integer NOT NULL DEFAULT 0,
                PRIMARY KEY (audit, client)
            );
            \(PositionFunction.script)
            -- Sets a member of an embedded object. Changes nothing if the embedded object does not exist.
            CREATE OR REPLACE FUNCTION martlet.set_member(target jsonb, path text[], value jsonb) RETURNS jsonb
                LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
                SELECT CASE WHEN jsonb_typeof(target #> path[1:cardinality(path) - 1]) = 'object'
                    THEN jsonb_set(target, path, value) ELSE target END
            $$;
            -- The index contains only the beginning of a key, because PostgreSQL limits the size of an index entry.
            CREATE INDEX IF NOT EXISTS log_type_key ON martlet.log (type, substr(key, 1, 200));
            """

        /// Identifies the history of the database: the system identifier, and the timeline, which changes when a
        /// standby is promoted or a backup is restored to a point in time.
        static let epochSQL = """
            SELECT (SELECT system_identifier FROM pg_control_system())::text || '.'
                || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            """
    }
#endif
