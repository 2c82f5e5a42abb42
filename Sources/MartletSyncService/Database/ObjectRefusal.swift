#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    /// The error for an upload that no correct client sends.
    package struct InvalidUpload: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// The reason why the service reverts the changes of an upload to one object.
    struct ObjectRefusal: Error {
        let reason: RevertedObject.Reason
        /// Contains names of the schema, but no values, because PostgreSQL also checks constraints against rows that
        /// the user may not read.
        let message: String

        init(_ reason: RevertedObject.Reason, _ message: String) {
            self.reason = reason
            self.message = message
        }

        /// Makes the refusal for an error. Returns nil for an error that the object has not caused, such as an error of
        /// the connection, a conflict between transactions, a lack of resources, or a fault of the service.
        init?(_ error: any Error) {
            switch error {
            case let refusal as ObjectRefusal: self = refusal
            case let error as UnencodableValue: self.init(.invalidValue, error.description)
            case let error as PostgresError:
                guard let reason = Self.reason(error) else { return nil }
                self.init(reason, Self.message(error))
            default: return nil
            }
        }

        private static func reason(_ error: PostgresError) -> RevertedObject.Reason? {
            switch (error.state, error.state.conditionClass) {
            case (.insufficientPrivilege, _), (.withCheckOptionViolation, _): .notPermitted
            // `programLimitExceeded`: a key is too long for an index.
            case (.programLimitExceeded, _), (_, "22"): .invalidValue
            case (_, let conditionClass) where otherClasses.contains(conditionClass): nil
            // The error comes from a constraint, or from a trigger of the user. A trigger may raise an error with any
            // code.
            default: .constraint
            }
        }

        /// The classes of SQLSTATE codes for errors that the object has not caused, such as errors of the connection or
        /// of the disk. Appendix A of the PostgreSQL manual lists the names of the classes.
        private static let otherClasses: Set<String> = [
            "00", "01", "02", "03", "08", "0B", "0F", "0L", "0P", "24", "25", "26", "28", "2B", "2D", "34", "3B", "3D",
            "3F", "40", "42", "53", "55", "57", "58", "72", "F0", "HV", "XX",
        ]

        private static func message(_ error: PostgresError) -> String {
            let constraint = error.constraint.map { " (constraint '\($0)')" } ?? ""
            return switch error.state {
            case .uniqueViolation: "a value that must be unique exists already" + constraint
            case .foreignKeyViolation: "a link has no target, or other objects still link to the object" + constraint
            case .notNullViolation: "a required value is missing" + (error.column.map { " (column '\($0)')" } ?? "")
            case .checkViolation: "a value is not allowed" + constraint
            case .insufficientPrivilege, .withCheckOptionViolation: "the change is not permitted"
            case _ where error.state.conditionClass == "23": "a constraint does not hold" + constraint
            case _ where error.state.conditionClass == "22": "a value does not fit its column"
            case .programLimitExceeded: "a value is too long for an index"
            default: "a trigger of the database refuses the change"
            }
        }
    }
#endif
