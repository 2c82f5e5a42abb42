import MartletBackend
import MartletSchema
import Testing

@Suite("Backend: files")
struct OutputTests {
    private static let files = ["B/Two.yaml", "A.yaml", "B/One.yaml"].enumerated().map { index, path in
        FileModel(
            file: SourceFileID(index), path: path,
            declarations: [.object(Sample.object("Type\(index)", [Sample.property("id", Sample.int)]))])
    }

    @Test("the order of the input files does not matter S13")
    func order() {
        let outputs = Backend.generate(SchemaModel(files: Self.files))
        #expect(Backend.generate(SchemaModel(files: Self.files.reversed())) == outputs)
        #expect(
            outputs.map(\.name) == [
                "A.martlet.swift", "B_One.martlet.swift", "B_Two.martlet.swift", OutputNames.registry,
            ])
    }

    @Test("the registry lists every type, in the order of the files S20")
    func registry() {
        let text = Backend.generate(SchemaModel(files: Self.files)).last?.text ?? ""
        #expect(text.contains("{ Martlet.register($0, [Type1.self, Type2.self, Type0.self], []) }"))
        #expect(text.contains("private typealias _MartletFormat = Martlet.GeneratedCodeFormat2"))
    }

    @Test("for a schema file without declarations, a file without code is generated S20")
    func empty() {
        let text = Backend.generate(Sample.model([])).first?.text ?? ""
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("//") })
    }

    @Test("every line of every file ends with a line feed, without a carriage return or a space before it S13")
    func lineEnds() {
        for output in Backend.generate(SchemaModel(files: Self.files)) {
            #expect(output.text.hasSuffix("}\n") || output.text.hasSuffix("#endif\n"))
            #expect(!output.text.utf8.contains(0x0D))
            #expect(output.text.split(separator: "\n").allSatisfy { $0.last != " " })
        }
    }

    @Test("the access level is applied to every declaration S7", arguments: AccessLevel.allCases)
    func access(level: AccessLevel) {
        let enumeration = EnumModel(
            name: "Kind", nameSpan: Sample.span, raw: .int,
            cases: [EnumCaseModel(name: "one", nameSpan: Sample.span, rawValue: .int(1))],
            unknown: Sample.spanned("one"))
        let object = Sample.object("Dog", [Sample.property("legs", Sample.int, default: .integer(4))])
        let swift = Sample.swift([object], enums: [enumeration], access: level)
        let others = AccessLevel.allCases.filter { $0 != level }
        for other in others { #expect(!swift.contains("\(other.rawValue) ")) }
        switch level {
        case .public:
            #expect(swift.contains("@_spi(Generated) public import Martlet\n"))
            #expect(swift.contains("nonisolated public final class Dog"))
            #expect(swift.contains("@_spi(Generated) override public final func _applyDefaults()"))
            #expect(swift.contains("@_spi(Generated) public static var _unknown"))
        case .package:
            #expect(
                swift.contains("#if hasFeature(InternalImportsByDefault)\n@_spi(Generated) package import Martlet\n"))
            #expect(swift.contains("nonisolated package final class Dog"))
            #expect(swift.contains("    override package final func _applyDefaults()"))
        case .internal:
            #expect(swift.contains("\n@_spi(Generated) import Martlet\n"))
            #expect(swift.contains("nonisolated final class Dog"))
            #expect(swift.contains("    override final func _applyDefaults()"))
        }
    }

    @Test("in a file with only enums, the import of Martlet is public only if the enums are public S22")
    func enumsAlone() {
        let item = EnumCaseModel(name: "one", nameSpan: Sample.span, rawValue: .string("one"))
        let kind = EnumModel(name: "Kind", nameSpan: Sample.span, raw: .string, cases: [item])
        let package = Sample.swift([], enums: [kind], access: .package)
        #expect(package.contains("\n@_spi(Generated) import Martlet\n"))
        #expect(!package.contains("package import"))
        #expect(Sample.swift([], enums: [kind]).contains("\n@_spi(Generated) public import Martlet\n"))
    }

    @Test("long parameter lists wrap at 120 columns S13")
    func wrapping() {
        let properties = (0..<20).map { Sample.property("property\($0)", Sample.string) }
        let swift = Sample.swift([Sample.object("Wide", properties)])
        #expect(swift.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }
}
