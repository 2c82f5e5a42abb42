#if Postgres
    /// The schema `martlet` of the database: what the service owns.
    enum ServiceSchema {
        /// The version of the tables below. A service refuses a database that a newer version of `deploy` has prepared.
        static let format = 3

        /// Creates what does not exist yet.
        static let script = """
            CREATE SCHEMA IF NOT EXISTS martlet;
            -- Writers name the domain in their statements.
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
            -- One row. The log contains no entries of the transaction 'horizon' and of older ones. The triggers were
            -- installed by the transaction 'deployed': changes before it may be missing.
            CREATE TABLE IF NOT EXISTS martlet.deployment (
                singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
                format integer NOT NULL,
                facts integer NOT NULL REFERENCES martlet.facts (id),
                table_schema text NOT NULL,
                horizon xid8 NOT NULL,
                deployed xid8 NOT NULL DEFAULT pg_current_xact_id()
            );
            -- The newest stored upload of each client. 'secret' is the SHA-256 of what the client sends. 'readable' is
            -- the SHA-256 of the read rules with the claims of the user. It changes only while the client has no data.
            CREATE TABLE IF NOT EXISTS martlet.clients (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                secret bytea NOT NULL,
                readable bytea NOT NULL,
                upload bigint NOT NULL DEFAULT 0
            );
            -- 'op' is i(nsert), u(pdate), d(elete), e(lement of a collection was changed), t(ouch), n(o row can have the
            -- key), or a(cknowledgement of an upload that names no object). 'columns' has one bit for each column:
            -- whether the update has changed it, or the touch names it. NULL means all. 'paths' has the paths inside
            -- embedded objects that a touch names. 'time' is a hybrid time stamp.
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
            -- At the time 'at', all transactions before 'xid' had ended. 'martlet-sync prune' finds old entries with it.
            CREATE TABLE IF NOT EXISTS martlet.marks (
                at timestamp with time zone PRIMARY KEY DEFAULT clock_timestamp(),
                xid xid8 NOT NULL
            );
            ALTER TABLE martlet.log ADD COLUMN IF NOT EXISTS paths bytea;
            -- What was reverted in uploads whose acknowledgement the client may not have received: 'reverted' messages.
            ALTER TABLE martlet.clients ADD COLUMN IF NOT EXISTS reverted bytea;
            -- The time stamp of the newest stored upload, as the client has sent it.
            ALTER TABLE martlet.clients ADD COLUMN IF NOT EXISTS upload_time bigint;
            -- The history to which the log belongs.
            ALTER TABLE martlet.deployment ADD COLUMN IF NOT EXISTS epoch text;
            -- The collection, and what identifies the element in it: a byte, followed by the position, the element of a set,
            -- or the key of a map.
            ALTER TABLE martlet.log ADD COLUMN IF NOT EXISTS property text COLLATE "C";
            ALTER TABLE martlet.log ADD COLUMN IF NOT EXISTS element bytea;
            \(PositionFunction.script)
            -- Sets a member of an embedded object; changes nothing if there is no object that could have it.
            CREATE OR REPLACE FUNCTION martlet.set_member(target jsonb, path text[], value jsonb) RETURNS jsonb
                LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
                SELECT CASE WHEN jsonb_typeof(target #> path[1:cardinality(path) - 1]) = 'object'
                    THEN jsonb_set(target, path, value) ELSE target END
            $$;
            -- Keys may be longer than what an index holds.
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
