#if Postgres
    import MartletPostgres

    extension PostgresSession {
        /// Stores the claims of a user, as JSON, in the setting `martlet.user` until the end of the transaction. The
        /// policies of the tables read the claims from this setting.
        func set(claims: String) throws {
            try query("SELECT set_config('martlet.user', $1, true)", [.text(claims)])
        }
    }
#endif
