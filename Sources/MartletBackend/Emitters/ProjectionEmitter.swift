import MartletSchema

/// Writes one projection class.
struct ProjectionEmitter {
    let context: EmitterContext

    func emit(_ projection: ProjectionModel, into writer: inout SourceWriter) {
        writer.typeHeading(projection.documentation, deprecation: projection.deprecation)
        let name = SwiftNames.escaped(projection.name)
        let root = context.types.declared(projection.root.value)
        let head = "nonisolated \(context.access.modifier)final class \(name): Martlet.Projection<\(root)>"
        writer.block(head) { writer in
            for label in projection.labels {
                emit(label, into: &writer)
                writer.line()
            }
            SchemaFactsEmitter(context: context).emit(SchemaFactsEmitter.lines(for: projection), into: &writer)
        }
    }

    private func emit(_ label: ProjectionLabelModel, into writer: inout SourceWriter) {
        let value = ProjectedValue(
            label.path.segments[...], base: "rootObject", isOptional: false, types: context.types)
        writer.heading(label.documentation, deprecation: deprecation(in: label.path))
        let head = "\(context.access.modifier)var \(SwiftNames.escaped(label.name)): \(value.type)"
        guard label.path.isWritable else {
            writer.block(head) { $0.line(value.expression) }
            return
        }
        writer.block(head) { writer in
            writer.line("get { \(value.expression) }")
            writer.line("set { \(value.expression) = newValue }")
        }
    }

    /// The deprecation of the first deprecated property on the path. If there is one, the generated projection property
    /// is deprecated too. Otherwise the compiler would warn that its getter uses a deprecated property.
    private func deprecation(in path: KeyPathModel) -> DeprecationModel? {
        for segment in path.segments {
            let property = context.schema.object(named: segment.owner)?.property(named: segment.property)
            if let deprecation = property?.deprecation { return deprecation }
        }
        return nil
    }
}

/// The Swift expression that reads a key path, and the type of the expression.
struct ProjectedValue {
    let expression: String
    let type: String

    private init(expression: String, type: String) {
        self.expression = expression
        self.type = type
    }

    /// - Parameters:
    ///   - base: the Swift expression for the object that has the first property of the path.
    ///   - isOptional: whether the type of `base` is optional.
    init(_ segments: ArraySlice<KeyPathSegmentModel>, base: String, isOptional: Bool, types: SwiftTypes) {
        guard let segment = segments.first else {
            self.init(expression: base, type: "")
            return
        }
        let rest = segments.dropFirst()
        let expression = base + (isOptional ? "?." : ".") + SwiftNames.escaped(segment.property)
        let isSingleOptional = segment.type.isSingle && segment.type.isOptional
        if rest.isEmpty {
            let mark = isOptional && !isSingleOptional ? "?" : ""
            self.init(expression: expression, type: types.property(segment.type) + mark)
        } else if segment.type.isSingle {
            self.init(rest, base: expression, isOptional: isOptional || isSingleOptional, types: types)
        } else {
            self.init(elementsOf: expression, rest, isOptional: isOptional, types: types)
        }
    }

    /// Creates the expression for a projected collection. `segments` is the part of the path after the collection.
    /// Generated code evaluates this part for each element.
    private init(
        elementsOf collection: String, _ segments: ArraySlice<KeyPathSegmentModel>, isOptional: Bool, types: SwiftTypes
    ) {
        let element = ProjectedValue(segments, base: "$0", isOptional: false, types: types)
        let type = "Martlet.ProjectedCollection<\(element.type)>"
        let transform = "{ \(element.expression) }"
        if isOptional {
            let value = "(\(collection)).map { Martlet.ProjectedCollection($0) \(transform) }"
            self.init(expression: value, type: type + "?")
        } else {
            self.init(expression: "Martlet.ProjectedCollection(\(collection)) \(transform)", type: type)
        }
    }
}
