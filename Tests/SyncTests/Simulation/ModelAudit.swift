import MartletEngine
import MartletSyncProtocol
import ModelTesting

/// Calculates the checksums of the objects of a simulation.
enum ModelAudit {
    /// The types of the files of the engine.
    private static let files = AgreedSchema(
        synced: ["Item", "Owner", "Report"], in: SyncedFile.facts.compactMap(SchemaFactsParser.objectType))

    /// A type with the properties that the objects of simulations without files have.
    private static let plain: AgreedSchema = {
        let properties = (0..<30).map { "property p\($0) Int" }
        let collections = ["property p30 List<Int>", "property p31 Set<Int>", "property p32 Map<Int?>"]
        let facts = ["object Plain", "primaryKey id"] + properties + collections + ["property id Int"]
        let type = SchemaFactsParser.objectType(facts.joined(separator: "\n"))
        return AgreedSchema(synced: ["Plain"], in: [type].compactMap(\.self))
    }()

    static func sums(_ rows: ModelRows, _ kind: Simulation.Kind) -> RowSums {
        var summer = RowSummer(kind == .files ? files : plain)
        for (address, values) in rows { summer.add(SyncRow(address: address, values: values)) }
        return summer.sums
    }
}

/// The damage that a test does to the server or to the file of a client.
final class ModelDamage {
    private var random: SeededRandom
    /// While true, the server loses half of the new entries of its log.
    var losesEntries = false

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    func losesEntry() -> Bool { losesEntries && Bool.random(using: &random) }
}
