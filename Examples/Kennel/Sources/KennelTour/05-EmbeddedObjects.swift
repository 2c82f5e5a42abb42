import Martlet

/// An embedded object belongs to its owner: it is stored and deleted together with the owner.
func embeddedObjects(_ realm: Realm) throws {
    chapter(5, "Embedded objects")
    say("An 'Address' is embedded: it has one owner, can be changed in place, and is deleted when it is replaced.")
    guard let ada = realm.objects(Person.self).where({ $0.firstName == "Ada" }).first else { return }
    let previous = ada.address
    try realm.write { ada.address?.city = "Oslo" }
    show("\(previous?.street ?? ""), \(previous?.city ?? "")")
    try realm.write { ada.address = Address(street: "Side Street 7", city: "Rome") }
    show("\(ada.address?.street ?? ""), \(ada.address?.city ?? "")")
    show("the previous address is deleted: \(previous?.isInvalidated == true)")
    say("A query reaches an address through its owner:")
    show(realm.objects(Person.self).where { $0.address.city == "Rome" }.map(\.firstName))
}
