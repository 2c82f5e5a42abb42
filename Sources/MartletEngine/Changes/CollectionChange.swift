/// The difference between two states of an ordered collection.
///
/// Taking the deletions out of the old collection, then putting in the insertions in ascending order, then writing the
/// modifications, gives the new one. An element that moved is a deletion and an insertion, and listed in `moves` besides.
package struct CollectionChange: Sendable, Hashable {
    /// An element that stands elsewhere than its neighbours can explain.
    package struct Move: Sendable, Hashable {
        /// Its old position, which is also a deletion.
        package let from: Int
        /// Its new position, which is also an insertion.
        package let to: Int
        /// Another element was put in its place before or after: the place moved, and what is there is not the same.
        package let isReplaced: Bool

        package init(from: Int, to: Int, isReplaced: Bool = false) {
            self.from = from
            self.to = to
            self.isReplaced = isReplaced
        }
    }

    /// Old positions, ascending.
    package var deletions: [Int]

    /// New positions, ascending.
    package var insertions: [Int]

    /// Old positions of elements that stayed and were modified, ascending.
    package var modifications: [Int]

    /// New positions of the same elements in the same order.
    package var modificationsNew: [Int]

    /// Elements that changed their place, ascending by old position.
    package var moves: [Move]

    package init(
        deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = [], modificationsNew: [Int] = [],
        moves: [Move] = []
    ) {
        self.deletions = deletions
        self.insertions = insertions
        self.modifications = modifications
        self.modificationsNew = modificationsNew
        self.moves = moves
    }

    /// Whether nothing changed; such a change is never delivered.
    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty
    }
}
