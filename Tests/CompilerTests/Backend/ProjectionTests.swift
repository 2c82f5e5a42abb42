import MartletBackend
import MartletSchema
import Testing

@Suite("Backend: projections")
struct ProjectionTests {
    private static let objects = [
        Sample.object(
            "Person",
            [
                Sample.property("name", Sample.string),
                Sample.property("nick", Sample.type(.scalar(.string), optional: true)),
                Sample.property("boss", Sample.link("Person")),
                Sample.property("friends", Sample.type(.link("Person"), .list)),
                Sample.property("old", Sample.string, deprecated: "no"),
                Sample.property(
                    "bossOf", Sample.type(.link("Person"), .linkingObjects(type: "Person", property: "boss"))),
            ])
    ]

    @Test(
        "a label has the type of the last property of its path S5",
        arguments: [
            ("name", "Swift.String", "rootObject.name"),
            ("boss.name", "Swift.String?", "rootObject.boss?.name"),
            ("boss.nick", "Swift.String?", "rootObject.boss?.nick"),
            ("boss.boss.name", "Swift.String?", "rootObject.boss?.boss?.name"),
            ("friends", "Martlet.List<Person>", "rootObject.friends"),
            ("boss.friends", "Martlet.List<Person>?", "rootObject.boss?.friends"),
            (
                "friends.name", "Martlet.ProjectedCollection<Swift.String>",
                "Martlet.ProjectedCollection(rootObject.friends) { $0.name }"
            ),
            (
                "friends.boss.name", "Martlet.ProjectedCollection<Swift.String?>",
                "Martlet.ProjectedCollection(rootObject.friends) { $0.boss?.name }"
            ),
            (
                "bossOf.nick", "Martlet.ProjectedCollection<Swift.String?>",
                "Martlet.ProjectedCollection(rootObject.bossOf) { $0.nick }"
            ),
            (
                "boss.friends.name", "Martlet.ProjectedCollection<Swift.String>?",
                "(rootObject.boss?.friends).map { Martlet.ProjectedCollection($0) { $0.name } }"
            ),
        ])
    func types(path: String, type: String, expression: String) {
        let swift = projection(of: path)
        #expect(swift.contains("    public var label: \(type) {\n        \(expression)\n    }\n"))
        #expect(swift.contains("        label label \(path)\n"))
    }

    @Test("setting a label with a writable path writes to the property S21")
    func writable() {
        let swift = projection(of: "boss.nick", writable: true)
        #expect(swift.contains("get { rootObject.boss?.nick }\n        set { rootObject.boss?.nick = newValue }"))
    }

    @Test("a label of a deprecated property is deprecated too S22")
    func deprecated() {
        let swift = projection(of: "friends.old")
        #expect(swift.contains("@available(*, deprecated, message: \"no\")\n    public var label:"))
    }

    private func projection(of path: String, writable: Bool = false) -> String {
        let label = ProjectionLabelModel(
            name: "label", nameSpan: Sample.span, documentation: nil,
            path: Sample.path(path, from: "Person", in: Self.objects, writable: writable))
        let model = ProjectionModel(
            name: "Card", nameSpan: Sample.span, documentation: nil, root: Sample.spanned("Person"), labels: [label])
        return Sample.swift(Self.objects, projections: [model])
    }
}
