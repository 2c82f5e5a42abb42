import Foundation
import Martlet

/// Objects are 'Codable'. 'detached' copies an object to an unmanaged object.
func coding(_ realm: Realm) throws {
    chapter(9, "JSON, and unmanaged copies")
    say("Objects encode the properties of the schema, and linked objects as nested values:")
    guard let walk = realm.object(ofType: Task.self, forPrimaryKey: 1) else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let todos = Array(walk.todos)
    show(String(decoding: try encoder.encode(todos.first), as: UTF8.self))

    say("They are decoded as unmanaged objects, with the defaults of the schema for missing values:")
    let json = Data(#"[{"id": 3, "name": "Fill the bowls"}, {"id": 1, "name": "Find the other leash"}]"#.utf8)
    let decoded = try JSONDecoder().decode([Todo].self, from: json)
    try realm.write { realm.add(decoded, update: .modified) }
    show(realm.objects(Todo.self).map { "\($0.id) \($0.name)" })

    say("'detached' copies an object and all objects it links to. The copies are unmanaged:")
    let copy = walk.detached()
    copy.todos.removeAll()
    copy.assignee?.firstName = "Grace"
    show(
        "\(copy.assignee?.firstName ?? "") has \(copy.todos.count) todos, \(walk.assignee?.firstName ?? "") \(walk.todos.count)"
    )
}
