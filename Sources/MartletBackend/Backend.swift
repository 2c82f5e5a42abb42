public import MartletSchema

/// One generated file.
public struct OutputFile: Hashable, Sendable {
    /// The file's name; generated files lie in one folder.
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

/// Turns a resolved schema into Swift.
public enum Backend {
    /// One Swift file for each schema file, in the order of their paths, and the registry file last.
    ///
    /// The result is a pure function of model and options: the same bytes on any host. Two schema files whose paths give
    /// one output name are the caller's to refuse: see ``OutputNames``.
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
}
