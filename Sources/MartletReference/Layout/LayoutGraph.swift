/// A box to place.
struct LayoutNode: Hashable, Sendable {
    var width: Int
    var height: Int
}

/// A line from a place at the side of one box to a place at the side of another. Offsets count from the top of the box.
struct LayoutEdge: Hashable, Sendable {
    var source: Int
    let sourceOffset: Int
    var target: Int
    let targetOffset: Int
    /// Edges of one number end at one place and may share their way there.
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

/// Where boxes stand and how lines go: from the source to the target, in straight pieces along the axes.
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

    /// How long all lines are together; what several share counts for each.
    var wireLength: Int {
        routes.reduce(0) { total, route in
            total + zip(route, route.dropFirst()).reduce(0) { $0 + abs($1.0.x - $1.1.x) + abs($1.0.y - $1.1.y) }
        }
    }
}

/// Distances of the picture, in pixels.
enum LayoutMetrics {
    /// Between two boxes of a column.
    static let boxGap = 26
    /// Between a line and a box, or two lines, of a column.
    static let lineGap = 12
    /// Beside the boxes of a column, where arrows and diamonds have their place.
    static let channelPadding = 22
    /// Between two lines that run up and down in one channel.
    static let trackGap = 9
    /// Between the parts of a picture that no line joins.
    static let partGap = 44
    /// Width by height of the picture that is aimed at, in percent.
    static let aspect = 155
}
