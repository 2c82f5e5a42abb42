/// What all projections share, whatever their root.
public protocol AnyProjection: AnyObject {
    static var _facts: StaticString { get }
}

/// What generated code of this format needs from the runtime. Generated for another format, a file does not compile.
@_spi(Generated) public enum GeneratedCodeFormat1 {}

/// Formats before. A new one moves the old one here, so that files of it get this message and no riddle.
@available(*, unavailable, message: "this file was generated for an older version of Martlet; generate it again")
@_spi(Generated) public enum GeneratedCodeFormat0 {}

/// A function that a generated registry file leaves in the binary, for the runtime to find its classes.
@_spi(Generated) public typealias RegistryRecord = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// Announces the model classes of one schema.
@_spi(Generated) public func register(
    _ context: UnsafeMutableRawPointer?, _ classes: [ObjectBase.Type], _ projections: [any AnyProjection.Type]
) {
    guard let context else { return }
    ModelRegistry.add(context, classes, projections)
}
