import Foundation
import PackagePlugin

/// Compiles the YAML schema files of a target into Swift before the target is built.
///
/// One build command compiles all schema files of the target, because a file can refer to types of other files. The
/// paths of the command's inputs and outputs depend only on file names. The build system therefore knows these paths in
/// advance, and runs the command only if an output is out of date.
@main struct MartletPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let module = target as? SwiftSourceModuleTarget else {
            Diagnostics.error("target '\(target.name)' is not a Swift target; MartletPlugin writes Swift")
            return []
        }
        let set = SchemaSet(files: module.sourceFiles.map(\.url), folder: module.directoryURL)
        guard set.check(targetName: target.name) else { return [] }

        let output = context.pluginWorkDirectoryURL
        var arguments = ["--output", output.path, "--root", module.directoryURL.path]
        for configuration in set.configurations { arguments += ["--config", configuration.path] }
        return [
            .buildCommand(
                displayName: "Martlet: schemas of \(target.name)",
                executable: try context.tool(named: "MartletGenerator").url,
                arguments: arguments + ["--"] + set.schemas.map(\.url.path),
                inputFiles: set.schemas.map(\.url) + set.configurations,
                outputFiles: set.outputNames.map { output.appending(path: $0) })
        ]
    }
}

/// The schema files of one target, and the names of the generated files.
struct SchemaSet {
    struct Schema {
        let url: URL
        /// The path relative to the target's folder. For a file in its folder `Schemas`, relative to `Schemas`.
        let path: String
    }

    private(set) var schemas: [Schema] = []
    private(set) var configurations: [URL] = []
    private let hasSwiftFile: Bool
    private let swiftFiles: [URL]
    /// The paths that the target must list under `exclude:` if it does not use the plugin.
    private var excluded: [String] = []

    init(files: [URL], folder: URL) {
        swiftFiles = files.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
        hasSwiftFile = !swiftFiles.isEmpty
        for url in files.sorted(by: { $0.path < $1.path }) where url.pathExtension == "yaml" {
            let components = SchemaSet.relativeComponents(of: url, in: folder)
            let isInSchemas = components.count > 1 && components[0] == "Schemas"
            let path = isInSchemas ? "Schemas" : components.joined(separator: "/")
            if !excluded.contains(path) { excluded.append(path) }
            if url.lastPathComponent == "martlet.yaml" {
                configurations.append(url)
            } else {
                schemas.append(Schema(url: url, path: SchemaSet.relativePath(of: url, in: folder)))
            }
        }
    }

    /// The names of the generated files: one Swift file for each schema file, and the registry file.
    var outputNames: [String] {
        schemas.map { SchemaSet.outputName(forPath: $0.path) } + [SchemaSet.registryName]
    }

    /// Reports each problem of the set as an error. Returns true if there are no problems.
    func check(targetName: String) -> Bool {
        if schemas.isEmpty {
            Diagnostics.error(
                "no schema in target '\(targetName)'; add a .yaml file, or a symbolic link 'Schemas' to a folder "
                    + "with .yaml files, to the target's folder, or remove MartletPlugin from the target's plugins")
        }
        if !hasSwiftFile {
            Diagnostics.error(
                "target '\(targetName)' has no Swift file of its own; add an empty one, for example Anchor.swift, "
                    + "because SwiftPM ignores a target without Swift files")
        }
        if configurations.count > 1 {
            let paths = configurations.map { "'\($0.path)'" }.joined(separator: " and ")
            Diagnostics.error("target '\(targetName)' has more than one martlet.yaml; keep one of \(paths)")
        }
        let conflicting = swiftFilesNamedLikeOutputs()
        if let first = conflicting.first {
            let names = excluded.prefix(3).map { "\"\($0)\"" } + (excluded.count > 3 ? ["…"] : [])
            Diagnostics.error(
                "target '\(targetName)' contains '\(first.path)', which MartletPlugin writes as well; "
                    + "keep one of the two: remove MartletPlugin from the target's plugins and add "
                    + "'exclude: [\(names.joined(separator: ", "))]' to the target, or "
                    + "delete the generated files in its folder")
        }
        let collisions = collisions()
        for collision in collisions { Diagnostics.error(collision) }
        return !schemas.isEmpty && hasSwiftFile && configurations.count <= 1 && collisions.isEmpty
            && conflicting.isEmpty
    }

    /// Returns the Swift files of the target that have the name of a generated file. SwiftPM cannot build a target that
    /// contains both files.
    private func swiftFilesNamedLikeOutputs() -> [URL] {
        let names = Set(outputNames.map { $0.lowercased() })
        return swiftFiles.filter { names.contains($0.lastPathComponent.lowercased()) }
    }

    /// Returns a message for each generated file whose name another generated file already has.
    private func collisions() -> [String] {
        var owners: [String: String] = [:]
        var messages: [String] = []
        for schema in schemas {
            let name = SchemaSet.outputName(forPath: schema.path)
            if name.lowercased() == SchemaSet.registryName.lowercased() {
                messages.append(
                    "the Swift file of '\(schema.url.path)' would have the name of the registry file, '\(name)'; "
                        + "rename the schema file")
            } else if let owner = owners.updateValue(schema.url.path, forKey: name.lowercased()) {
                messages.append(
                    "the Swift files of '\(owner)' and '\(schema.url.path)' would both be named '\(name)'; "
                        + "rename one of the schema files")
            }
        }
        return messages
    }

    // MARK: - Names of generated files, which must equal those of the generator

    private static let registryName = "MartletSchema.martlet.swift"

    private static func outputName(forPath path: String) -> String {
        var stem = Array(path.utf8)
        if stem.suffix(5).elementsEqual(".yaml".utf8) { stem.removeLast(5) }
        let parts = stem.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        return parts.joined(separator: "_") + ".martlet.swift"
    }

    private static func relativeComponents(of url: URL, in folder: URL) -> [String] {
        let components = url.standardizedFileURL.pathComponents
        let base = folder.standardizedFileURL.pathComponents
        return components.starts(with: base) ? Array(components.dropFirst(base.count)) : components
    }

    private static func relativePath(of url: URL, in folder: URL) -> String {
        var components = relativeComponents(of: url, in: folder)
        if components.count > 1, components.first == "Schemas" { components.removeFirst() }
        return components.joined(separator: "/")
    }
}
