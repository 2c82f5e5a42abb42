/// A projection of any root type.
public protocol AnyProjection: AnyObject {
    static var _facts: StaticString { get }
}

/// The format of generated code that this runtime supports. A generated file names its format, so that a file of another
/// format does not compile.
@_spi(Generated) public enum GeneratedCodeFormat1 {}

/// The formats of older versions. When the format changes, the old one is declared here, so that old files fail to compile
/// with this message.
@available(*, unavailable, message: "this file was generated for an older version of Martlet; generate it again")
@_spi(Generated) public enum GeneratedCodeFormat0 {}

/// A function that a generated registry file stores in the binary, through which the runtime finds the classes.
@_spi(Generated) public typealias RegistryRecord = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// Registers the model classes and projections of one schema.
@_spi(Generated) public func register(
    _ context: UnsafeMutableRawPointer?, _ classes: [ObjectBase.Type], _ projections: [any AnyProjection.Type]
) {
    guard let context else { return }
    ModelRegistry.add(context, classes, projections)
}
