import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// A file that is opened for reading only can lack types and properties that the program declares. Missing types are
/// empty, missing properties have their defaults, and the file does not change.
@Suite struct ReadOnlySchemaTests {
    private func configuration(_ previous: PreviousFile, _ types: [ObjectBase.Type]) -> Realm.Configuration {
        var configuration = previous.configuration(types, schemaVersion: 0)
        configuration.readOnly = true
        return configuration
    }

    private static let nodes: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]

    /// Creates a file with three nodes, in which the type `Node` lacks several properties.
    private func nodes() throws -> PreviousFile {
        let schemaText = """
            object Node
            primaryKey id
            property id Int
            property peers Set<link:Node>
            property next link:Node?
            property amount Double
            """
        return try PreviousFile([schemaText]) { create in
            let first = create("Node", ["id": 1, "amount": Double.nan])
            _ = create("Node", ["id": 2, "amount": -0.0, "next": first, "peers": [first]])
            _ = create("Node", ["id": 3, "amount": 2.5])
        }
    }

    @Test("missing types, properties, collections and embedded types are empty or have their defaults O74 O2")
    func missing() throws {
        let previous = try nodes()
        let before = previous.contents
        do {
            let realm = try Realm(
                configuration: configuration(previous, Self.nodes + [Keyless.self, Indexed.self, Scalars.self]))
            let all = realm.objects(Node.self)
            #expect(all.map(\.id) == [1, 2, 3] && all.allSatisfy { $0.name == "" && $0.part == nil })
            #expect(all[0].amount.isNaN && all[1].amount.sign == .minus && all[2].amount == 2.5)
            #expect(all[1].next == all[0] && all[0].previous.map(\.id) == [2] && all[0].peersOf.map(\.id) == [2])
            #expect(
                all.allSatisfy { $0.children.isEmpty && $0.named.isEmpty && $0.parts.isEmpty && $0.parents.isEmpty })
            #expect(all.where { $0.name == "" && $0.amount > 1 }.map(\.id) == [3])
            #expect(all.where { $0.children.count == 0 && $0.next.id == 1 }.map(\.id) == [2])
            #expect(all.sorted(byKeyPath: "name").sorted(byKeyPath: "amount", ascending: false).first?.id == 3)
            #expect(all.filter("ANY peers.name == '' AND part == nil").map(\.id) == [2])
            #expect(realm.object(ofType: Node.self, forPrimaryKey: 2)?.next?.id == 1)
            #expect(realm.objects(Keyless.self).isEmpty && realm.objects(Scalars.self).isEmpty)
            #expect(realm.objects(Indexed.self).where { $0.body.matches("word") }.isEmpty && !realm.isEmpty)
            let frozen = all[1].freeze()
            #expect(frozen.next?.name == "" && frozen.children.isEmpty)
            let configuration = configuration(previous, Self.nodes)
            nonisolated(unsafe) var elsewhere: [String] = []
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                var own = configuration
                own.scheduler = nil
                elsewhere = (try? Realm(configuration: own).objects(Node.self).map { "\($0.id)\($0.name)" }) ?? []
                done.signal()
            }
            done.wait()
            #expect(elsewhere == ["1", "2", "3"])
        }
        #expect(previous.contents == before)
    }

    @Test("opening an open file with more types adds these types to the Realm O74 O2") func later() throws {
        let previous = try nodes()
        let realm = try Realm(configuration: configuration(previous, Self.nodes))
        #expect(realm.objects(Node.self).count == 3)
        let again = try Realm(configuration: configuration(previous, Self.nodes + [Keyless.self]))
        #expect(again == realm && again.objects(Keyless.self).isEmpty && again.objects(Node.self)[0].name == "")
    }

    @Test(
        "missing properties have defaults of every type, and a generated default is the same at every read O74 O2 O35")
    func defaults() throws {
        let previous = try PreviousFile(["object Defaults\nprimaryKey id\nproperty id UUID"]) { create in
            _ = create("Defaults", ["id": UUID()])
        }
        let realm = try Realm(configuration: configuration(previous, [Defaults.self]))
        let (shown, unmanaged) = (try #require(realm.objects(Defaults.self).first), Defaults())
        #expect(shown.int == -42 && shown.int64 == .max && shown.largeDouble == unmanaged.largeDouble)
        #expect(
            shown.string == unmanaged.string && shown.quotes == unmanaged.quotes && shown.unicode == unmanaged.unicode)
        #expect(shown.preciseDate == unmanaged.preciseDate && shown.decimal128 == unmanaged.decimal128)
        #expect(shown.grade == .best && shown.level == .high && shown.optionalGrade == .good && shown.isTrue)
        #expect(shown.uuid == realm.freeze().objects(Defaults.self).first?.uuid && shown.optionalBool == true)
        #expect(realm.objects(Defaults.self).where { $0.word == "word" && $0.optionalInt == 7 }.count == 1)
    }

    @Test("renamed properties have their new names, and missing indexes are not required O74 O2") func renamed()
        throws
    {
        let schemaText =
            "object OldName\nprimaryKey id\nproperty id Int\nproperty title String\nproperty items List<link:OldName>"
        let previous = try PreviousFile([schemaText]) { create in
            let first = create("OldName", ["id": 1, "title": "a"])
            _ = create("OldName", ["id": 2, "title": "b", "items": [first, first]])
        }
        let realm = try Realm(configuration: configuration(previous, [Renamed.self]))
        #expect(realm.objects(Renamed.self).map(\.name) == ["a", "b"])
        #expect(realm.objects(Renamed.self)[1].children.map(\.name) == ["a", "a"])
        #expect(realm.objects(Renamed.self).where { $0.children.name == "a" }.map(\.id) == [2])
        let enums = try PreviousFile(["object EnumHolder\nprimaryKey id\nproperty id Int\nproperty level enum:Int"]) {
            _ = $0("EnumHolder", ["id": 1, "level": 5])
        }
        let holders = try Realm(configuration: configuration(enums, [EnumHolder.self])).objects(EnumHolder.self)
        #expect(holders.where { $0.level == .middle }.count == 1 && holders.first?.grade == .poor)
    }

    @Test("opening throws if a full-text index is missing or a property is undeclared O74 O2") func refused() throws {
        let words = try PreviousFile(["object Indexed\nprimaryKey id\nproperty id Int"])
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(words, [Indexed.self])) }
        #expect(
            error?.code == .schemaMismatch && error?.message.contains("the full-text index of 'Indexed.body'") == true)
        let lost = try PreviousFile(["object Keyless\nproperty title String"])
        let loss = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(lost, [Keyless.self])) }
        #expect(loss?.code == .schemaMismatch)
    }

    @Test("adding types to a file keeps its stored change sets, so observers get exact changes O74 N22")
    func addedTypes() throws {
        let test = try TestRealm { $0.objectTypes = Self.nodes }
        try test.realm.write { for id in 0..<50 { test.realm.add(Node(id: id)) } }
        nonisolated(unsafe) var modified: [[Int]] = []
        let token = test.realm.objects(Node.self).observe { change in
            if case .update(_, _, _, let modifications) = change { modified.append(modifications) }
        }
        _ = test.scheduler.waitForWork()
        while test.scheduler.run() > 0 {}
        var wide = test.configuration
        wide.objectTypes = Self.nodes + [Keyless.self]
        wide.scheduler = nil
        let configuration = wide
        try test.onNewThread { _ in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                realm.add(Keyless())
                realm.object(ofType: Node.self, forPrimaryKey: 7)?.name = "x"
            }
        }
        test.realm.refresh()
        #expect(modified == [[7]])
        token.invalidate()
    }
}
