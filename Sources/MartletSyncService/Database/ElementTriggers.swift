#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    /// The triggers of the table of a collection. They log each change of an element as a change of its owner, the
    /// object that has the collection.
    struct ElementTriggers {
        let collection: SyncCollection
        /// The quoted name of the table, with its schema.
        let relation: String
        /// The triggers of the table that contains the owners.
        let owner: CaptureTriggers

        static let positionTrigger = "00_martlet_position"

        private var function: String { "log_elements_\(owner.typeID)_\(collection.property)" }

        /// The statement that removes the triggers of all collections. `Deployment` then creates the triggers of the
        /// collections that still exist.
        static let removal = """
            DO $martlet$ DECLARE name text; BEGIN
                FOR name IN SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                    WHERE n.nspname = 'martlet' AND p.proname LIKE 'log\\_elements\\_%' LOOP
                    EXECUTE format('DROP FUNCTION martlet.%I() CASCADE', name);
                END LOOP;
            END $martlet$;
            """

        /// The statements that create the functions and the triggers.
        var script: String {
            """
            CREATE FUNCTION martlet.\(function)() RETURNS trigger
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $martlet$
            DECLARE
                stamp bigint := coalesce(nullif(current_setting('martlet.time', true), '')::bigint,
                    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint << 16);
                client bigint := nullif(current_setting('martlet.client', true), '')::bigint;
                upload bigint := nullif(current_setting('martlet.upload', true), '')::bigint;
                image bytea;
            BEGIN
            \(CaptureTriggers.durability)
                IF TG_OP = 'UPDATE' THEN
                    IF \(key("OLD")) = \(key("NEW")) AND \(element("OLD.")) = \(element("NEW.")) THEN
                        IF NOT (\(isDistinct("OLD.\"value\"", "NEW.\"value\""))) THEN RETURN NULL; END IF;
                    ELSE
                        \(log("OLD"))
                    END IF;
                END IF;
                IF TG_OP = 'DELETE' THEN
                    \(log("OLD"))
                ELSE
                    \(log("NEW"))
                END IF;
                RETURN NULL;
            END $martlet$;
            REVOKE ALL ON FUNCTION martlet.\(function)() FROM PUBLIC;
            CREATE TRIGGER "\(CaptureTriggers.rowTrigger)" AFTER INSERT OR UPDATE OR DELETE ON \(relation)
                FOR EACH ROW EXECUTE FUNCTION martlet.\(function)();
            ALTER TABLE \(relation) ENABLE ALWAYS TRIGGER "\(CaptureTriggers.rowTrigger)";
            \(truncateScript)
            \(collection.kind == .list ? positionScript : "")
            """
        }

        // The statements that log the change of an element as a change of its owner. FOR SHARE locks the owner until
        // the end of the transaction, so its values do not change and its entries are in order. Other transactions can
        // still change other elements of the owner. No entry is needed if this transaction has deleted the owner.
        private func log(_ row: String) -> String {
            """
            SELECT \(owner.image("t")) INTO image FROM \(owner.relation) t WHERE t.\(owner.table.key.quoted) = \(row)."owner"
                        FOR SHARE;
                    IF FOUND OR NOT EXISTS (\(deletion(key(row)))) THEN
                        INSERT INTO martlet.log (type, op, facts, key, columns, old, new, time, client, upload, property, element)
                            VALUES (\(values(key(row), "image")), stamp, client, upload,
                                \(property), \(element(row + ".")));
                    END IF;
            """
        }

        private func values(_ key: String, _ image: String) -> String {
            "\(owner.typeID), 'e', \(owner.factsID), \(key), B'', NULL, \(image)"
        }

        /// A query that returns a row if this transaction has deleted the owner.
        private func deletion(_ key: String) -> String {
            """
            SELECT FROM martlet.log l WHERE l.xid = pg_current_xact_id() AND l.type = \(owner.typeID) AND l.op = 'd'
                        AND substr(l.key, 1, 200) = substr(\(key), 1, 200) AND l.key = \(key)
            """
        }

        private var truncateScript: String {
            """
            CREATE FUNCTION martlet.\(function)_truncate() RETURNS trigger
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $martlet$
            #variable_conflict use_variable
            DECLARE
                stamp bigint := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint << 16;
            BEGIN
            \(CaptureTriggers.durability)
            \(CaptureTriggers.truncateIsolation)
                PERFORM FROM \(owner.relation) t
                    WHERE EXISTS (SELECT FROM \(relation) e WHERE e."owner" = t.\(owner.table.key.quoted)) FOR SHARE;
                INSERT INTO martlet.log (type, op, facts, key, columns, old, new, time, property, element)
                    SELECT \(values(key("e"), "i.image")), stamp, \(property), \(element("e."))
                    FROM \(relation) e LEFT JOIN LATERAL (SELECT \(owner.image("t")) AS image FROM \(owner.relation) t
                        WHERE t.\(owner.table.key.quoted) = e."owner") i ON true
                    WHERE NOT EXISTS (\(deletion(key("e"))));
                RETURN NULL;
            END $martlet$;
            REVOKE ALL ON FUNCTION martlet.\(function)_truncate() FROM PUBLIC;
            CREATE TRIGGER "\(CaptureTriggers.truncateTrigger)" BEFORE TRUNCATE ON \(relation)
                FOR EACH STATEMENT EXECUTE FUNCTION martlet.\(function)_truncate();
            ALTER TABLE \(relation) ENABLE ALWAYS TRIGGER "\(CaptureTriggers.truncateTrigger)";
            """
        }

        // If an application inserts a list element without a position, the trigger appends it to the list.
        private var positionScript: String {
            """
            CREATE FUNCTION martlet.\(function)_position() RETURNS trigger
                LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $martlet$
            BEGIN
                IF NEW."position" IS NULL THEN
                    NEW."position" := martlet.next_position((SELECT e."position" FROM \(relation) e
                        WHERE e."owner" = NEW."owner" ORDER BY e."position" DESC LIMIT 1));
                ELSIF length(NEW."position") NOT BETWEEN 1 AND \(ListPosition.maximumLength)
                    OR get_byte(NEW."position", length(NEW."position") - 1) = 0 THEN
                    RAISE EXCEPTION 'a position has from 1 to \(ListPosition.maximumLength) bytes, the last of which is not 0'
                        USING ERRCODE = 'check_violation', HINT = 'Insert the element without a position: it becomes the last one.';
                END IF;
                RETURN NEW;
            END $martlet$;
            CREATE TRIGGER "\(Self.positionTrigger)" BEFORE INSERT OR UPDATE OF "position" ON \(relation)
                FOR EACH ROW EXECUTE FUNCTION martlet.\(function)_position();
            ALTER TABLE \(relation) ENABLE ALWAYS TRIGGER "\(Self.positionTrigger)";
            """
        }

        // MARK: Expressions

        /// The name of the collection property as an SQL literal.
        var property: String {
            let name = collection.value.propertyName
            return "'\(name.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
        }

        /// An SQL expression for the bytes of the primary key of the owner of an element.
        private func key(_ row: String) -> String {
            let (type, value) = (owner.table.key.type, "\(row).\"owner\"")
            return "\(type.base.sendFunction)(\(type == .decimal ? "trim_scale(\(value))" : value))"
        }

        /// An SQL expression for the bytes that identify an element in its collection.
        ///
        /// - Parameter row: the name of the row, followed by a period, such as `NEW.`.
        private func element(_ row: String) -> String { element(ofKey: "\(row)\"\(collection.keyColumn)\"") }

        /// An SQL expression for the bytes that identify an element in its collection.
        ///
        /// - Parameter value: an SQL expression for the position of a list element, the member of a set, or the key of
        ///   a map entry.
        func element(ofKey value: String) -> String {
            let sent: String =
                switch collection.kind {
                case .list: "byteasend(\(value))"
                case .map: "textsend(\(value))"
                case .set:
                    collection.value.type == .decimal
                        ? "numeric_send(trim_scale(\(value)))" : "\(collection.value.type.base.sendFunction)(\(value))"
                }
            // The first byte distinguishes NULL from an empty text.
            return "coalesce('\\x01'::bytea || \(sent), '\\x00'::bytea)"
        }

        /// An SQL condition that is true if two values differ. The operators of floating-point types consider zero and
        /// negative zero equal, so the condition compares the bytes of such values.
        func isDistinct(_ left: String, _ right: String) -> String {
            let send = collection.value.type.base.isFloating ? collection.value.type.base.sendFunction : ""
            return "\(send)(\(left)) IS DISTINCT FROM \(send)(\(right))"
        }
    }

    /// The SQL function `martlet.next_position`, which makes the positions of list elements that applications append
    /// with SQL.
    enum PositionFunction {
        // A new position begins with the same digits as the result of `ListPosition.between(last, nil)`. It ends with
        // the byte 1 and the number of the transaction. A position that a client has created ends with the numbers of
        // an upload and of the client. These numbers never begin with the byte 1, so the two kinds of positions differ.
        static let script = """
            CREATE OR REPLACE FUNCTION martlet.next_position(last bytea) RETURNS bytea
                LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $martlet$
            DECLARE
                head int := CASE WHEN length(last) > 0 THEN get_byte(last, 0) ELSE 128 END;
                digits bytea := last;
                place int;
                rest bigint := pg_current_xact_id()::text::bigint;
                tag bytea := '';
            BEGIN
                IF head < 129 THEN
                    digits := '\\x8101';
                ELSIF head <= 136 AND length(last) > head - 128 THEN
                    place := head - 128;
                    digits := substr(last, 1, place + 1);
                    WHILE place > 0 AND get_byte(digits, place) = 255 LOOP
                        digits := set_byte(digits, place, 0);
                        place := place - 1;
                    END LOOP;
                    IF place > 0 THEN
                        digits := set_byte(digits, place, get_byte(digits, place) + 1);
                    ELSIF head < 136 THEN
                        digits := decode(lpad(to_hex(head + 1), 2, '0') || '01' || repeat('00', head - 128), 'hex');
                    ELSE
                        digits := last;
                    END IF;
                END IF;
                LOOP
                    tag := set_byte('\\x00'::bytea, 0, (rest % 255)::int + 1) || tag;
                    rest := rest / 255;
                    EXIT WHEN rest = 0;
                END LOOP;
                RETURN digits || '\\x01'::bytea || tag;
            END $martlet$;
            """
    }
#endif
