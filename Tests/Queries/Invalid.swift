// Invalid typed queries. Tests/generated-check.sh expects an error on each line that begins with 'func'.
import Martlet

func a(_ dogs: Results<Dog>) { _ = dogs.where { $0.agee > 5 } }
func b(_ dogs: Results<Dog>) { _ = dogs.where { $0.age > "5" } }
func c(_ dogs: Results<Dog>) { _ = dogs.where { $0.name > 5 } }
func d(_ dogs: Results<Dog>) { _ = dogs.where { $0.name } }
func e(_ dogs: Results<Dog>) { _ = dogs.where { $0.age } }
func f(_ dogs: Results<Dog>) { _ = dogs.where { $0.age.contains("a") } }
func g(_ dogs: Results<Dog>) { _ = dogs.where { $0.name == $0.age } }
func h(_ dogs: Results<Dog>) { _ = dogs.where { $0.size == "small" } }
func i(_ dogs: Results<Dog>) { _ = dogs.where { $0.size == .tiny } }
func j(_ dogs: Results<Dog>) { _ = dogs.where { $0.size > 1 } }
func k(_ dogs: Results<Dog>) { _ = dogs.where { $0.owner.name == "x" } }
func l(_ dogs: Results<Dog>, _ dog: Dog) { _ = dogs.where { $0.owner == dog } }
func m(_ dogs: Results<Dog>) { _ = dogs.where { $0.owner > nil } }
func n(_ dogs: Results<Dog>, _ person: Person) { _ = dogs.where { $0.siblings.contains(person) } }
func o(_ dogs: Results<Dog>) { _ = dogs.where { $0.tags.contains(5) } }
func p(_ dogs: Results<Dog>) { _ = dogs.where { $0.tags.sum > 5 } }
func q(_ dogs: Results<Dog>) { _ = dogs.where { $0.name.sum > 5 } }
func r(_ dogs: Results<Dog>) { _ = dogs.where { $0.weights["x"] == "y" } }
func s(_ dogs: Results<Dog>) { _ = dogs.where { $0.weights[5] == 1 } }
func t(_ dogs: Results<Dog>) { _ = dogs.where { $0.age > 5 && $0.name } }
func u(_ dogs: Results<Dog>) { _ = dogs.where { $0.age + 1 } }
func v(_ dogs: Results<Dog>) { _ = dogs.where { $0.isPuppy > true && $0.age.matches("x") } }
func w(_ dogs: Results<Dog>) { _ = dogs.where { Person.fields.firstName == "x" && $0.isPuppy } }
func x(_ dogs: Results<Dog>) { _ = dogs.sorted { $0.owner } }
func y(_ dogs: Results<Dog>) { _ = dogs.where { $0.age.in(["1"]) } }
func z(_ dogs: Results<Dog>) { _ = Results<Dog>() }
