import Martlet

/// A departures board: the flights that are more than two hours late, the most delayed first.
///
/// The board does not run its query again. It applies each change set to its lines.
actor Board {
    private var lines: [String] = []
    private var changeCount = 0

    /// Observes the flights until the feed ends. Then prints the lines, and compares them with the stored flights.
    func watch(_ configuration: Realm.Configuration) async throws {
        let realm = try await Realm(configuration: configuration, actor: self)
        let late = realm.objects(Departure.self).where { $0.minutesLate > 120 }
            .sorted(byKeyPath: "minutesLate", ascending: false)
        let token = late.observeChanges { change in
            switch change {
            case .initial(let late): self.lines = late.map(\.line)
            case .update(let late, let change): self.apply(change, late)
            case .error(let error): printError("Watch: \(error)")
            }
        }
        for await _ in realm.objects(Feed.self).changes() where realm.objects(Feed.self).first?.isOver == true { break }
        token.invalidate()

        for line in lines { print(line) }
        guard lines == late.map(\.line) else {
            throw BoardError(
                description: "the \(lines.count) lines of the board are not those of the \(late.count) late flights")
        }
        printError("\(changeCount) notifications, and all lines are correct")
    }

    private func apply(_ change: CollectionChangeSet, _ late: Results<Departure>) {
        changeCount += 1
        for position in change.deletions.reversed() { lines.remove(at: position) }
        for position in change.insertions { lines.insert(late[position].line, at: position) }
        for position in change.modificationsInNew { lines[position] = late[position].line }
        printError("+\(change.insertions.count) -\(change.deletions.count) ~\(change.modifications.count)")
    }
}

struct BoardError: Error, CustomStringConvertible {
    let description: String
}

extension Departure {
    /// The line that shows the flight on the board.
    fileprivate var line: String {
        let minutes = minutesLate ?? 0
        return "\(origin) → \(destination)  \(flight)  \(minutes / 60) h \(minutes % 60) min late"
    }
}
