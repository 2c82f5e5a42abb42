// Values that do not fit a property. How to read these files: see Tests/mistakes-check.py
import KennelModels
import Martlet

/// A string property and a number.
/// error: cannot convert value of type 'Int' to expected argument type 'String'
func numberForString(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.name == 5 }
    // right: _ = realm.objects(Dog.self).where { $0.name == "5" }
}

/// A number and a string.
/// error: cannot convert value of type 'String' to expected argument type 'Int'
func stringForNumber(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.age == "5" }
    // right: _ = realm.objects(Dog.self).where { $0.age == 5 }
}

/// An ordering comparison of a number and a string.
/// error: cannot convert value of type 'String' to expected argument type 'Int'
func orderingOfNumberAndString(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.age > "5" }
    // right: _ = realm.objects(Dog.self).where { $0.age > 5 }
}

/// A floating-point value for a property of whole numbers.
/// error: cannot convert value of type 'Double' to expected argument type 'Int'
func fractionForInteger(_ realm: Realm, _ limit: Double) {
    _ = realm.objects(Todo.self).where { $0.progressMinutes > limit }
    // right: _ = realm.objects(Todo.self).where { $0.progressMinutes > Int(limit) }
}

/// `nil` and a required property.
/// error: 'nil' is not compatible with expected argument type 'String'
func nilForRequired(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.name == nil }
    // right: _ = realm.objects(Dog.self).where { $0.name == "" }
}

/// `!= nil` and a required property.
/// error: 'nil' is not compatible with expected argument type 'String'
func notNilForRequired(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.name != nil }
    // right: _ = realm.objects(Dog.self).where { $0.name != "" }
}

/// `nil` and a required property, in a condition on results in a variable.
/// error: 'nil' is not compatible with expected argument type 'Bool'
func nilForRequiredOfResults(_ dogs: Results<Dog>) {
    _ = dogs.where { $0.isPuppy == nil }
    // right: _ = dogs.where { $0.isPuppy == false }
}

/// An optional value and a required property.
/// error: 'String?' must be unwrapped
func optionalForRequired(_ realm: Realm, _ wanted: String?) {
    _ = realm.objects(Dog.self).where { $0.name == wanted }
    // right: _ = realm.objects(Dog.self).where { $0.name == wanted ?? "" }
}

/// A list of objects and a string.
/// error: a collection has no single value
func listForString(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.siblings == "Rex" }
    // right: _ = realm.objects(Dog.self).where { $0.siblings.name == "Rex" }
}

/// A set of values and one value.
/// error: a collection has no single value
func setForValue(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.tags == "good" }
    // right: _ = realm.objects(Dog.self).where { $0.tags.contains("good") }
}

/// A map and one value.
/// error: a map has no single value
func mapForValue(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.weights == 3.5 }
    // right: _ = realm.objects(Dog.self).where { $0.weights.values == 3.5 }
}

/// A list and an object.
/// error: a collection has no single value
func listForObject(_ realm: Realm, _ dog: Dog) {
    _ = realm.objects(Dog.self).where { $0.siblings == dog }
    // right: _ = realm.objects(Dog.self).where { $0.siblings.contains(dog) }
}

/// A list in an ordering comparison.
/// error: a collection has no single value
func orderingOfList(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.siblings > 3 }
    // right: _ = realm.objects(Dog.self).where { $0.siblings.count > 3 }
}

/// An element of another type in `contains`.
/// error: 'Int' to expected argument type 'String'
func otherElement(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.tags.contains(5) }
    // right: _ = realm.objects(Dog.self).where { $0.tags.contains("5") }
}

/// An object of another class in `contains`.
/// error: 'Person' to expected argument type 'Dog
func otherObjectInList(_ realm: Realm, _ person: Person) {
    _ = realm.objects(Dog.self).where { $0.siblings.contains(person) }
    // right: _ = realm.objects(Dog.self).where { $0.siblings.owner == person }
}

/// A link and an object of another class.
/// error: cannot convert value of type 'Dog' to expected argument type 'Person
func otherObjectForLink(_ realm: Realm, _ dog: Dog) {
    _ = realm.objects(Dog.self).where { $0.owner == dog }
    // right: _ = realm.objects(Dog.self).where { $0.owner == dog.owner }
}

/// A link and a string.
/// error: cannot convert value of type 'String' to expected argument type 'Person
func stringForLink(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.owner == "Anna" }
    // right: _ = realm.objects(Dog.self).where { $0.owner.firstName == "Anna" }
}

/// An enum and the name of a case.
/// error: cannot convert value of type 'String' to expected argument type 'Size'
func nameForEnum(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.size == "small" }
    // right: _ = realm.objects(Dog.self).where { $0.size == .small }
}

/// Two fields of different types.
/// error: 'Field<Dog, Int?>' to expected argument type
func fieldsOfDifferentTypes(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.name == $0.age }
    // right: _ = realm.objects(Dog.self).where { $0.name == $0.favoriteToy }
}

/// A string as the whole condition.
/// error: 'String' and 'Bool'
func stringAsCondition(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.name }
    // right: _ = realm.objects(Dog.self).where { $0.name != "" }
}

/// A string as one of two conditions.
/// error: 'String' and 'Bool'
func stringAmongConditions(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.age > 5 && $0.name }
    // right: _ = realm.objects(Dog.self).where { $0.age > 5 && $0.name != "" }
}

/// A string function on a number.
/// error: 'Int
func stringFunctionOnNumber(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.age.starts(with: "1") }
    // right: _ = realm.objects(Dog.self).where { $0.age.contains(10..<20) }
}

/// A function of `String` that fields do not have.
/// error: has no member 'hasPrefix'
func functionOfString(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.name.hasPrefix("R") }
    // right: _ = realm.objects(Dog.self).where { $0.name.starts(with: "R") }
}

/// `lowercased()` instead of an option.
/// error: has no member 'lowercased'
func lowercasedString(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.name.lowercased() == "rex" }
    // right: _ = realm.objects(Dog.self).where { $0.name.equals("rex", options: .caseInsensitive) }
}

/// Optional chaining through a link.
/// error: cannot use optional chaining on non-optional value of type 'Person.Fields<Dog>'
func optionalChaining(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.owner?.firstName == "Anna" }
    // right: _ = realm.objects(Dog.self).where { $0.owner.firstName == "Anna" }
}

/// `isEmpty` of a list.
/// error: has no dynamic member 'isEmpty'
func isEmptyOfList(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.siblings.isEmpty }
    // right: _ = realm.objects(Dog.self).where { $0.siblings.count == 0 }
}

/// A key of a map that is not a string.
/// error: 'Int' to expected argument type 'String'
func keyOfMap(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { $0.weights[5] == 1 }
    // right: _ = realm.objects(Dog.self).where { $0.weights["5"] == 1 }
}

/// A condition on the fields of another class.
/// error: Person
func conditionOfOtherClass(_ realm: Realm) {
    _ = realm.objects(Dog.self).where { _ in Person.fields.firstName == "Anna" }
    // right: _ = realm.objects(Dog.self).where { $0.owner.firstName == "Anna" }
}

/// A string where a property holds a number.
/// error: cannot convert value of type 'String' to expected argument type 'Int'
func valueOfInitializer() {
    _ = Dog(name: "Rex", age: "3")
    // right: _ = Dog(name: "Rex", age: 3)
}

/// `nil` for a required property of an object.
/// error: 'nil' cannot be assigned to type 'String'
func nilForProperty(_ dog: Dog) {
    dog.name = nil
    // right: dog.name = ""
}
