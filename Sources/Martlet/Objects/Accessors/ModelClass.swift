import CMartletRuntime
import MartletEngine
import Synchronization

/// The description of an object type and its class. A description never changes. The description of a generated class
/// is created once per process.
// Sendable: a metatype and values that never change.
final class ModelClass: @unchecked Sendable {
    let metatype: ObjectBase.Type
    let schema: ObjectTypeSchema
    /// True if objects of this type can refer to other objects. When an object is added to a Realm, the objects that it
    /// refers to are added, too.
    let hasReferences: Bool
    /// Creates an unmanaged object with the default values of the schema.
    let make: () -> ObjectBase

    /// Creates a description for untyped access: the program reads the properties by name. The objects are instances of
    /// `metatype`, which is `StoredObject` or `MigrationObject` for all object types.
    ///
    /// - Parameter declaration: the declaration of the type, taken from the generated class if the program has one.
    init(
        _ schema: ObjectTypeSchema, _ metatype: ObjectBase.Type, _ declaration: TypeDeclaration,
        _ make: @escaping (ModelClass) -> ObjectBase
    ) {
        self.schema = schema
        self.metatype = metatype
        self.declaration = declaration
        hasReferences = schema.hasReferences
        weak var weakSelf: ModelClass?
        self.make = { weakSelf.map(make) ?? metatype.init() }
        weakSelf = self
    }

    private init(_ metatype: ObjectBase.Type) {
        self.metatype = metatype
        guard let schema = SchemaFactsParser.objectType("\(metatype._facts)") else {
            Misuse.notGenerated("\(metatype)", base: "Object")
        }
        self.schema = schema
        declaration = TypeDeclaration(schema) {
            RowEncoder.columnValues(of: metatype.init())
        } isValidRawValue: { property, value in
            RowEncoder.accepts(StoredValue(value), property, of: metatype.init())
        }
        hasReferences = schema.hasReferences
        make = { metatype.init() }
    }

    // The descriptions of generated classes. The keys identify the classes.
    private static let known = Mutex<[ObjectIdentifier: ModelClass]>([:])

    /// The description of a generated class. It is created on first use.
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

/// The classes and projections that the generated registry files of the program register.
enum ModelRegistry {
    private final class Collector {
        var classes: [ObjectBase.Type] = []
        var projections: [any AnyProjection.Type] = []
    }

    // Initialized on first use and never changed.
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
