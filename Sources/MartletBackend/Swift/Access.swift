import MartletSchema

/// The spelling of the access level in generated code.
struct Access {
    let level: AccessLevel

    /// The modifier before a declaration, with a trailing space; empty for `internal`.
    var modifier: String {
        switch level {
        case .public: "public "
        case .package: "package "
        case .internal: ""
        }
    }

    /// The modifiers of declarations that only the runtime calls. `@_spi` hides public declarations from other callers.
    /// Swift does not permit the attribute on declarations that are not public.
    var hidden: String {
        level == .public ? "@_spi(Generated) public " : modifier
    }

    /// The modifiers of overrides that only the runtime calls.
    var hiddenOverride: String {
        level == .public ? "@_spi(Generated) override public final " : "override \(modifier)final "
    }

    /// The lines that import a module.
    ///
    /// In a module whose imports are public by default, `package import` is an error if another file of the module
    /// imports `module` with a plain `import`. In a module whose imports are internal by default, `package import` is
    /// required. In a file that contains only enums, a plain `import` is always sufficient. There, `package import`
    /// would cause a warning, because the compiler does not count a conformance of a package type as a use of the
    /// import.
    func importLines(of module: String, isForClasses: Bool = true) -> [String] {
        let attribute = module == "Martlet" ? "@_spi(Generated) " : ""
        return switch level {
        case .public: ["\(attribute)public import \(module)"]
        case .internal: ["\(attribute)import \(module)"]
        case .package where !isForClasses: ["\(attribute)import \(module)"]
        case .package:
            [
                "#if hasFeature(InternalImportsByDefault)", "\(attribute)package import \(module)", "#else",
                "\(attribute)import \(module)", "#endif",
            ]
        }
    }
}
