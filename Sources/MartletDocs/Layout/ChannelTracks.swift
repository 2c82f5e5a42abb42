/// The y positions at which a net enters the channel between two columns at the left, and leaves the channel at the
/// right. A net is a set of lines that can share a path.
struct ChannelNet {
    let net: Int
    var lefts: [Int] = []
    var rights: [Int] = []

    init(net: Int) { self.net = net }

    var top: Int { min(lefts.min() ?? .max, rights.min() ?? .max) }
    var bottom: Int { max(lefts.max() ?? .min, rights.max() ?? .min) }
    /// Whether the net crosses the channel without a vertical segment.
    var isStraight: Bool { top == bottom }
}

/// Assigns a track to each net of a channel. A track is an x position in the channel at which a net can have its
/// vertical segment. Straight nets need no track. The order of the tracks keeps the number of crossings low, and only
/// the pairs of nets in `conflicts` overlap.
struct ChannelTracks {
    /// The track of each net that is not straight, counted from the left.
    private(set) var tracks: [Int: Int] = [:]
    private(set) var count = 0
    /// Pairs of nets whose horizontal segments overlap at about the y position `height`. The net `entering` enters the
    /// channel at the left, and the net `leaving` leaves it at the right. The track of `leaving` is further left.
    private(set) var conflicts: [(entering: Int, leaving: Int, height: Int)] = []

    init(_ nets: [ChannelNet]) {
        let bent = nets.filter { !$0.isStraight }
        let ordered = ChannelTracks.ordered(bent)
        for (index, net) in ordered.enumerated() {
            var track = 0
            for other in ordered[..<index] where ChannelTracks.mustPrecede(other, net) {
                track = max(track, (tracks[other.net] ?? 0) + 1)
                let left = net.lefts.first { left in other.rights.contains { ChannelTracks.touch(left, $0) } }
                if let left { conflicts.append((net.net, other.net, left)) }
            }
            tracks[net.net] = track
            count = max(count, track + 1)
        }
    }

    /// Whether the second net needs a track to the right of the first net's track. The first net precedes the second
    /// net in the chosen order.
    private static func mustPrecede(_ first: ChannelNet, _ second: ChannelNet) -> Bool {
        let margin = LayoutMetrics.trackGap
        if first.top - margin <= second.bottom, second.top - margin <= first.bottom { return true }
        return cost(first, second) != cost(second, first)
    }

    /// The number of crossings of two nets if the track of the first net is left of the track of the second net. Each
    /// overlap counts as 1000 crossings.
    private static func cost(_ first: ChannelNet, _ second: ChannelNet) -> Int {
        var cost = 0
        for right in first.rights where second.top < right && right < second.bottom { cost += 1 }
        for left in second.lefts where first.top < left && left < first.bottom { cost += 1 }
        for right in first.rights {
            for left in second.lefts where touch(left, right) { cost += 1000 }
        }
        return cost
    }

    /// Whether horizontal lines at two y positions are too close to be distinguished.
    static func touch(_ first: Int, _ second: Int) -> Bool { abs(first - second) < 4 }

    /// Orders the nets from left to right. The initial order has the descending nets first, starting with the net that
    /// reaches furthest down. The ascending nets follow, starting with the net that reaches furthest up. If there are
    /// at most 60 nets, single nets are then moved while that reduces the cost. Finally, adjacent nets are swapped
    /// while that reduces the cost.
    private static func ordered(_ nets: [ChannelNet]) -> [ChannelNet] {
        let slope = { (net: ChannelNet) in (net.rights.first ?? net.top) - (net.lefts.first ?? net.top) }
        let falling = nets.filter { slope($0) >= 0 }.sorted { ($0.bottom, $0.net) > ($1.bottom, $1.net) }
        let rising = nets.filter { slope($0) < 0 }.sorted { ($0.top, $0.net) < ($1.top, $1.net) }
        var order = falling + rising
        if order.count <= 60 { moveSingleNets(&order) }
        for _ in 0..<min(order.count, 40) {
            var changed = false
            for index in order.indices.dropLast()
            where cost(order[index + 1], order[index]) < cost(order[index], order[index + 1]) {
                order.swapAt(index, index + 1)
                changed = true
            }
            if !changed { break }
        }
        return order
    }

    private static func moveSingleNets(_ order: inout [ChannelNet]) {
        let count = order.count
        let costs = order.map { first in order.map { cost(first, $0) } }
        var places = Array(0..<count)
        for _ in 0..<6 {
            var changed = false
            for net in 0..<count {
                guard let from = places.firstIndex(of: net) else { continue }
                places.remove(at: from)
                // `cost` is first the cost with the net at the leftmost position. Each step of the loop moves the net
                // one position to the right.
                var cost = places.reduce(0) { $0 + costs[net][$1] }
                var costsOfPlaces = [cost]
                for other in places {
                    cost += costs[other][net] - costs[net][other]
                    costsOfPlaces.append(cost)
                }
                let best = costsOfPlaces.indices.min { costsOfPlaces[$0] < costsOfPlaces[$1] } ?? from
                let to = costsOfPlaces[best] < costsOfPlaces[from] ? best : from
                places.insert(net, at: to)
                changed = changed || to != from
            }
            if !changed { break }
        }
        order = places.map { order[$0] }
    }
}
