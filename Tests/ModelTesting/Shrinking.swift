/// Removes elements that a failing input does not need: first long runs of elements, then shorter runs, and finally
/// single elements. This is a simple form of delta debugging (Zeller and Hildebrandt 2002).
///
/// `fails` returns whether the input still fails with the given elements. The result is the last input that failed.
package func shrink<Element>(_ elements: [Element], fails: ([Element]) throws -> Bool) rethrows -> [Element] {
    var best = elements
    var size = max(1, best.count / 2)
    while size > 0 {
        var start = 0
        while start < best.count {
            var candidate = best
            candidate.removeSubrange(start..<min(start + size, best.count))
            if try fails(candidate) { best = candidate } else { start += size }
        }
        size /= 2
    }
    return best
}
