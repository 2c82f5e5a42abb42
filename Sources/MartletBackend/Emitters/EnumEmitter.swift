import MartletSchema

/// Writes one persisted enum.
struct EnumEmitter {
    let context: EmitterContext

    func emit(_ model: EnumModel, into writer: inout SourceWriter) {
        let name = SwiftNames.escaped(model.name)
        writer.typeHeading(model.documentation, deprecation: model.deprecation)
        let conformances = "Swift.\(model.raw.rawValue), Martlet.PersistableEnum, Swift.CaseIterable, Swift.Sendable"
        writer.block("nonisolated \(context.access.modifier)enum \(name): \(conformances)") { writer in
            for item in model.cases {
                writer.heading(item.documentation)
                writer.line("case \(SwiftNames.escaped(item.name))\(rawValue(of: item))")
            }
            guard let unknown = model.unknown else { return }
            writer.line()
            // The generated code omits the name of the enum, because a case or a member can have that name. It wraps
            // the case in `.some`, because `.none` alone would mean `Optional.none`.
            writer.line(
                "\(context.access.hidden)static var _unknown: Self? { .some(.\(SwiftNames.escaped(unknown.value))) }"
            )
        }
    }

    private func rawValue(of item: EnumCaseModel) -> String {
        switch item.rawValue {
        case .int(let value): " = \(value)"
        case .string(let text): text == item.name ? "" : " = \(SwiftLiteral.string(text))"
        }
    }
}
