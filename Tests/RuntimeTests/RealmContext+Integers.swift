import MartletSQLite
import MartletValues

@testable import Martlet
@testable import MartletEngine

extension RealmContext {
    /// The integers in the first column of a query's rows.
    func integers(_ sql: String, _ arguments: [SQLValue]) -> [ObjectKey] { read { try $0.keys(sql, arguments) } }
}
