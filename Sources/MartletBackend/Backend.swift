public import MartletSchema

/// One generated file.
public struct OutputFile: Hashable, Sendable {
    /// The name of the file. All generated files are in one folder.
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

/// Generates Swift code from a resolved schema.
public enum Backend {
    /// Generates one Swift file for each schema file, in the order of the schema files' paths, and then the registry
    /// file.
    ///
    /// The result depends only on the model and the options, so it is identical on every host. The caller must reject
    /// schema files whose output names collide: see ``OutputNames``.
    ///
    /// - Complexity: O(*n*) in the number of properties.
    public static func generate(_ model: SchemaModel, options: GenerationOptions = GenerationOptions()) -> [OutputFile]
    {
        let context = EmitterContext(
            schema: model, access: Access(level: options.access), types: SwiftTypes(namespace: options.namespace))
        let emitter = FileEmitter(context: context)
        let files = model.files.map { file in
            OutputFile(name: OutputNames.name(forPath: file.path), text: emitter.text(for: file))
        }
        return files + [OutputFile(name: OutputNames.registry, text: RegistryEmitter(context: context).text())]
    }

    /// The schema facts of all object types and embedded types, with an empty line between two types. The generated
    /// classes contain the same lines.
    public static func facts(_ model: SchemaModel) -> String {
        model.objects.map { SchemaFactsEmitter.lines(for: $0).joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }
}
