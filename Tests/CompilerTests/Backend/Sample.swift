import MartletBackend
import MartletSchema

/// Functions that build resolved models from few arguments.
enum Sample {
    static let span = SourceSpan(file: SourceFileID(0), start: 0, end: 0)

    static func spanned(_ text: String) -> Spanned<String> { Spanned(text, span) }

    static func deprecation(_ message: String) -> DeprecationModel { DeprecationModel(message: message, span: span) }

    static func type(
        _ value: ValueTypeModel, _ kind: PropertyTypeModel.Kind = .single, optional: Bool = false
    ) -> PropertyTypeModel {
        PropertyTypeModel(kind: kind, value: value, isOptional: optional)
    }

    static func link(_ name: String) -> PropertyTypeModel { type(.link(name), optional: true) }

    static let string = type(.scalar(.string))
    static let int = type(.scalar(.int))

    static func property(
        _ name: String, _ type: PropertyTypeModel, default value: DefaultModel? = nil, doc: String? = nil,
        renamedFrom: String? = nil, deprecated: String? = nil, onDelete: MartletSchema.DeletionRule = .nullify,
        deleteRule: MartletSchema.DeletionRule = .nullify, key: Bool = false,
        index: Bool = false, fullText: Bool = false
    ) -> PropertyModel {
        PropertyModel(
            name: name, nameSpan: span, documentation: doc, type: type, typeSpan: span, defaultValue: value,
            renamedFrom: renamedFrom.map(spanned), deprecation: deprecated.map(deprecation), onDelete: onDelete,
            deleteRule: deleteRule,
            isPrimaryKey: key, isIndexed: index, isFullText: fullText)
    }

    static func object(
        _ name: String, _ properties: [PropertyModel], doc: String? = nil, embedded: Bool = false, key: String? = nil,
        unique: [[String]] = [], ignored: [PropertyModel] = [], keyPaths: [DeclaredKeyPathModel] = [],
        renamedFrom: String? = nil, deprecated: String? = nil
    ) -> ObjectModel {
        ObjectModel(
            name: name, nameSpan: span, documentation: doc, isEmbedded: embedded, primaryKey: key.map(spanned),
            unique: unique.map { $0.map(spanned) }, properties: properties, ignored: ignored, keyPaths: keyPaths,
            renamedFrom: renamedFrom.map(spanned), deprecation: deprecated.map(deprecation))
    }

    /// Returns a key path from `root`. Its segments are resolved with the properties of `objects`.
    static func path(_ text: String, from root: String, in objects: [ObjectModel], writable: Bool = false)
        -> KeyPathModel
    {
        var owner = root
        var segments: [KeyPathSegmentModel] = []
        for name in text.split(separator: ".").map(String.init) {
            guard let property = objects.first(where: { $0.name == owner })?.property(named: name) else { break }
            segments.append(KeyPathSegmentModel(owner: owner, property: name, type: property.type, span: span))
            owner = property.type.value.objectName ?? owner
        }
        let collection = segments.dropLast().firstIndex { !$0.type.isSingle }
        return KeyPathModel(
            root: root, segments: segments, type: segments.last?.type ?? int, isOptional: false,
            collectionSegment: collection, isWritable: writable, span: span)
    }

    static func model(_ declarations: [DeclarationModel], path: String = "Sample.yaml") -> SchemaModel {
        SchemaModel(files: [FileModel(file: SourceFileID(0), path: path, declarations: declarations)])
    }

    /// Generates the Swift code of one schema file that declares these objects, enums and projections.
    static func swift(
        _ objects: [ObjectModel], enums: [EnumModel] = [], projections: [ProjectionModel] = [],
        access: AccessLevel = .public, namespace: String? = nil
    ) -> String {
        let declarations =
            enums.map(DeclarationModel.enumeration) + objects.map(DeclarationModel.object)
            + projections.map(DeclarationModel.projection)
        let options = GenerationOptions(access: access, namespace: namespace)
        return Backend.generate(model(declarations), options: options).first?.text ?? ""
    }

    /// Generates the Swift code of one object type with a single property of this type.
    static func swift(_ type: PropertyTypeModel, default value: DefaultModel? = nil, doc: String? = nil) -> String {
        swift([object("Sample", [property("value", type, default: value, doc: doc)])])
    }
}
