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

    @Test("S13 the order in which files are given changes nothing")
    func order() {
        let outputs = Backend.generate(SchemaModel(files: Self.files))
        #expect(Backend.generate(SchemaModel(files: Self.files.reversed())) == outputs)
        #expect(
            outputs.map(\.name) == [
                "A.martlet.swift", "B_One.martlet.swift", "B_Two.martlet.swift", OutputNames.registry,
            ])
    }

    @Test("S20 the registry names every type, in the order of files")
    func registry() {
        let text = Backend.generate(SchemaModel(files: Self.files)).last?.text ?? ""
        #expect(text.contains("{ Martlet.register($0, [Type1.self, Type2.self, Type0.self], []) }"))
        #expect(text.contains("private typealias _MartletFormat = Martlet.GeneratedCodeFormat1"))
    }

    @Test("S20 a file without declarations gives a file without code")
    func empty() {
        let text = Backend.generate(Sample.model([])).first?.text ?? ""
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("//") })
    }

    @Test("S13 every file ends its lines with a line feed, and its last one too")
    func lineEnds() {
        for output in Backend.generate(SchemaModel(files: Self.files)) {
            #expect(output.text.hasSuffix("}\n") || output.text.hasSuffix("#endif\n"))
            #expect(!output.text.utf8.contains(0x0D))
            #expect(output.text.split(separator: "\n").allSatisfy { $0.last != " " })
        }
    }

    @Test("S7 the access level reaches every declaration", arguments: AccessLevel.allCases)
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

    @Test("S22 a file of enums alone imports no more than it shows")
    func enumsAlone() {
        let item = EnumCaseModel(name: "one", nameSpan: Sample.span, rawValue: .string("one"))
        let kind = EnumModel(name: "Kind", nameSpan: Sample.span, raw: .string, cases: [item])
        let package = Sample.swift([], enums: [kind], access: .package)
        #expect(package.contains("\n@_spi(Generated) import Martlet\n"))
        #expect(!package.contains("package import"))
        #expect(Sample.swift([], enums: [kind]).contains("\n@_spi(Generated) public import Martlet\n"))
    }

    @Test("S13 long lists of parameters are wrapped at 120 columns")
    func wrapping() {
        let properties = (0..<20).map { Sample.property("property\($0)", Sample.string) }
        let swift = Sample.swift([Sample.object("Wide", properties)])
        #expect(swift.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }
}
