import MartletSQLite
import MartletValues

/// The row or value at which the property paths of a condition start.
enum QueryScope {
    /// A row, under an alias.
    case row(TableID, String)
    /// A value of a collection, under the alias of its element. A value has no properties.
    case value(String, column: String, ElementType)
}

/// An operand, and the row or value at which its property paths start.
struct ScopedOperand {
    var operand: Predicate.Operand
    var scope: QueryScope

    init(_ operand: Predicate.Operand, _ scope: QueryScope) {
        self.operand = operand
        self.scope = scope
    }
}

/// An operand as SQL, with its kind.
struct QueryTerm {
    /// The kind determines how values are compared.
    enum Kind {
        case number, text, bytes, decimal, any, row
    }

    let sql: String
    let kind: Kind
    /// SQL that is true if the value is NaN. It is needed because the column of the value stores NaN as NULL. Nil if
    /// the value cannot be NaN.
    var nanCondition: String?
    var literal: SQLValue?
    /// True for whole numbers that are read from a property or from elements. False for other numbers, such as counts.
    var isWhole: Bool { kind == .number && element.map { !$0.isFloating && $0 != .scalar(.date) } ?? false }
    private var element: ElementType?

    init(_ sql: String, _ element: ElementType, nanCondition: String? = nil) {
        self.sql = sql
        self.element = element
        self.nanCondition = element.isFloating ? nanCondition : nil
        kind =
            switch element {
            case .link, .embedded: .row
            case .intEnum: .number
            case .stringEnum, .scalar(.string): .text
            case .scalar(.data), .scalar(.uuid), .scalar(.objectId): .bytes
            case .scalar(.decimal128): .decimal
            case .scalar(.any): .any
            case .scalar: .number
            }
    }

    init(_ sql: String, _ kind: Kind) {
        self.sql = sql
        self.kind = kind
    }

    init(_ sql: String, literal: SQLValue) {
        self.sql = sql
        self.literal = literal
        // SQLite binds NaN as NULL, so the condition "1" marks the literal as NaN.
        if case .real(let number) = literal, number.isNaN { nanCondition = "1" }
        kind =
            switch literal {
            case .null, .integer, .real: .number
            case .text: .text
            case .blob: .bytes
            }
    }

    /// SQL for the value in the form in which `AnyRealmValue` properties store it. Literals already have this form.
    var asAny: String {
        guard kind != .any, literal == nil else { return sql }
        return switch element {
        case .scalar(let scalar): AnyValueTag(scalar).map { "martlet_tagged(\($0.rawValue), \(sql))" } ?? sql
        default: sql
        }
    }

    /// SQL for the value in the form in which decimal properties store it.
    var asDecimal: String { kind == .number ? "martlet_decimal(\(sql))" : sql }

    /// True if the terms are compared as decimals. The kind of a decimal literal is `.bytes`.
    func isDecimal(against other: QueryTerm) -> Bool {
        switch (kind, other.kind) {
        case (.decimal, _), (_, .decimal), (.number, .bytes), (.bytes, .number): true
        default: false
        }
    }

    /// SQL for the text or data in the value. It is used for conditions on characters and bytes.
    var textOrData: String { kind == .any ? "martlet_text_or_data(\(sql))" : sql }
}
