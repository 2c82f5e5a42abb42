import MartletBackend
import MartletSchema
import Testing

@Suite("Backend: names")
struct NameTests {
    @Test("keywords of Swift are in backticks as property, parameter, field and case S14")
    func keywords() {
        let swift = Sample.swift([Sample.object("Sample", [Sample.property("class", Sample.int)])])
        #expect(swift.contains("public var `class`: Swift.Int {"))
        #expect(swift.contains("init(`class`: Swift.Int = 0)"))
        #expect(swift.contains("_class = `class`"))
        #expect(swift.contains("public var `class`: Martlet.Field<Root, Swift.Int> { .init(_path, \"class\") }"))
        #expect(swift.contains("property class Int"))
    }

    @Test("generated references stay correct if key paths, types and collection members have equal names S14")
    func keyPathNames() throws {
        let friends = Sample.property("friends", Sample.type(.link("Dog"), .list))
        let properties = [friends, Sample.property("count", Sample.int), Sample.property("Dog", Sample.link("Dog"))]
        var object = Sample.object("Dog", properties)
        let paths = ["friends.count", "Dog.count"].map { Sample.path($0, from: "Dog", in: [object]) }
        let entry = DeclaredKeyPathModel(
            name: "Dog", nameSpan: Sample.span, documentation: nil, isList: true, paths: paths)
        object = Sample.object("Dog", properties, keyPaths: [entry])
        let swift = Sample.swift([object])
        #expect(swift.contains("private typealias _Dog = Dog\n"))
        #expect(
            swift.contains(
                "Martlet.Field<Dog, Swift.Int>(_Dog.fields.friends._path, \"count\"), _Dog.fields.Dog.count]"))
        #expect(swift.contains("static var fields: Fields<Dog> { .init(Martlet.FieldPath(self)) }"))
    }

    @Test("if storage would hide a member of the runtime or another property, only the storage is renamed S21")
    func storage() {
        let properties = ["load", "id", "_id", "list", "name"].map { Sample.property($0, Sample.int) }
        let swift = Sample.swift([Sample.object("Sample", properties)])
        for line in ["var _load_: ", "var _id_: ", "var __id: ", "var _list_: ", "var _name: "] {
            #expect(swift.contains("private final " + line), "\(line)")
        }
        #expect(swift.contains("get { _load(0); return _load_ }"))
    }

    @Test(
        "output names depend only on relative paths S20",
        arguments: [
            ("Dog.yaml", "Dog.martlet.swift"), ("Sub/Dog.yaml", "Sub_Dog.martlet.swift"),
            ("a/b/c.d.yaml", "a_b_c.d.martlet.swift"), ("a/\u{301}b.yaml", "a_\u{301}b.martlet.swift"),
        ])
    func outputs(path: String, name: String) {
        #expect(OutputNames.name(forPath: path) == name)
        #expect(Backend.generate(Sample.model([], path: path)).map(\.name) == [name, OutputNames.registry])
    }

    @Test("schema paths with equal output names, or output names that differ only in case, are reported S20")
    func collisions() {
        #expect(OutputNames.collisions(among: ["A/B.yaml", "C.yaml"]).isEmpty)
        #expect(OutputNames.collisions(among: ["A/B.yaml", "A_B.yaml"]).map(\.second) == ["A_B.yaml"])
        #expect(OutputNames.collisions(among: ["Dog.yaml", "dog.yaml"]).first?.first == "Dog.yaml")
        let registry = OutputNames.collisions(among: ["MartletSchema.yaml"])
        #expect(registry.count == 1 && registry.first?.first == nil)
    }

    @Test("in an optional property, the enum case `none` is not confused with nil S21")
    func noneCase() {
        let cases = ["none", "sweet"].map { EnumCaseModel(name: $0, nameSpan: Sample.span, rawValue: .string($0)) }
        let flavor = EnumModel(
            name: "Flavor", nameSpan: Sample.span, raw: .string, cases: cases, unknown: Sample.spanned("none"))
        let type = Sample.type(.enumeration("Flavor", raw: .string), optional: true)
        let object = Sample.object("Sample", [Sample.property("value", type, default: .enumCase("none"))])
        let swift = Sample.swift([object], enums: [flavor])
        #expect(swift.contains("static var _unknown: Self? { .some(.none) }"))
        #expect(swift.contains("_value = .some(.none)"))
    }
}
