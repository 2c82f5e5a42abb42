/// A way from an object type through its links to a property. A collection on the way means *any* of its elements.
package struct PropertyPath: Sendable, Hashable {
    package enum Component: Sendable, Hashable {
        case property(String)
        /// The objects of a type whose property leads here.
        case backlinks(type: String, property: String)
        /// The keys of the map before it.
        case keys
        /// What the map before it holds for one key.
        case entry(String)
        /// Of the objects in the values of any type before it: those of a type. Key paths of observers only.
        case type(String)
    }

    package var components: [Component]

    package init(components: [Component]) { self.components = components }

    package init(_ names: [String]) { components = names.map { .property($0) } }

    /// The path that a text with points between the names means.
    package init(_ text: String) {
        self.init(text.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

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
    /// As the query language writes it.
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
