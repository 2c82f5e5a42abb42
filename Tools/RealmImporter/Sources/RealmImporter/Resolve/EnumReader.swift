import MartletSchema

/// Reads the cases of an enum and their stored values.
struct EnumReader {
    let index: TypeIndex

    enum RawType: Equatable {
        case text
        case integer
        case other(String)
    }

    struct Case {
        let declaration: CaseDeclaration
        /// The raw value as text; nil if it is not a literal.
        let raw: String?
    }

    /// Returns the raw type of an enum, which is its first inherited type.
    func raw(of key: String) -> RawType {
        guard let declaration = index.entries[key]?.declaration, let first = declaration.inherited.first else {
            return .other("")
        }
        let type = index.expand(first.value, from: declaration.scope).type
        switch type.head {
        case "String": return .text
        case "Int", "Int8", "Int16", "Int32", "Int64": return .integer
        default: return .other(type.text)
        }
    }

    /// Returns the cases with their raw values. If a case has no explicit raw value, Swift uses the previous integer
    /// plus one, or in an enum of `String` the name of the case.
    func cases(of key: String) -> [Case] {
        let isInteger = raw(of: key) == .integer
        var next = 0
        return (index.entries[key]?.parts ?? []).flatMap(\.cases).map { declaration in
            switch declaration.value?.form {
            case .integer(let digits):
                next = (Int(digits) ?? 0) &+ 1
                return Case(declaration: declaration, raw: isInteger ? digits : nil)
            case .string(let text): return Case(declaration: declaration, raw: isInteger ? nil : text)
            case nil where isInteger:
                next &+= 1
                return Case(declaration: declaration, raw: "\(next &- 1)")
            case nil: return Case(declaration: declaration, raw: declaration.name.value)
            default: return Case(declaration: declaration, raw: nil)
            }
        }
    }
}
