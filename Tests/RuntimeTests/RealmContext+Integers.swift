import MartletSQLite
import MartletValues

@testable import Martlet
@testable import MartletEngine

extension RealmContext {
    /// Returns the integers in the first column of the rows that a query finds.
    func integers(_ sql: String, _ arguments: [SQLValue]) -> [ObjectKey] { read { try $0.keys(sql, arguments) } }
}
