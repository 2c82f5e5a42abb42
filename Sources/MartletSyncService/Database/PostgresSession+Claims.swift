#if Postgres
    import MartletPostgres

    extension PostgresSession {
        /// Passes the claims of a user to the policies of the tables, until the end of the transaction.
        func set(claims: String) throws {
            try query("SELECT set_config('martlet.user', $1, true)", [.text(claims)])
        }
    }
#endif
