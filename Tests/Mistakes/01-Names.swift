// Names that do not exist. How to read these files: see Tests/mistakes-check.py
import KennelModels
import Martlet

/// A misspelt property, directly after `objects`.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func misspeltProperty(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.nmae == "Rex" }
    // right: _ = realm.objects(Dog.self).where { $0.name == "Rex" }
}

/// A misspelt property in a condition on results in a variable.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func misspeltPropertyOfResults(_ dogs: Results<Dog>) {
    _ = dogs.where { $0.nmae == "Rex" }
    // right: _ = dogs.where { $0.name == "Rex" }
}

/// A misspelt property with an inequality.
/// error: value of type 'Dog.Fields<Dog>' has no member 'aeg'
func misspeltNumber(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.aeg > 5 }
    // right: _ = realm.objects(Dog.self).where { $0.age > 5 }
}

/// A misspelt property as the whole condition.
/// error: value of type 'Dog.Fields<Dog>' has no member 'isPupy'
func misspeltFlag(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.isPupy }
    // right: _ = realm.objects(Dog.self).where { $0.isPuppy }
}

/// A misspelt property in the second of two conditions.
/// error: value of type 'Dog.Fields<Dog>' has no member 'agge'
func misspeltSecondCondition(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.name == "Rex" && $0.agge > 5 }
    // right: _ = realm.objects(Dog.self).where { $0.name == "Rex" && $0.age > 5 }
}

/// A misspelt property compared with `false`.
/// error: value of type 'Dog.Fields<Dog>' has no member 'isPupy'
func misspeltNegation(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.isPupy == false }
    // right: _ = realm.objects(Dog.self).where { !$0.isPuppy }
}

/// A misspelt property before a string function.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func misspeltBeforeFunction(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.nmae.starts(with: "R") }
    // right: _ = realm.objects(Dog.self).where { $0.name.starts(with: "R") }
}

/// A misspelt property in a condition of several lines.
/// error: value of type 'Dog.Fields<Dog>' has no member 'isPupy'
func misspeltOnLaterLine(_ realm: Realm) {
    _ = realm.objects(Dog.self).where {
        $0.age > 1
            && $0.name != ""
            && $0.isPupy
    }
    // right: _ = realm.objects(Dog.self).where { $0.age > 1 && $0.name != "" && $0.isPuppy }
}

/// A misspelt property through a link.
/// error: value of type 'Person.Fields<Dog>' has no member 'frstName'
func misspeltThroughLink(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.owner.frstName == "Anna" }
    // right: _ = realm.objects(Dog.self).where { $0.owner.firstName == "Anna" }
}

/// A misspelt link.
/// error: value of type 'Dog.Fields<Dog>' has no member 'onwer'
func misspeltLink(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.onwer.firstName == "Anna" }
    // right: _ = realm.objects(Dog.self).where { $0.owner.firstName == "Anna" }
}

/// A misspelt property of an embedded object.
/// error: value of type 'Address.Fields<Person>' has no member 'cty'
func misspeltInEmbedded(_ realm: Realm) {
    _ = realm.objects(Person.self).where { $0.address.cty == "Oslo" }
    // right: _ = realm.objects(Person.self).where { $0.address.city == "Oslo" }
}

/// A misspelt property of the elements of a list.
/// error: has no dynamic member 'agee'
func misspeltInList(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.siblings.agee > 3 }
    // right: _ = realm.objects(Dog.self).where { $0.siblings.age > 3 }
}

/// A misspelt property of linking objects.
/// error: has no dynamic member 'nmae'
func misspeltInLinkingObjects(_ realm: Realm) {
    _ = realm.objects(Person.self).where { $0.dogs.nmae == "Rex" }
    // right: _ = realm.objects(Person.self).where { $0.dogs.name == "Rex" }
}

/// A property of another class.
/// error: value of type 'Dog.Fields<Dog>' has no member 'firstName'
func propertyOfOtherClass(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.firstName == "Anna" }
    // right: _ = realm.objects(Dog.self).where { $0.owner.firstName == "Anna" }
}

/// A property that is not stored: `ignored` in the schema.
/// error: value of type 'Dog.Fields<Dog>' has no member 'isSelected'
func ignoredProperty(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.isSelected }
    // right: _ = realm.objects(Dog.self).filter { $0.isSelected }
}

/// An enum case that does not exist.
/// error: type 'Size' has no member 'tiny'
func unknownCase(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.size == .tiny }
    // right: _ = realm.objects(Dog.self).where { $0.size == .small }
}

/// An enum case that does not exist, of results in a variable.
/// error: type 'Size' has no member 'tiny'
func unknownCaseOfResults(_ dogs: Results<Dog>) {
    _ = dogs.where { $0.size == .tiny }
    // right: _ = dogs.where { $0.size == .small }
}

/// An enum case that does not exist, with `!=`.
/// error: type 'Size' has no member 'tiny'
func unknownCaseNegated(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.size != .tiny }
    // right: _ = realm.objects(Dog.self).where { $0.size != .small }
}

/// A case that does not exist, of an optional enum.
/// error: has no member 'denmark'
func unknownOptionalCase(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.bornIn == .denmark }
    // right: _ = realm.objects(Dog.self).where { $0.bornIn == .norway }
}

/// An enum case that does not exist, among other conditions.
/// error: type 'Size' has no member 'tiny'
func unknownCaseAmongConditions(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.age > 3 && $0.size == .tiny }
    // right: _ = realm.objects(Dog.self).where { $0.age > 3 && $0.size == .small }
}

/// An enum case that does not exist, in a sequence of cases.
/// error: type 'Size' has no member 'tiny'
func unknownCaseInSequence(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.size.in([.tiny, .large]) }
    // right: _ = realm.objects(Dog.self).where { $0.size.in([.small, .large]) }
}

/// A misspelt name in `index(matching:)`.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func misspeltInIndex(_ realm: Realm) {
    _ = realm.objects(Dog.self).index(matching: { $0.nmae == "Rex" })
    // right: _ = realm.objects(Dog.self).index(matching: { $0.name == "Rex" })
}

/// A misspelt property of the elements of an object's list.
/// error: value of type 'Person.Fields<Person>' has no member 'nick'
func misspeltOfList(_ person: Person) {
    _ = person.friends.where { $0.nick == "Bo" }
    // right: _ = person.friends.where { $0.firstName == "Bo" }
}

/// A misspelt class.
/// error: cannot find 'Dgo' in scope
func misspeltClass(_ realm: Realm) {
    _ = realm.objects(Dgo.self)
    // right: _ = realm.objects(Dog.self)
}

/// A label of the initializer that does not exist.
/// error: have 'nmae:'
func misspeltLabel() {
    _ = Dog(nmae: "Rex")
    // right: _ = Dog(name: "Rex")
}

/// Arguments of the initializer in another order than that of the schema.
/// error: argument 'name' must precede argument 'age'
func orderOfLabels() {
    _ = Dog(age: 3, name: "Rex")
    // right: _ = Dog(name: "Rex", age: 3)
}

/// A misspelt property of an object.
/// error: value of type 'Dog' has no member 'nmae'
func misspeltAccess(_ dog: Dog) {
    _ = dog.nmae
    // right: _ = dog.name
}
