import CMartletRuntime
import MartletEngine
import Synchronization

/// What the runtime knows of one generated class: made once per process, never changed.
// Sendable: a metatype and values that never change.
final class ModelClass: @unchecked Sendable {
    let metatype: ObjectBase.Type
    let schema: ObjectTypeSchema
    /// True when rows of this type lead to others, so that adding must look for objects to add with it.
    let hasReferences: Bool
    /// An unmanaged object with the defaults of its schema.
    let make: () -> ObjectBase

    /// A type that is known by its schema, with what the class of the program says of it: `metatype` is the class of all
    /// of these.
    init(
        _ schema: ObjectTypeSchema, _ metatype: ObjectBase.Type, _ declaration: TypeDeclaration,
        _ make: @escaping (ModelClass) -> ObjectBase
    ) {
        self.schema = schema
        self.metatype = metatype
        self.declaration = declaration
        hasReferences = schema.hasReferences
        weak var itself: ModelClass?
        self.make = { itself.map(make) ?? metatype.init() }
        itself = self
    }

    private init(_ metatype: ObjectBase.Type) {
        self.metatype = metatype
        guard let schema = SchemaFacts.objectType("\(metatype._facts)") else {
            Misuse.notGenerated("\(metatype)", base: "Object")
        }
        self.schema = schema
        declaration = TypeDeclaration(schema) {
            RowEncoder.columnValues(of: metatype.init())
        } holds: { property, value in
            RowEncoder.holds(StoredValue(value), property, of: metatype.init())
        }
        hasReferences = schema.hasReferences
        make = { metatype.init() }
    }

    // Classes by identity. Guarded by the mutex.
    private static let known = Mutex<[ObjectIdentifier: ModelClass]>([:])

    /// The description of a class, made when first asked for.
    static func of(_ metatype: ObjectBase.Type) -> ModelClass {
        let id = ObjectIdentifier(metatype)
        if let model = known.withLock({ $0[id] }) { return model }
        let model = ModelClass(metatype)
        return known.withLock { known in
            if let first = known[id] { return first }
            known[id] = model
            return model
        }
    }

    let declaration: TypeDeclaration
}

extension ObjectTypeSchema {
    fileprivate var hasReferences: Bool { properties.contains { $0.isLink || $0.isCollection || $0.isAny } }
}

/// The classes that generated registry files have announced, found in the program's own binary.
enum ModelRegistry {
    private final class Collector {
        var classes: [ObjectBase.Type] = []
        var projections: [any AnyProjection.Type] = []
    }

    // Metatypes never change after the first use.
    nonisolated(unsafe) private static let found: (classes: [ObjectBase.Type], projections: [any AnyProjection.Type]) =
        {
            let collector = Collector()
            withExtendedLifetime(collector) {
                let context = Unmanaged.passUnretained(collector).toOpaque()
                for index in 0..<cmartlet_registry_count() {
                    cmartlet_registry_get(index)?(context)
                }
            }
            return (collector.classes, collector.projections)
        }()

    /// All model classes linked into the program.
    static var classes: [ObjectBase.Type] { found.classes }

    static func add(
        _ context: UnsafeMutableRawPointer, _ classes: [ObjectBase.Type], _ projections: [any AnyProjection.Type]
    ) {
        let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
        collector.classes += classes
        collector.projections += projections
    }
}
