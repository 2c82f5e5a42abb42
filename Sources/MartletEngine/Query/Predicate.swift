package import MartletSQLite

/// A condition on the rows of one object type. Typed queries and query strings both become this tree.
///
/// Where a path passes through a collection, the condition holds when it does for *some* element.
package indirect enum Predicate: Sendable, Equatable {
    case constant(Bool)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)
    /// For *some* element of the collections on its way one comparison, search or the like does not hold. Where no
    /// collection is on the way it is what `not` is.
    case someNot(Predicate)
    case comparison(Operand, Comparison, Operand)
    /// One of these values; texts with options.
    case contained(Operand, [SQLValue], TextOptions = [])
    case range(Operand, lower: Operand, upper: Operand, includesUpper: Bool)
    case text(Operand, TextMatch, Operand, TextOptions)
    /// The row that the path leads to, or an element of its collection, is one of these rows.
    case isRow(PropertyPath, [ObjectKey])
    /// The row is an element of a list, set or map of another row.
    case element(of: TableID, PropertyIndex, owner: ObjectKey)
    /// Some element of the collection fulfils a condition, which speaks of the element.
    case exists(PropertyPath, Predicate)
    /// The words of the text at the end of the path fulfil a search.
    case words(PropertyPath, WordSearch)

    package enum Comparison: String, Sendable {
        case equal = "="
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        /// The comparison with its sides exchanged.
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
        /// The number of elements of the collection that the path ends in.
        case count(PropertyPath)
        /// Over the last collection of the path, of what the path names in its elements.
        case aggregate(Aggregate, PropertyPath)
        /// The number of elements of a collection that fulfil a condition, which speaks of the element.
        case matching(PropertyPath, Predicate)
        /// The number of elements that fulfil a condition all whose paths begin with the same collection.
        case matchingShared(Predicate)
        case arithmetic(Operand, Arithmetic, Operand)
        /// An operand of the condition that so many sub-queries lie within: about what has the collection, not its elements.
        /// A path, count or aggregate.
        case outer(Int, Operand)
        /// What kind of value a value of any type is, as a text.
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
    /// What must hold, as parts that are no conjunctions: a long chain becomes one wide node instead of a deep tree.
    package var conjuncts: [Predicate] {
        if case .and(let parts) = self { parts } else { [self] }
    }

    /// Of what one must hold, as parts that are no alternatives.
    package var alternatives: [Predicate] {
        if case .or(let parts) = self { parts } else { [self] }
    }

    /// The opposite.
    package var negated: Predicate {
        if case .not(let part) = self { part } else { .not(self) }
    }

    /// The opposite of a comparison, search or the like, for some element.
    package var negatedForSome: Predicate {
        if case .someNot(let part) = self { part } else { .someNot(self) }
    }
}

extension Predicate.Operand {
    /// The operands that arithmetic is done with, from left to right.
    var leaves: [Predicate.Operand] {
        if case .arithmetic(let left, _, let right) = self { left.leaves + right.leaves } else { [self] }
    }
}

/// A search for words, in any order.
package struct WordSearch: Sendable, Equatable {
    package struct Word: Sendable, Equatable {
        package let text: String
        package let isPrefix: Bool
        package let isExcluded: Bool
    }

    package let words: [Word]

    /// Words between white space (and NUL, where FTS5 would stop reading), all of which must occur; `-word` must not, `word*` is a beginning.
    ///
    /// What holds no letter or digit is no word: the index has no such words either, so nothing could have them.
    package init(_ text: String) {
        words = text.split { $0.isWhitespace || $0 == "\0" }.compactMap { part in
            var word = part
            let isExcluded = word.hasPrefix("-")
            if isExcluded { word = word.dropFirst() }
            let isPrefix = word.hasSuffix("*")
            if isPrefix { word = word.dropLast() }
            guard word.unicodeScalars.contains(where: \.isOfWords) else { return nil }
            return Word(text: String(word), isPrefix: isPrefix, isExcluded: isExcluded)
        }
    }
}

extension Unicode.Scalar {
    /// What words are made of, as FTS5's tokenizer 'unicode61' has it: letters, numbers and scalars for private use.
    fileprivate var isOfWords: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }
}
