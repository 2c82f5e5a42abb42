import Testing

/// Each kind of value in all that can be done with values.
@Suite struct KindTests {
    @Test("O5 O12 O30 O31 O32 required and optional properties hold it", arguments: allKinds)
    func properties(_ kind: any AnyKind) throws { try kind.checkProperties() }

    @Test("O50 O51 O54 O56 properties are compared with it, in both notations", arguments: allKinds)
    func queries(_ kind: any AnyKind) throws { try kind.checkQueries() }

    @Test("O40 O52 O53 results are sorted, made distinct and aggregated by it", arguments: allKinds)
    func order(_ kind: any AnyKind) throws { try kind.checkOrder() }

    @Test("O40 O42 O46 O47 lists hold it, managed and unmanaged", arguments: allKinds)
    func lists(_ kind: any AnyKind) throws { try kind.checkLists() }

    @Test("O40 O43 O47 sets hold it once, managed and unmanaged", arguments: allKinds)
    func sets(_ kind: any AnyKind) throws { try kind.checkSets() }

    @Test("O40 O44 O47 maps hold it, managed and unmanaged", arguments: allKinds)
    func maps(_ kind: any AnyKind) throws { try kind.checkMaps() }

    @Test("O50 O51 O53 collections are asked for it, in both notations", arguments: allKinds)
    func elementQueries(_ kind: any AnyKind) throws { try kind.checkElementQueries() }

    @Test("O10 O40 it is encoded, decoded and detached", arguments: allKinds)
    func copies(_ kind: any AnyKind) throws { try kind.checkCopies() }

    @Test("O5 updates change it where it differs", arguments: allKinds)
    func updates(_ kind: any AnyKind) throws { try kind.checkUpdates() }

    @Test("O30 O31 O35 it is kept when a schema makes it optional", arguments: allKinds)
    func migration(_ kind: any AnyKind) throws { try kind.checkMigration() }
}
