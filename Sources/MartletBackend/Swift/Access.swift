import MartletSchema

/// How the access level of generated code is written.
struct Access {
    let level: AccessLevel

    /// In front of a declaration, with a space behind it; nothing for `internal`.
    var modifier: String {
        switch level {
        case .public: "public "
        case .package: "package "
        case .internal: ""
        }
    }

    /// In front of what the runtime alone calls. Only public declarations can be hidden behind an SPI.
    var hidden: String {
        level == .public ? "@_spi(Generated) public " : modifier
    }

    /// In front of overrides of what the runtime alone calls.
    var hiddenOverride: String {
        level == .public ? "@_spi(Generated) override public final " : "override \(modifier)final "
    }

    /// The lines that import a module.
    ///
    /// `package import` beside a plain `import` in the user's own files is an error, unless imports are internal by
    /// default; then a plain `import` is too little. For enums alone it is enough, and more is a warning: what a package
    /// type conforms to does not count as shown.
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
