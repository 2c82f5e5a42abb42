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

    /// The modifiers of declarations that only the runtime calls. Only public declarations can be hidden by an SPI.
    var hidden: String {
        level == .public ? "@_spi(Generated) public " : modifier
    }

    /// The modifiers of overrides that only the runtime calls.
    var hiddenOverride: String {
        level == .public ? "@_spi(Generated) override public final " : "override \(modifier)final "
    }

    /// The lines that import a module.
    ///
    /// If imports are public by default, `package import` is an error if a file of the user has a plain `import` of
    /// that module. If imports are internal by default, it is required. For a file that contains only enums, a
    /// plain `import` is always sufficient, and `package import` causes a warning, because conformances of a package
    /// type do not count as exposed.
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
