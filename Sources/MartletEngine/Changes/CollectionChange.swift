/// The difference between two states of an ordered collection.
///
/// The new collection is computed from the old collection in three steps. First, the elements at `deletions` are
/// removed. Then the new elements are inserted at `insertions` in ascending order. Then the elements at
/// `modificationsNew` are replaced. An element that moved is a deletion and an insertion, and is also listed in
/// `moves`.
package struct CollectionChange: Sendable, Hashable {
    /// An element whose new position does not follow from the deletions and insertions around it.
    package struct Move: Sendable, Hashable {
        /// The old position of the element, which is also in `deletions`.
        package let from: Int
        /// The new position of the element, which is also in `insertions`.
        package let to: Int
        /// True if the element was also overwritten, before or after the move. The new element at `to` then differs
        /// from the old element at `from`.
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

    /// Old positions of modified elements that did not move, ascending.
    package var modifications: [Int]

    /// New positions of the modified elements, in the order of `modifications`.
    package var modificationsNew: [Int]

    /// Elements that moved, ascending by old position.
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

    /// True if nothing changed. An empty change is never delivered.
    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty
    }
}
