import MartletSchema

/// Finds the members that are implicitly visible to Objective-C. Realm finds such members, too.
extension TypeIndex {
    /// The properties that `@objc` protocols of the system declare, by the name of the protocol.
    private static let systemProtocols: [String: Set<String>] = [
        "MKAnnotation": ["coordinate", "title", "subtitle"],
        "QLPreviewItem": ["previewItemTitle", "previewItemURL"],
        "UIAccessibilityIdentification": ["accessibilityIdentifier"],
    ]

    /// Classes, and protocols that require no Objective-C property.
    private static let typesWithoutObjcRequirements: Set<String> = [
        "Object", "EmbeddedObject", "AsymmetricObject", "RealmSwiftObject", "RealmSwiftEmbeddedObject",
        "RealmSwiftAsymmetricObject", "NSObject", "NSObjectProtocol", "AnyObject", "class", "Any",
        "Codable", "Encodable", "Decodable", "CodingKey", "Hashable", "Equatable", "Comparable", "Identifiable",
        "Sendable", "SendableMetatype", "Copyable", "Escapable", "CaseIterable", "RawRepresentable", "Sequence",
        "Collection", "IteratorProtocol", "Strideable", "Error", "LocalizedError", "CustomNSError",
        "CustomStringConvertible", "CustomDebugStringConvertible", "LosslessStringConvertible",
        "TextOutputStreamable", "CustomReflectable", "CustomLeafReflectable", "CustomPlaygroundDisplayConvertible",
        "ReferenceConvertible", "ObservableObject", "Transferable", "ObjectKeyIdentifiable", "RealmCollectionValue",
        "RealmFetchable", "ThreadConfined", "KeypathSortable", "NSCoding", "NSSecureCoding", "NSCopying",
        "NSMutableCopying", "NSItemProviderReading", "NSItemProviderWriting", "UIActivityItemSource",
        "BaseMappable", "Mappable", "StaticMappable", "ImmutableMappable",
    ]

    /// Returns whether the class or a superclass is `@objcMembers`.
    func hasObjcMembers(_ key: String) -> Bool {
        superclassChain(of: key).contains { entries[$0]?.declaration.hasObjcMembers == true }
    }

    /// Finds the properties that the `@objc` protocols of a type require. A member that satisfies such a requirement is
    /// implicitly `@objc`.
    ///
    /// - Returns: the names of the properties, and the protocols that no file declares.
    func objcRequirements(of key: String) -> (names: Set<String>, unknown: [String]) {
        var names: Set<String> = []
        var unknown: [String] = []
        var known: Set<String> = []
        var pending = [key]
        while let next = pending.popLast() {
            if let declaration = entries[next]?.declaration, declaration.kind == .protocolType, declaration.isObjc {
                names.formUnion(declaration.properties.filter { !$0.isStatic }.map(\.name.value))
            }
            for (type, scope) in bases(of: next) {
                // Generic protocols do not exist in Objective-C.
                guard case .name(let name) = type else { continue }
                if let found = find(name, scope) {
                    let isProtocol = entries[found]?.declaration.kind == .protocolType
                    if isProtocol, known.insert(found).inserted { pending.append(found) }
                    continue
                }
                let plain = name.withoutModule
                guard known.insert(plain).inserted else { continue }
                if let properties = Self.systemProtocols[plain] {
                    names.formUnion(properties)
                } else if !Self.typesWithoutObjcRequirements.contains(plain) {
                    unknown.append(plain)
                }
            }
        }
        return (names, unknown)
    }
}
