import RealmSwift

/// What the list of patients shows.
class AnimalRow: Projection<Animal> {
    @Projected(\Animal.name) var name
    @Projected(\Animal.breed?.name) var breedName
    @Projected(\Animal.owners.projectTo.lastName) var ownerNames: ProjectedCollection<String>
    @Projected(\.chip?.code) var chipCode: String?

    var title: String { name }
}

final class VisitRow: Projection<Visit> {
    @Projected(\Visit.startsAt) var startsAt
    @Projected(\Visit.animal?.name) var animalName
    @Projected(\Visit.vet?.address?.city) var city
    @Projected(\Visit.measurements.projectTo.value) var values: ProjectedCollection<Double>
    @Projected(\Visit.diagnoses[0].code) var firstCode: String
}
