import Testing

/// Tests every kind of value with all operations on values.
@Suite struct ValueKindTests {
    @Test("required and optional properties store every kind of value O5 O12 O30 O31 O32", arguments: allKinds)
    func properties(_ kind: any AnyValueKind) throws { try kind.checkProperties() }

    @Test(
        "typed conditions and query texts compare properties with every kind of value O50 O51 O54 O56",
        arguments: allKinds)
    func queries(_ kind: any AnyValueKind) throws { try kind.checkQueries() }

    @Test("results are sorted, made distinct and aggregated by every kind of value O40 O52 O53", arguments: allKinds)
    func order(_ kind: any AnyValueKind) throws { try kind.checkOrder() }

    @Test("lists store every kind of value, managed and unmanaged O40 O42 O46 O47", arguments: allKinds)
    func lists(_ kind: any AnyValueKind) throws { try kind.checkLists() }

    @Test("sets store each value of every kind once, managed and unmanaged O40 O43 O47", arguments: allKinds)
    func sets(_ kind: any AnyValueKind) throws { try kind.checkSets() }

    @Test("maps store every kind of value, managed and unmanaged O40 O44 O47", arguments: allKinds)
    func maps(_ kind: any AnyValueKind) throws { try kind.checkMaps() }

    @Test(
        "typed conditions and query texts search collections for every kind of value O50 O51 O53", arguments: allKinds)
    func elementQueries(_ kind: any AnyValueKind) throws { try kind.checkElementQueries() }

    @Test("every kind of value is encoded, decoded and detached O10 O40", arguments: allKinds)
    func copies(_ kind: any AnyValueKind) throws { try kind.checkCopies() }

    @Test("updates store every kind of value, and equal values are no change O5", arguments: allKinds)
    func updates(_ kind: any AnyValueKind) throws { try kind.checkUpdates() }

    @Test(
        "values of every kind except enums remain when a migration makes their property optional O30 O31 O35",
        arguments: allKinds)
    func migration(_ kind: any AnyValueKind) throws { try kind.checkMigration() }
}
