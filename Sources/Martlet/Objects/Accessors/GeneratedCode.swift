/// A projection, independent of the type of its root object.
public protocol AnyProjection: AnyObject {
    static var _facts: StaticString { get }
}

/// The format of generated code that this runtime supports. A generated file refers to the declaration of its format,
/// so that a file of another format does not compile.
@_spi(Generated) public enum GeneratedCodeFormat1 {}

/// The formats of older versions. When the format changes, the old format is declared here, so that old files fail to
/// compile with this message.
@available(*, unavailable, message: "this file was generated for an older version of Martlet; generate it again")
@_spi(Generated) public enum GeneratedCodeFormat0 {}

/// The type of the functions that generated registry files store in the binary. The runtime calls them to find the
/// classes.
@_spi(Generated) public typealias RegistryRecord = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// Registers the model classes and projections of one schema.
@_spi(Generated) public func register(
    _ context: UnsafeMutableRawPointer?, _ classes: [ObjectBase.Type], _ projections: [any AnyProjection.Type]
) {
    guard let context else { return }
    ModelRegistry.add(context, classes, projections)
}
