/// The SQLSTATE of an error: a code of five characters.
///
/// PostgreSQL's appendix "PostgreSQL Error Codes" lists the codes.
package struct SQLState: Sendable, Hashable, CustomStringConvertible {
    package let code: String

    package init(_ code: String) { self.code = code }

    package var description: String { code }

    /// The first two characters of the code, which denote a class of errors.
    package var conditionClass: String { String(code.prefix(2)) }

    package static let connectionFailure = SQLState("08006")
    package static let featureNotSupported = SQLState("0A000")
    package static let invalidBinaryRepresentation = SQLState("22P03")
    package static let notNullViolation = SQLState("23502")
    package static let foreignKeyViolation = SQLState("23503")
    package static let uniqueViolation = SQLState("23505")
    package static let checkViolation = SQLState("23514")
    package static let exclusionViolation = SQLState("23P01")
    package static let failedTransaction = SQLState("25P02")
    package static let serializationFailure = SQLState("40001")
    package static let deadlockDetected = SQLState("40P01")
    package static let insufficientPrivilege = SQLState("42501")
    package static let withCheckOptionViolation = SQLState("44000")
    package static let programLimitExceeded = SQLState("54000")
    package static let raisedException = SQLState("P0001")
    package static let lockNotAvailable = SQLState("55P03")
    package static let queryCanceled = SQLState("57014")
}

/// An error of PostgreSQL, or of the connection to it.
///
/// `description` contains no data of rows, so it may be sent to any client. `logText` also contains PostgreSQL's
/// message, detail, hint and context. These can quote values of rows, so `logText` may be written only to the log of
/// the service.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    package let state: SQLState
    /// PostgreSQL's primary message. Some messages quote values.
    package let message: String
    package var detail: String?
    package var hint: String?
    package var context: String?
    /// The table, column and constraint that PostgreSQL names in the error; nil if it names none.
    package var table: String?
    package var column: String?
    package var constraint: String?

    package init(_ state: SQLState, _ message: String) {
        self.state = state
        self.message = message
    }

    /// The error for bytes that do not have the binary format of their type.
    package static func malformed(_ what: String) -> PostgresError {
        PostgresError(.invalidBinaryRepresentation, "\(what) does not have the binary format of its type")
    }

    /// True if the connection cannot be used any more after this error.
    package var endsConnection: Bool {
        state.conditionClass == "08" || ["57P01", "57P02", "57P03"].contains(state.code)
    }

    /// True if the transaction that failed with this error can succeed when the client runs it again.
    package var isTransient: Bool { [.serializationFailure, .deadlockDetected].contains(state) }

    package var description: String {
        let names = [("table", table), ("column", column), ("constraint", constraint)].compactMap { kind, name in
            name.map { " \(kind) '\($0)'" }
        }
        return "PostgreSQL reports \(state)" + (names.isEmpty ? "" : " for" + names.joined(separator: ","))
    }

    /// The description, followed by PostgreSQL's message, detail, hint and context, on several lines.
    package var logText: String {
        let further = [("detail", detail), ("hint", hint), ("context", context)].compactMap { name, text in
            text.map { "\n\(name): \($0)" }
        }
        return "\(description): \(message)" + further.joined()
    }
}
