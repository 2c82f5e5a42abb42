public import MartletSchema

/// Options of a compiler run.
public struct CompilerOptions: Hashable, Sendable {
    /// Overrides the access level of `martlet.yaml`. If both are nil, the access level is `public`.
    public var access: AccessLevel?
    /// Overrides the preset of `martlet.yaml`. If both are nil, the preset is `standard`.
    public var preset: LintPreset?

    public init(access: AccessLevel? = nil, preset: LintPreset? = nil) {
        self.access = access
        self.preset = preset
    }
}
