import Foundation
import Martlet

/// Objects are 'Codable' by their schema, and have copies that are in no Realm.
func coding(_ realm: Realm) throws {
    chapter(9, "JSON, and copies that are free")
    say("Objects encode what the schema declares, links as what they lead to:")
    guard let walk = realm.object(ofType: Task.self, forPrimaryKey: 1) else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let todos = Array(walk.todos)
    show(String(decoding: try encoder.encode(todos.first), as: UTF8.self))

    say("and are decoded as unmanaged objects, with the schema's defaults for what is missing:")
    let json = Data(#"[{"id": 3, "name": "Fill the bowls"}, {"id": 1, "name": "Find the other leash"}]"#.utf8)
    let decoded = try JSONDecoder().decode([Todo].self, from: json)
    try realm.write { realm.add(decoded, update: .modified) }
    show(realm.objects(Todo.self).map { "\($0.id) \($0.name)" })

    say("'detached' copies an object with all it leads to, out of the Realm. The copy is a plain Swift object:")
    let copy = walk.detached()
    copy.todos.removeAll()
    copy.assignee?.firstName = "Grace"
    show(
        "\(copy.assignee?.firstName ?? "") has \(copy.todos.count) todos, \(walk.assignee?.firstName ?? "") \(walk.todos.count)"
    )
}
