/// A path from an object type through links to a property. If the path passes through a collection, it refers to *any*
/// of the elements.
package struct PropertyPath: Sendable, Hashable {
    package enum Component: Sendable, Hashable {
        case property(String)
        /// The objects of a type that link to the row through the given property.
        case backlinks(type: String, property: String)
        /// The keys of the preceding map.
        case keys
        /// The value of one key of the preceding map.
        case entry(String)
        /// The objects of one type among the preceding `AnyRealmValue` values. Used only in key paths of observers.
        case type(String)
    }

    package var components: [Component]

    package init(components: [Component]) { self.components = components }

    package init(_ names: [String]) { components = names.map { .property($0) } }

    /// Creates a path from a text with dots between the names.
    package init(_ text: String) {
        self.init(text.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

    /// The empty path, which refers to the row or value itself.
    package static let itself = PropertyPath([String]())

    package func appending(_ component: Component) -> PropertyPath {
        PropertyPath(components: components + [component])
    }

    package func appending(_ name: String) -> PropertyPath { appending(.property(name)) }

    package var names: [String] { components.map(\.text) }

    package var text: String {
        components.enumerated().map { position, component in
            if case .entry = component { return component.text }
            return (position == 0 ? "" : ".") + component.text
        }.joined()
    }
}

extension PropertyPath.Component {
    /// The component in the query language.
    package var text: String {
        switch self {
        case .property(let name): name
        case .backlinks(let type, let property): "@links.\(type).\(property)"
        case .keys: "@allKeys"
        case .entry(let key): "['\(key)']"
        case .type(let name): "<\(name)>"
        }
    }
}
