/// A projection whose root object can have any type.
public protocol AnyProjection: AnyObject {
    static var _facts: StaticString { get }
}

/// The format of generated code that this runtime supports. A generated file refers to the declaration of its format,
/// so that a file of another format does not compile.
@_spi(Generated) public enum GeneratedCodeFormat2 {}

/// A format of older versions of the generator. When the format changes, the old format is declared here as
/// unavailable. A file of an old format then fails to compile, with this message.
@available(*, unavailable, message: "this file was generated for an older version of Martlet; generate it again")
@_spi(Generated) public enum GeneratedCodeFormat0 {}

/// See `GeneratedCodeFormat0`. In this format, `_decode` assigned the results of the methods of `RowDecoder`.
@available(*, unavailable, message: "this file was generated for an older version of Martlet; generate it again")
@_spi(Generated) public enum GeneratedCodeFormat1 {}

/// The type of the functions that generated registry files define. Each file stores a pointer to its function in a
/// section of the binary. The runtime calls the functions to find the classes.
@_spi(Generated) public typealias RegistryRecord = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// Registers the model classes and projections of one schema.
@_spi(Generated) public func register(
    _ context: UnsafeMutableRawPointer?, _ classes: [ObjectBase.Type], _ projections: [any AnyProjection.Type]
) {
    guard let context else { return }
    ModelRegistry.add(context, classes, projections)
}
