// Fields to sort by and to compute with. How to read these files: see Tests/mistakes-check.py
import KennelModels
import Martlet

/// A misspelt field to sort by.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func sortedByMisspelt(_ realm: Realm) {
    _ = realm.objects(Dog.self).sorted(by: { $0.nmae })
    // right: _ = realm.objects(Dog.self).sorted { $0.name }
}

/// A misspelt field to sort by, with a label.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func sortedByMisspeltWithLabel(_ dogs: Results<Dog>) {
    _ = dogs.sorted(by: { $0.nmae }, ascending: false)
    // right: _ = dogs.sorted(by: { $0.name }, ascending: false)
}

/// Objects sorted by a link.
/// error: links and collections have no order
func sortedByLink(_ realm: Realm) {
    _ = realm.objects(Dog.self).sorted { $0.owner }
    // right: _ = realm.objects(Dog.self).sorted { $0.owner.lastName }
}

/// Objects sorted by a list.
/// error: links and collections have no order
func sortedByList(_ dogs: Results<Dog>) {
    _ = dogs.sorted { $0.siblings }
    // right: _ = dogs.sorted { $0.name }
}

/// A misspelt field of a sum.
/// error: value of type 'Todo.Fields<Todo>' has no member 'minutes'
func sumOfMisspelt(_ realm: Realm) {
    _ = realm.objects(Todo.self).sum { $0.minutes }
    // right: _ = realm.objects(Todo.self).sum { $0.progressMinutes }
}

/// A misspelt field of a sum, with a label.
/// error: value of type 'Todo.Fields<Todo>' has no member 'minutes'
func sumOfMisspeltWithLabel(_ todos: Results<Todo>) {
    _ = todos.sum(of: { $0.minutes })
    // right: _ = todos.sum(of: { $0.progressMinutes })
}

/// The sum of strings.
/// error: 'String'
func sumOfStrings(_ realm: Realm) {
    _ = realm.objects(Dog.self).sum { $0.name }
    // right: _ = realm.objects(Dog.self).sum { $0.kennel }
}

/// The sum of an enum.
/// error: 'Size'
func sumOfEnum(_ dogs: Results<Dog>) {
    _ = dogs.sum { $0.size }
    // right: _ = dogs.sum { $0.kennel }
}

/// A misspelt field of an average.
/// error: value of type 'Dog.Fields<Dog>' has no member 'agee'
func averageOfMisspelt(_ dogs: Results<Dog>) {
    _ = dogs.average { $0.agee }
    // right: _ = dogs.average { $0.age }
}

/// A misspelt field of a minimum.
/// error: value of type 'Dog.Fields<Dog>' has no member 'agee'
func minimumOfMisspelt(_ realm: Realm) {
    _ = realm.objects(Dog.self).min { $0.agee }
    // right: _ = realm.objects(Dog.self).min { $0.age }
}

/// The maximum of objects.
/// error: links and collections have no order
func maximumOfLink(_ dogs: Results<Dog>) {
    _ = dogs.max { $0.owner }
    // right: _ = dogs.max { $0.owner.lastName }
}

/// A misspelt field of `distinct`.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func distinctByMisspelt(_ realm: Realm) {
    _ = realm.objects(Dog.self).distinct { $0.nmae }
    // right: _ = realm.objects(Dog.self).distinct { $0.name }
}

/// A misspelt field of sections.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func sectionedByMisspelt(_ realm: Realm) {
    _ = realm.objects(Dog.self).sectioned { $0.nmae }
    // right: _ = realm.objects(Dog.self).sectioned { $0.name }
}

/// A misspelt typed key path of an observer.
/// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
func observedMisspelt(_ dog: Dog) {
    _ = dog.observe(keyPaths: [Dog.fields.nmae]) { _ in }
    // right: _ = dog.observe(keyPaths: [Dog.fields.name]) { _ in }
}

/// A misspelt Swift key path of an observer.
/// error: type 'Dog' has no member 'nmae'
func observedMisspeltKeyPath(_ dog: Dog) {
    _ = dog.observe(keyPaths: [\Dog.nmae]) { _ in }
    // right: _ = dog.observe(keyPaths: [\Dog.name]) { _ in }
}

/// A key path of another class in an observer.
/// error: the key path does not begin at the class of the observed object
func observedOtherClass(_ dog: Dog) {
    _ = dog.observe(keyPaths: [Person.fields.firstName]) { _ in }
    // right: _ = dog.observe(keyPaths: [Dog.fields.owner.firstName]) { _ in }
}
