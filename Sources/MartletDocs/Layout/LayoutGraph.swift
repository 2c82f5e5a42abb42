/// A box to place.
struct LayoutNode: Hashable, Sendable {
    var width: Int
    var height: Int
}

/// A line between the sides of two boxes. Each offset is measured from the top of its box.
struct LayoutEdge: Hashable, Sendable {
    var source: Int
    let sourceOffset: Int
    var target: Int
    let targetOffset: Int
    /// Edges with the same number end at the same position and can share a path.
    let bundle: Int
}

struct LayoutGraph: Sendable {
    var nodes: [LayoutNode]
    var edges: [LayoutEdge]
}

struct LayoutPoint: Hashable, Sendable {
    var x: Int
    var y: Int
}

struct LayoutFrame: Hashable, Sendable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
}

/// The positions of boxes and the routes of lines. A route leads from the source to the target in horizontal and
/// vertical segments.
struct LayoutPicture: Sendable {
    var frames: [LayoutFrame]
    var routes: [[LayoutPoint]]
    var width: Int
    var height: Int

    mutating func move(by x: Int, _ y: Int) {
        for index in frames.indices {
            frames[index].x += x
            frames[index].y += y
        }
        for index in routes.indices {
            for point in routes[index].indices {
                routes[index][point].x += x
                routes[index][point].y += y
            }
        }
    }

    /// The total length of all lines. A segment that several lines share counts for each of these lines.
    var wireLength: Int {
        routes.reduce(0) { total, route in
            total + zip(route, route.dropFirst()).reduce(0) { $0 + abs($1.0.x - $1.1.x) + abs($1.0.y - $1.1.y) }
        }
    }
}

/// Distances in the layout, in pixels.
enum LayoutMetrics {
    /// The distance between two boxes of a column.
    static let boxGap = 26
    /// The distance between two lines that cross a column, or between such a line and a box.
    static let lineGap = 12
    /// The distance between a column and the nearest track. Arrowheads and diamonds are drawn in this space.
    static let channelPadding = 22
    /// The distance between two tracks: the vertical line segments in the channel between two columns.
    static let trackGap = 9
    /// The distance between two connected components.
    static let componentGap = 44
    /// The desired aspect ratio: width divided by height, in percent.
    static let aspect = 155
}
