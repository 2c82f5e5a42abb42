// Traps for invalid queries. For query texts from outside the program, `Realm.Predicate(parsing:)` throws an error and
// does not trap.
extension Misuse {
    /// Traps with the message of a query error.
    static func query(_ message: String) -> Never { trap("this query is not valid: \(message)") }

    // MARK: Queries

    static func unmanagedQuery(_ what: String) -> Never {
        trap("\(what) cannot be queried. Add its object to a Realm first")
    }

    static func indexPath(_ count: Int) -> Never {
        let size = count == 1 ? "1 index" : "\(count) indexes"
        trap("the index path has \(size), but it needs a section and an item")
    }

    static func negativeLimit(_ count: Int, _ offset: Int) -> Never {
        trap("the limit \(count) and the offset \(offset) are not valid. Pass two numbers that are not negative")
    }

    // MARK: Key paths

    static func unknownPath(_ path: String, type: String, component: String, of owner: String) -> Never {
        trap(
            "'\(path)' is not a key path of '\(type)': '\(owner)' has no property '\(component)'. "
                + "Name properties of the schema, such as 'name' or 'owner.name'")
    }

    static func severalValues(_ path: String, _ purpose: String) -> Never {
        trap(
            "results cannot \(purpose) '\(path)', because this path leads to several values. "
                + "Name a path that leads to one value, through to-one links only")
    }

    static func sortedByObject(_ path: String) -> Never {
        trap(
            "results cannot be sorted by '\(path)': it is an object, and objects have no order. "
                + "Sort by one of its properties")
    }

    static func sectionedByComputed(_ keyPath: String) -> Never {
        trap(
            "'\(keyPath)' is not a stored property, so results cannot be sectioned by it. "
                + "Section by a closure, and pass sort descriptors")
    }

    // MARK: Aggregates

    static func notAggregated(_ path: String, is type: String, lacks kind: String) -> Never {
        trap(
            "'\(path)' is '\(type)', which has no \(kind). "
                + "Name another property, such as one with numbers")
    }

    static func aggregateOfOtherType(_ path: String, _ wanted: String) -> Never {
        trap("'\(path)' has values that are not of type '\(wanted)'. Use the type that the schema declares")
    }

    static func sumTooLarge(_ type: String) -> Never {
        trap(
            "the sum does not fit '\(type)'. Use a larger type, as in 'let sum: Double = results.sum(ofProperty: …)', "
                + "or convert the values and add them")
    }
}

// Traps for classes that were not generated from a schema, and for literals that are not valid.
extension Misuse {
    static func notGenerated(_ type: String, base: String) -> Never {
        trap("'\(type)' was not generated from a schema. Declare it there instead of subclassing '\(base)'")
    }

    static func notDecimal(_ literal: String) -> Never {
        trap("'\(literal)' is not a decimal number. Write it as in '-12.50' or '1e-7'")
    }

    static func notObjectId(_ literal: String) -> Never {
        trap("'\(literal)' is not an ObjectId. Write 24 hexadecimal digits")
    }
}
