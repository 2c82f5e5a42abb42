import MartletEngine

extension Realm {
    /// A condition written as text, in the predicate language of Foundation and Realm: `"age > 5 AND owner.name
    /// BEGINSWITH[c] 'm'"`. The condition can be followed by `SORT(…)`, `DISTINCT(…)` and `LIMIT(…)`.
    ///
    /// Use a predicate for texts from users or files: parsing an invalid text throws an error. `filter(_:_:)`, which
    /// takes a text directly, traps if the text is invalid. Values are passed to the database only as bound parameters.
    public struct Predicate: CustomStringConvertible {
        let syntax: QuerySyntax
        let text: String

        /// Parses a text. Names and types are checked later, when `filter(_:)` uses the predicate.
        ///
        /// - Parameters:
        ///   - text: the condition. `%@` and `$0` are placeholders for arguments, `%K` for an argument that is a key
        ///   path.
        ///   - arguments: values of any type that properties can have, objects, `nil`, and sequences of such values.
        /// - Throws: `Realm.Error.invalidInput`, with a description of the error and its offset in bytes.
        public init(parsing text: String, _ arguments: Any?...) throws {
            try self.init(parsing: text, arguments: arguments)
        }

        /// Parses a text, with its arguments in an array. Names and types are checked later, when `filter(_:)` uses the
        /// predicate.
        public init(parsing text: String, arguments: [Any?]) throws {
            var literals: [QueryLiteral] = []
            for (position, argument) in arguments.enumerated() {
                guard let literal = QueryLiteral(argument) else {
                    throw Error(
                        .invalidInput,
                        "argument \(position + 1) of the query '\(text)' is of type '\(Self.typeName(argument))', which "
                            + "no property can have; pass a number, text, date or another value that can be stored")
                }
                literals.append(literal)
            }
            self.text = text
            do {
                syntax = try QueryParser.parse(text, literals)
            } catch {
                throw error.realmError(text)
            }
        }

        // The type of the value in an 'Any?'.
        private static func typeName(_ argument: Any?) -> String {
            UntypedValue.unwrapped(argument).map { "\(type(of: $0))" } ?? "nil"
        }

        /// The text.
        public var description: String { text }
    }
}

extension QuerySyntaxError {
    /// The public error. Its message shows the line with the error and points to the position.
    func realmError(_ text: String) -> Realm.Error {
        Realm.Error(.invalidInput, "\(message); see offset \(offset) of the query:\n\(pointer(text))")
    }

    // The line of the text that contains the position, and a caret below the position.
    private func pointer(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let start = bytes[..<min(offset, bytes.count)].lastIndex(of: 10).map { $0 + 1 } ?? 0
        let line = bytes[start...].prefix { $0 != 10 && $0 != 13 }
        let before = String(decoding: bytes[start..<min(offset, bytes.count)], as: UTF8.self)
        return "    \(String(decoding: line, as: UTF8.self))\n    \(String(repeating: " ", count: before.count))^"
    }
}

extension Realm.Predicate {
    /// A predicate that is bound to a class.
    struct Bound {
        let condition: MartletEngine.Predicate
        let stages: [QueryPlan.Stage]
    }

    /// Checks names and types against a class of a Realm. Traps if an object in the predicate belongs to another Realm.
    func bound(to table: TableID, in context: RealmContext) throws -> Bound {
        do {
            var binder = QueryBinder(context.schema)
            let scope = QueryBinder.Scope(start: .rows(table))
            let condition = try binder.bind(syntax.condition, scope)
            for object in binder.objects where object._context !== context {
                context.refuse(foreign: object, isLinked: false)
            }
            var stages: [QueryPlan.Stage] = []
            for stage in syntax.stages { stages.append(try binder.stage(stage, scope)) }
            return Bound(condition: condition, stages: stages)
        } catch {
            throw error.realmError(text)
        }
    }
}

extension QueryBinder {
    fileprivate func stage(
        _ stage: QuerySyntax.Stage, _ scope: Scope
    ) throws(QuerySyntaxError) -> QueryPlan.Stage {
        switch stage {
        case .limit(let count): return .limit(count, offset: 0)
        case .distinct(let paths):
            var bound: [PropertyPath] = []
            for path in paths { bound.append(try single(path, scope, "DISTINCT")) }
            return .distinct(bound)
        case .sort(let terms):
            var bound: [SortTerm] = []
            for (path, ascending) in terms {
                bound.append(SortTerm(try single(path, scope, "SORT"), ascending: ascending))
            }
            return .sort(bound)
        }
    }

    private func single(
        _ path: QuerySyntax.Path, _ scope: Scope, _ word: String
    ) throws(QuerySyntaxError) -> PropertyPath {
        let resolved = try resolve(path, scope)
        guard path.function == nil, resolved.collectionEnd == nil, let element = resolved.element,
            element.target == nil || word == "DISTINCT"
        else {
            throw QuerySyntaxError(
                offset: path.offset,
                message: "'\(word)' needs properties with one value, reached through to-one links only")
        }
        return resolved.path
    }
}
