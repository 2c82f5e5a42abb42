import Foundation
import KennelModels
import Testing

@testable import Martlet

@Test("a Realm stores, queries, observes and deletes objects") func smoke() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("smoke-\(UUID().uuidString).realm")
    var config = Realm.Configuration(fileURL: url)
    let scheduler = ManualScheduler()
    config.scheduler = scheduler
    let realm = try Realm(configuration: config)
    let rex = Dog(name: "Rex")
    try realm.write { realm.add(rex) }
    #expect(realm.objects(Dog.self).count == 1)
    #expect(rex.name == "Rex")
    var calls: [String] = []
    let token = realm.objects(Dog.self).sorted(byKeyPath: "name").observe { change in
        switch change {
        case .initial(let dogs): calls.append("initial \(dogs.count)")
        case .update(_, let d, let i, let m): calls.append("\(d) \(i) \(m)")
        case .error(let e): calls.append("\(e)")
        }
    }
    realm.refresh()
    try realm.write {
        rex.name = "Max"
        realm.add(Dog(name: "Bello"))
        rex.owner = Person(firstName: "Ada")
        rex.siblings.append(Dog(name: "Zoe"))
    }
    realm.refresh()
    #expect(realm.objects(Dog.self).where { $0.owner.firstName == "Ada" }.count == 1)
    #expect(realm.objects(Dog.self).where { $0.siblings.name == "Zoe" }.first == rex)
    #expect(realm.objects(Person.self).first?.dogs.count == 1)
    try realm.write { realm.delete(rex) }
    realm.refresh()
    #expect(rex.isInvalidated)
    #expect(calls == ["initial 1", "[] [0, 2] [0]", "[1] [] []"])
    token.invalidate()
}
