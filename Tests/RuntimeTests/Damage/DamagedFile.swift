import ConformanceModels
import Foundation
import MartletTestSupport

@testable import Martlet

/// A closed file with sample objects. A test damages the file and opens it.
final class DamagedFile {
    let folder: URL
    let url: URL

    init(_ fill: (Realm) -> Void = DamagedFile.addSamples) throws {
        let test = try TestRealm()
        try test.realm.write { fill(test.realm) }
        folder = FileManager.default.temporaryDirectory.appending(path: "martlet-damage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: "test.realm")
        try test.realm.writeCopy(toFile: url)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Adds sample objects of several types. Most tests damage the object with the id 1.
    static func addSamples(_ realm: Realm) {
        for id in 1...2 {
            realm.add(
                Scalars(
                    id: id, bool: true, int: 7, int8: 8, int16: 16, int32: 32, int64: 64, float: 1.5, double: 2.5,
                    string: "text", data: Data([1, 2]), date: Date(timeIntervalSinceReferenceDate: 3), uuid: UUID(),
                    objectId: ObjectId(), decimal128: 4, anyValue: .string("any")))
            realm.add(OptionalScalars(id: id))
            realm.add(EnumHolder(id: id, grade: .good, level: .middle, state: .open, flavor: .sweet))
        }
        let nodes = (1...4).map { Node(id: $0, name: "n\($0)", amount: Double($0)) }
        for node in nodes { realm.add(node) }
        nodes[0].next = nodes[1]
        nodes[0].children.append(nodes[2])
        nodes[0].named["one"] = nodes[3]
        nodes[0].part = Part(name: "wheel")
        let lists = ScalarLists(id: 1)
        realm.add(lists)
        lists.ints.append(objectsIn: [1, 2, 3])
        lists.strings.append(objectsIn: ["a", "b"])
        lists.uuids.append(UUID())
        lists.anyValues.append(.list([.object(nodes[1]), .int(1)]))
        realm.add(Scalars(id: 3, anyValue: .object(nodes[1])))
    }

    /// Runs SQL statements on the closed file. The columns accept values of all types.
    func damage(_ sql: String) throws { try MartletTestSupport.writeUnchecked(url.path, sql) }

    func open(_ adjust: (inout Realm.Configuration) -> Void = { _ in }) throws -> Realm {
        var configuration = Realm.Configuration(fileURL: url)
        configuration.scheduler = ManualScheduler()
        configuration.durability = .off
        adjust(&configuration)
        return try Realm(configuration: configuration)
    }
}
