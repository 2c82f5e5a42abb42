import Martlet

/// 'create' takes values as JSON readers give them, nested to any depth, and updates what is there already.
func creating(_ realm: Realm) throws {
    chapter(3, "Creating, and updating")
    say("'create' takes dictionaries, arrays in the order of the schema, and objects, nested as deep as they are:")
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
        "A second object with the same primary key is a mistake, and '.error', the default, stops the program. '.modified'"
    )
    say("changes what differs, and tells observers of nothing else; '.all' sets all that is given:")
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
    show("still \(walk.todos.count) todos, as nothing was said about them")
}
