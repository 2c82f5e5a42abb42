#if Postgres
    import MartletPostgres

    /// The triggers that write changes of one table into the log.
    struct CaptureTriggers {
        let table: SyncTable
        /// The quoted name of the table, with its schema.
        let relation: String
        /// The number of the type in the log.
        let typeID: Int
        /// The number of the schema in `martlet.facts`.
        let factsID: Int

        /// The name of the trigger for INSERT, UPDATE and DELETE. PostgreSQL runs triggers in the order of their names,
        /// and digits sort before letters, so this trigger runs before the triggers of the user. If a trigger of the
        /// user writes the same row, its entry comes later in the log.
        static let rowTrigger = "00_martlet_log"
        static let truncateTrigger = "00_martlet_log_truncate"

        /// Statements that refuse TRUNCATE if the trigger might not see all current rows, because the trigger would
        /// then log wrong deletions. There are two cases. In REPEATABLE READ and SERIALIZABLE, the snapshot of the
        /// transaction may be older than the lock on the table. Row level security may hide rows from the role of the
        /// trigger function.
        static let truncateIsolation = """
                IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
                    RAISE EXCEPTION 'TRUNCATE of a synchronized table needs the isolation level READ COMMITTED'
                        USING ERRCODE = 'feature_not_supported', HINT = 'Use DELETE.';
                END IF;
                IF row_security_active(TG_RELID) THEN
                    RAISE EXCEPTION 'TRUNCATE of a synchronized table with rules needs a deployment by a role with BYPASSRLS'
                        USING ERRCODE = 'feature_not_supported', HINT = 'Use DELETE.';
                END IF;
            """

        /// The statements that create or replace the functions and the triggers.
        var script: String {
            """
            CREATE OR REPLACE FUNCTION martlet.log_\(typeID)() RETURNS trigger
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $martlet$
            DECLARE
                mask bit varying;
                stamp bigint := coalesce(nullif(current_setting('martlet.time', true), '')::bigint,
                    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint << 16);
                client bigint := nullif(current_setting('martlet.client', true), '')::bigint;
                upload bigint := nullif(current_setting('martlet.upload', true), '')::bigint;
            BEGIN
            \(Self.durability)
                IF TG_OP = 'INSERT' THEN
                    \(insert("'i'", key("NEW"), new: image("NEW")));
                ELSIF TG_OP = 'DELETE' THEN
                    \(insert("'d'", key("OLD"), old: image("OLD")));
                ELSIF \(key("OLD")) <> \(key("NEW")) THEN
                    \(insert("'d'", key("OLD"), old: image("OLD")));
                    \(insert("'i'", key("NEW"), new: image("NEW")));
                ELSE
                    mask := \(mask);
                    IF position(B'1' IN mask) > 0 THEN
                        \(insert("'u'", key("NEW"), columns: "mask", old: image("OLD"), new: image("NEW")));
                    END IF;
                END IF;
                RETURN NULL;
            END $martlet$;
            -- Otherwise, any role could use the function in a trigger of its own table and so write false entries.
            REVOKE ALL ON FUNCTION martlet.log_\(typeID)() FROM PUBLIC;
            CREATE OR REPLACE TRIGGER "\(Self.rowTrigger)" AFTER INSERT OR UPDATE OR DELETE ON \(relation)
                FOR EACH ROW EXECUTE FUNCTION martlet.log_\(typeID)();
            ALTER TABLE \(relation) ENABLE ALWAYS TRIGGER "\(Self.rowTrigger)";
            \(truncateScript)
            """
        }

        // TRUNCATE is logged as the deletion of each row. PostgreSQL locks the table before it runs the trigger, so no
        // other transaction can change the rows while the trigger runs.
        private var truncateScript: String {
            """
            CREATE OR REPLACE FUNCTION martlet.log_truncate_\(typeID)() RETURNS trigger
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $martlet$
            -- In a conflict, names mean variables, because a column of the table may also have the name 'stamp'.
            #variable_conflict use_variable
            DECLARE
                stamp bigint := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint << 16;
            BEGIN
            \(Self.durability)
            \(Self.truncateIsolation)
                INSERT INTO martlet.log (type, op, facts, key, old, time)
                    SELECT \(typeID), 'd', \(factsID), \(key("t")), \(image("t")), stamp FROM \(relation) t;
                RETURN NULL;
            END $martlet$;
            REVOKE ALL ON FUNCTION martlet.log_truncate_\(typeID)() FROM PUBLIC;
            CREATE OR REPLACE TRIGGER "\(Self.truncateTrigger)" BEFORE TRUNCATE ON \(relation)
                FOR EACH STATEMENT EXECUTE FUNCTION martlet.log_truncate_\(typeID)();
            ALTER TABLE \(relation) ENABLE ALWAYS TRIGGER "\(Self.truncateTrigger)";
            """
        }

        // With `synchronous_commit = off`, a reader can see a commit that a crash of PostgreSQL then loses. PostgreSQL
        // may give the number of the lost transaction to another transaction. The cursor of the reader would then seem
        // to contain that transaction. So the trigger makes logged commits durable before they become visible.
        static let durability = """
                IF current_setting('synchronous_commit') = 'off' THEN
                    PERFORM set_config('synchronous_commit', 'on', true);
                END IF;
            """

        private func insert(
            _ op: String, _ key: String, columns: String = "NULL", old: String = "NULL", new: String = "NULL"
        ) -> String {
            """
            INSERT INTO martlet.log (type, op, facts, key, columns, old, new, time, client, upload)
                VALUES (\(typeID), \(op), \(factsID), \(key), \(columns), \(old), \(new), stamp, client, upload)
            """
        }

        /// An SQL expression for the bytes of the primary key of a row.
        func key(_ row: String) -> String {
            let value = "\(row).\(table.key.quoted)"
            // 1.0 and 1.00 are equal keys, so `trim_scale` makes their bytes equal.
            return "\(table.key.type.base.sendFunction)(\(table.key.type == .decimal ? "trim_scale(\(value))" : value))"
        }

        /// An SQL expression for the bytes of all synchronized columns of a row. Its value is NULL if clients do not
        /// receive objects of the type.
        func image(_ row: String) -> String {
            if table.isUploadOnly { return "NULL::bytea" }
            return "record_send(ROW(\(table.columns.map { "\(row).\($0.quoted)" }.joined(separator: ", "))))"
        }

        // An SQL expression for one bit per column: 1 if the update has changed the column. The operators of
        // floating-point types consider zero and negative zero equal, so the bytes of such values are compared instead.
        private var mask: String {
            table.columns.map { column in
                let send = column.type.base.isFloating ? column.type.base.sendFunction : ""
                return "(\(send)(NEW.\(column.quoted)) IS DISTINCT FROM \(send)(OLD.\(column.quoted)))::int::bit"
            }.joined(separator: "\n            || ")
        }

        /// Statements that remove the trigger functions of a type that is not synchronized any more. CASCADE also
        /// removes the triggers, so the statements need not name the table.
        static func removal(typeID: Int) -> String {
            """
            DROP FUNCTION IF EXISTS martlet.log_\(typeID)() CASCADE;
            DROP FUNCTION IF EXISTS martlet.log_truncate_\(typeID)() CASCADE;
            """
        }
    }
#endif
