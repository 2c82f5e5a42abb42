import MartletSchema

/// Reports synchronized properties whose values lose precision in PostgreSQL.
struct LostPrecision: LintRule {
    let code = DiagnosticCode.lostPrecision
    let requirement = "The values of synchronized properties keep their precision in PostgreSQL."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        schema.objects.filter { $0.sync.mode != .none }.flatMap(\.properties).compactMap { property in
            guard !property.sync.isLocal, !property.type.isLinkingObjects, let loss = loss(property.type.value) else {
                return nil
            }
            return Diagnostic(code, "'\(property.name)' \(loss)", at: property.typeSpan)
        }
    }

    private func loss(_ type: ValueTypeModel) -> String? {
        switch type {
        case .scalar(.date):
            "is rounded to microseconds by the service; write 'Int' if nanoseconds matter"
        case .scalar(.decimal128):
            "loses trailing zeros and the sign of zero in the service; write 'String' if they matter"
        default: nil
        }
    }
}
