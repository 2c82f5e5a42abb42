import MartletSchema

/// Writes policies, and the triggers that check the rules of single-valued properties.
enum RuleWriter {
    static func hasColumnRules(_ tables: [TableModel]) -> Bool { tables.contains { !$0.columnRules.isEmpty } }

    /// The statements for the rules of all tables.
    static func statements(_ tables: [TableModel]) -> [String] {
        tables.flatMap { enabling($0) + policies($0) + trigger($0) }
    }

    // Without FORCE, the policies would not apply to the role that owns the tables.
    private static func enabling(_ table: TableModel) -> [String] {
        guard !table.policies.isEmpty else { return [] }
        return [
            "ALTER TABLE \(SQLName.quoted(table.name)) ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
        ]
    }

    private static func policies(_ table: TableModel) -> [String] {
        table.policies.map { policy in
            var lines = [
                "CREATE POLICY \(SQLName.quoted(policy.name)) ON \(SQLName.quoted(table.name)) FOR \(policy.command.rawValue)"
            ]
            if let using = policy.using { lines.append("    USING (\(using))") }
            if let check = policy.check { lines.append("    WITH CHECK (\(check))") }
            return lines.joined(separator: "\n") + ";"
        }
    }

    // The trigger must be a BEFORE trigger. In a BEFORE trigger, `row_security_active` returns false for changes that
    // PostgreSQL makes for foreign keys, such as SET NULL. Policies do not apply to these changes, so the function does
    // not check them. The function also does not check changes of roles that bypass row level security.
    private static func trigger(_ table: TableModel) -> [String] {
        guard !table.columnRules.isEmpty else { return [] }
        let function = "martlet_rules.\(SQLName.quoted(table.name))()"
        let inserts = table.columnRules.map { check($0, "NOT (\($0.isInitial)) AND (\($0.new)) IS NOT TRUE", table) }
        let updates = table.columnRules.map { rule in
            let column = SQLName.quoted(rule.column)
            return check(
                rule,
                "NEW.\(column) IS DISTINCT FROM OLD.\(column) AND ((\(rule.old)) AND (\(rule.new))) IS NOT TRUE", table)
        }
        let tag = quote(for: (inserts + updates).joined())
        return [
            """
            CREATE OR REPLACE FUNCTION \(function) RETURNS trigger
                LANGUAGE plpgsql SET search_path TO pg_catalog AS \(tag)
            BEGIN
                IF NOT row_security_active(TG_RELID) THEN
                    RETURN NEW;
                END IF;
                IF TG_OP = 'INSERT' THEN
            \(inserts.joined(separator: "\n"))
                ELSE
            \(updates.joined(separator: "\n"))
                END IF;
                RETURN NEW;
            END \(tag);
            """,
            """
            CREATE TRIGGER martlet_rules BEFORE INSERT OR UPDATE ON \(SQLName.quoted(table.name))
                FOR EACH ROW EXECUTE FUNCTION \(function);
            """,
        ]
    }

    /// A dollar quote that the text of a function does not contain. A rule can contain any text, even a dollar quote.
    static func quote(for text: String) -> String {
        var (tag, number) = ("$rules$", 0)
        while text.contains(tag) {
            number += 1
            tag = "$rules\(number)$"
        }
        return tag
    }

    private static func check(_ rule: ColumnRuleModel, _ condition: String, _ table: TableModel) -> String {
        let message = "the rules do not allow this user to write \"\(rule.column)\" of \"\(table.name)\""
        return """
                    IF \(condition) THEN
                        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = \(SQLName.literal(message));
                    END IF;
            """
    }

    /// The statements that remove the rules of a table.
    static func removal(_ table: TableModel, named name: String) -> [String] {
        let policies = table.policies.map { "DROP POLICY \(SQLName.quoted($0.name)) ON \(SQLName.quoted(name));" }
        let disabling =
            table.policies.isEmpty
            ? [] : ["ALTER TABLE \(SQLName.quoted(name)) DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;"]
        let trigger =
            table.columnRules.isEmpty
            ? []
            : [
                "DROP TRIGGER martlet_rules ON \(SQLName.quoted(name));",
                "DROP FUNCTION martlet_rules.\(SQLName.quoted(table.name))();",
            ]
        return policies + disabling + trigger
    }
}
