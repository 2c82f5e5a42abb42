#if Postgres
    package import MartletPostgres
    import Synchronization

    /// Connections to one database, for tasks of many sessions.
    ///
    /// A closure gets the connection with the fewest closures that wait or run. If a connection breaks, the pool
    /// replaces it when a closure needs it again.
    package final class ConnectionPool: Sendable {
        private struct Slot {
            var connection: PostgresConnection?
            /// The number of closures that wait for the connection or use it.
            var closureCount = 0
        }

        private let address: String
        private let slots: Mutex<[Slot]>
        private let check = Mutex<(@Sendable (PostgresSession) throws -> Void)?>(nil)

        /// Makes a pool without open connections. The pool opens each connection when a closure needs it.
        ///
        /// - Parameters:
        ///   - address: a connection string or URI as libpq defines it.
        ///   - count: the maximum number of connections, at least 1.
        package init(_ address: String, count: Int) {
            self.address = address
            slots = Mutex(Array(repeating: Slot(), count: max(1, count)))
        }

        /// Returns a further pool with its own connections to the same database.
        func separate(count: Int) -> ConnectionPool { ConnectionPool(address, count: count) }

        /// Sets a closure that checks each new connection before it is used. If the closure throws, the connection is
        /// closed, and `run` throws the error.
        func setCheck(_ body: @escaping @Sendable (PostgresSession) throws -> Void) { check.withLock { $0 = body } }

        /// Runs the closure with a connection.
        ///
        /// - Throws: `PostgresError` if the pool cannot connect to the database; any error of the closure.
        package func run<R: Sendable>(_ body: @escaping @Sendable (PostgresSession) throws -> R) async throws -> R {
            let index = slots.withLock { slots in
                let index = slots.indices.min { slots[$0].closureCount < slots[$1].closureCount } ?? 0
                slots[index].closureCount += 1
                return index
            }
            defer { slots.withLock { $0[index].closureCount -= 1 } }
            let connection = try await connection(index)
            do {
                return try await connection.run(body)
            } catch let error as PostgresError where error.endsConnection {
                slots.withLock { slots in
                    if slots[index].connection === connection { slots[index].connection = nil }
                }
                throw error
            }
        }

        // Two calls of `run` may connect at the same time. Then both use the connection that is stored first, and the
        // other connection is closed.
        private func connection(_ index: Int) async throws -> PostgresConnection {
            if let connection = slots.withLock({ $0[index].connection }) { return connection }
            let new = try await PostgresConnection(address)
            if let check = check.withLock({ $0 }) { try await new.run(check) }
            return slots.withLock { slots in
                if let other = slots[index].connection { return other }
                slots[index].connection = new
                return new
            }
        }
    }
#endif
