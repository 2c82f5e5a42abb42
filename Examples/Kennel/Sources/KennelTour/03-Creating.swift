import Martlet

/// 'create' accepts dictionaries and arrays, nested to any depth, such as a JSON parser returns. It can also update
/// existing objects.
func creating(_ realm: Realm) throws {
    chapter(3, "Creating, and updating")
    say("'create' accepts dictionaries, arrays in the order of the schema, and objects, nested to any depth:")
    let walk = try realm.write {
        realm.create(
            Task.self,
            value: [
                "id": 1, "name": "Walk the dogs",
                "assignee": ["firstName": "Ada", "address": ["street": "Main Street 1", "city": "London"]],
                "todos": [["id": 1, "name": "Find the leash"], [2, "Open the door"]],
            ])
    }
    show("\(walk.name): \(walk.assignee?.firstName ?? "nobody") of \(walk.assignee?.address?.city ?? "nowhere")")
    show(walk.todos.map { "\($0.id) \($0.name)" })

    say(
        "A second object with the same primary key stops the program under the default policy '.error'. '.modified'"
    )
    say("sets only values that differ, so observers are notified only of these; '.all' sets all given values:")
    var changes: [String] = []
    let token = walk.observe { change in
        if case .change(_, let properties) = change { changes = properties.map(\.name) }
    }
    for policy in [Realm.UpdatePolicy.modified, .all] {
        try realm.write {
            realm.create(Task.self, value: ["id": 1, "name": "Walk the dogs", "priority": 5], update: policy)
        }
        realm.refresh()
        show("\(policy): \(changes.joined(separator: ", "))")
        changes = []
    }
    token.invalidate()
    show("still \(walk.todos.count) todos, which were not given")
}
