import MartletEngine

/// Assigns untyped values to objects that are nested in each other to any depth. Each call of `create`, or of another
/// function that assigns nested values, uses its own instance.
///
/// A chain of objects may be too long for the stack, so the recursion has a depth limit. Values of objects below that
/// depth are assigned after the recursion has ended.
// Used only inside one call, on the thread of the call.
final class DeferredAssignments: @unchecked Sendable {
    private struct Assignment {
        let object: ObjectBase
        let input: UntypedInput
        let rules: UntypedAssignment
        let isWanted: (PropertySchema) -> Bool
        /// The objects that were being copied when the assignment was deferred.
        let path: Copies.Mark
    }

    typealias Copies = PathDictionary<ObjectIdentifier, (source: ObjectBase, copy: ObjectBase)>

    /// The objects that are being copied, with their copies. A link back to one of these objects becomes a link to its
    /// copy. The objects are retained, because another object could otherwise get the identifier of a deallocated
    /// object.
    var copies = Copies()
    private static let depthLimit = 16
    private var depth = 0
    private var assignments: [Assignment] = []

    /// True if the assignment of earlier values in the input was deferred.
    var areEarlierValuesPending: Bool { !assignments.isEmpty }

    func assign(
        _ input: UntypedInput, to object: ObjectBase, _ rules: UntypedAssignment,
        where isWanted: @escaping (PropertySchema) -> Bool
    ) {
        // After the first deferred assignment, all later assignments are deferred too. This keeps their order, which
        // matters if two values are assigned to the same object.
        if depth >= Self.depthLimit || depth > 0 && !assignments.isEmpty {
            return assignments.append(
                Assignment(object: object, input: input, rules: rules, isWanted: isWanted, path: copies.mark()))
        }
        depth += 1
        defer { depth -= 1 }
        object.assign(input, rules, where: isWanted)
        if depth == 1 { assignDeferred() }
    }

    // Performs the assignments in the order of the input. If an assignment defers further assignments, the further
    // assignments come before the remaining assignments.
    private func assignDeferred() {
        if assignments.isEmpty { return }
        let path = copies.mark()
        defer { copies.move(to: path) }
        var batches: [ArraySlice<Assignment>] = []
        while true {
            if !assignments.isEmpty { batches.append(assignments[...]) }
            assignments = []
            while batches.last?.isEmpty == true { batches.removeLast() }
            guard !batches.isEmpty, let next = batches[batches.count - 1].popFirst() else { return }
            if next.object._state != .invalidated { assign(next) }
        }
    }

    private func assign(_ next: Assignment) {
        copies.move(to: next.path)
        next.object.assign(next.input, next.rules.shortened, where: next.isWanted)
    }
}
