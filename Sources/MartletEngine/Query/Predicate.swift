package import MartletValues

/// A condition on the rows of one object type. Typed queries and query strings are both converted to this tree.
///
/// If a path passes through a collection, the condition is true if it is true for *some* element.
package indirect enum Predicate: Sendable, Equatable {
    case constant(Bool)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)
    /// Negates a comparison, search or similar condition for each element: true if the condition is false for *some*
    /// element of the collections in its path. Without a collection in the path, this case is equivalent to `not`.
    case someNot(Predicate)
    case comparison(Operand, Comparison, Operand)
    /// The operand equals one of these values. The options apply to texts.
    case contained(Operand, [SQLValue], TextOptions = [])
    case range(Operand, lower: Operand, upper: Operand, includesUpper: Bool)
    case text(Operand, TextMatch, Operand, TextOptions)
    /// The row at the end of the path is one of these rows. If the path ends at a collection, some element of the
    /// collection is one of these rows.
    case isRow(PropertyPath, [ObjectKey])
    /// The row is an element of a list, set or map of another row.
    case element(of: TableID, PropertyIndex, owner: ObjectKey)
    /// Some element of the collection satisfies a condition. The paths of the condition start at the element.
    case exists(PropertyPath, Predicate)
    /// The text at the end of the path matches a full-text search.
    case fullText(PropertyPath, FullTextSearch)

    package enum Comparison: String, Sendable {
        case equal = "="
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        /// The comparison with its two sides swapped.
        package var flipped: Comparison {
            switch self {
            case .equal, .notEqual: self
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            }
        }
    }

    package enum TextMatch: Int64, Sendable {
        case contains, begins, ends, like, equals
    }

    package struct TextOptions: OptionSet, Sendable {
        package let rawValue: Int64
        package init(rawValue: Int64) { self.rawValue = rawValue }
        package static let caseInsensitive = TextOptions(rawValue: 1)
        package static let diacriticInsensitive = TextOptions(rawValue: 2)
    }

    package indirect enum Operand: Sendable, Equatable {
        case value(SQLValue)
        case path(PropertyPath)
        /// The number of elements of the collection at the end of the path.
        case count(PropertyPath)
        /// An aggregate over the elements of the last collection in the path.
        case aggregate(Aggregate, PropertyPath)
        /// The number of elements of a collection that satisfy a condition. The paths of the condition start at the
        /// element.
        case matching(PropertyPath, Predicate)
        /// The number of elements of a collection that satisfy a condition. The paths of the condition start at the
        /// owner. All paths that pass through a collection begin with the same collection, whose elements are counted.
        case matchingShared(Predicate)
        case arithmetic(Operand, Arithmetic, Operand)
        /// A path, count or aggregate that starts at the row of an enclosing condition. The number is 1 for the nearest
        /// enclosing condition.
        case outer(Int, Operand)
        /// The kind of an `AnyRealmValue`, as text.
        case kind(PropertyPath)
    }

    package enum Aggregate: String, Sendable {
        case min, max, sum, average = "avg"

        package var isArithmetic: Bool { self == .sum || self == .average }
    }

    package enum Arithmetic: String, Sendable {
        case plus = "+"
        case minus = "-"
        case times = "*"
        case dividedBy = "/"
    }
}

extension Predicate {
    /// The parts of a conjunction, or this condition alone. Callers use this property to store a long chain of `and` as
    /// one wide node instead of a deep tree.
    package var conjuncts: [Predicate] {
        if case .and(let parts) = self { parts } else { [self] }
    }

    /// The parts of a disjunction, or this condition alone.
    package var alternatives: [Predicate] {
        if case .or(let parts) = self { parts } else { [self] }
    }

    /// The negated condition.
    package var negated: Predicate {
        if case .not(let part) = self { part } else { .not(self) }
    }

    /// A condition that is true if this comparison, search or similar condition is false for some element.
    package var negatedForSomeElement: Predicate {
        if case .someNot(let part) = self { part } else { .someNot(self) }
    }
}

extension Predicate.Operand {
    /// The operands of an arithmetic expression, from left to right.
    var leaves: [Predicate.Operand] {
        if case .arithmetic(let left, _, let right) = self { left.leaves + right.leaves } else { [self] }
    }
}

/// A full-text search for words in any order.
package struct FullTextSearch: Sendable, Equatable {
    package struct Word: Sendable, Equatable {
        package let text: String
        package let isPrefix: Bool
        package let isExcluded: Bool
    }

    package let words: [Word]

    /// Parses words that are separated by white space or NUL characters. (FTS5 would stop reading at a NUL.) A word
    /// must occur in the text, but the word after `-` must not occur. `word*` matches all words that begin with `word`.
    ///
    /// Words without a letter or digit are ignored, because the index does not contain them.
    package init(_ text: String) {
        words = text.split { $0.isWhitespace || $0 == "\0" }.compactMap { part in
            var word = part
            let isExcluded = word.hasPrefix("-")
            if isExcluded { word = word.dropFirst() }
            let isPrefix = word.hasSuffix("*")
            if isPrefix { word = word.dropLast() }
            guard word.unicodeScalars.contains(where: \.isWordCharacter) else { return nil }
            return Word(text: String(word), isPrefix: isPrefix, isExcluded: isExcluded)
        }
    }
}

extension Unicode.Scalar {
    /// True for the characters that FTS5's tokenizer 'unicode61' includes in words: letters, numbers and private-use
    /// characters.
    fileprivate var isWordCharacter: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }
}
