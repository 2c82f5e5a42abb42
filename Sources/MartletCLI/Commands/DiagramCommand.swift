import ArgumentParser
import MartletCompiler
import MartletDocs
import MartletSchema
import MartletTools

struct DiagramCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagram", abstract: "Draw a diagram of the types of a schema and their relations.",
        discussion: """
            'mermaid' is a text format that many sites render, 'dot' is for Graphviz, and 'svg' is a self-contained \
            image. Without '--format', the extension of the output file determines the format; the default is \
            'mermaid'. A schema with errors is not drawn.
            """)

    @Argument(help: "The schema folder.", completion: .directory)
    var folder: String

    @Option(
        help: "What to write: \(DiagramFormat.names).",
        completion: .list(DiagramFormat.allCases.map(\.rawValue)), transform: DiagramFormat.named)
    var format: DiagramFormat?

    @Option(name: .shortAndLong, help: "The file to write to. The default is standard output.", completion: .file())
    var output: String?

    @Flag(inversion: .prefixedNo, help: "Whether projections are drawn.")
    var projections = true

    @Option(
        help: "Which properties the boxes show: \(DiagramProperties.names). 'links' shows primary keys too.",
        completion: .list(DiagramProperties.allCases.map(\.rawValue)), transform: DiagramProperties.named)
    var properties = DiagramProperties.all

    @Option(help: "Draw only this type and the types near it. The option can be repeated.")
    var only: [String] = []

    @Option(help: "The maximum number of relations between a type named by '--only' and a drawn type.")
    var depth = 1

    func validate() throws {
        if depth < 0 { throw ValidationError("'--depth' is a number of relations between types; write 0 or more") }
    }

    func run() throws {
        let input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(folder: folder) }
        let options = DiagramOptions(
            showsProjections: projections, properties: properties, types: only, depth: depth)
        let diagram = Compiler.diagram(input, as: chosenFormat, options: options)
        let text = try diagram.text(reporting: input)
        if let unknown = only.first(where: { !diagram.typeNames.contains($0) }) {
            throw CommandFailure(.usage, "the schema has no type '\(unknown)'; write its name as the schema does")
        }
        guard let output else {
            try Console.write(text)
            return
        }
        let isWritten = try reportingDiskErrors { () throws(DiskError) in
            try FileBatch.replace(output, with: Array(text.utf8))
        }
        try Console.write(isWritten ? "wrote \(output.printable)\n" : "up to date\n")
    }

    private var chosenFormat: DiagramFormat {
        if let format { return format }
        switch output?.split(separator: ".").last.map({ $0.lowercased() }) {
        case "svg": return .svg
        case "dot", "gv": return .dot
        default: return .mermaid
        }
    }
}

extension SchemaDocument {
    /// The text of the document: a reference page or a diagram. If the schema has errors, prints them and throws.
    func text(reporting input: SchemaInput) throws -> String {
        guard let text else {
            let printer = DiagnosticPrinter(
                sources: input.allSources, style: .full, isColored: Console.isColored(descriptor: 2))
            Console.error(printer.text(diagnostics))
            throw CommandFailure(.findings)
        }
        return text
    }
}

extension DiagramFormat {
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    static func named(_ word: String) throws -> DiagramFormat {
        guard let format = DiagramFormat(rawValue: word) else {
            throw ValidationError("unknown format '\(word)'; the formats are \(names)")
        }
        return format
    }
}

extension DiagramProperties {
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    static func named(_ word: String) throws -> DiagramProperties {
        guard let properties = DiagramProperties(rawValue: word) else {
            throw ValidationError("unknown value '\(word)'; the values are \(names)")
        }
        return properties
    }
}
