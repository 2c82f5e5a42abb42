import Martlet

extension Verification {
    static let textChecks: [Check] = [
        Check("airlines whose name begins with 'A'") { realm in
            Answer(realm.objects(Airline.self).where { $0.name.starts(with: "A") }.map(\.name).sorted())
        },
        Check("airports whose name contains 'intl' in any case") { realm in
            Answer(realm.objects(Airport.self).where { $0.name.contains("intl", options: .caseInsensitive) }.count)
        },
        Check("airports whose name ends with 'Regional Airport'") { realm in
            Answer(realm.objects(Airport.self).where { $0.name.ends(with: "Regional Airport") }.count)
        },
        Check("planes whose tail number is like N?0*AA") { realm in
            Answer(realm.objects(Plane.self).where { $0.tailnum.like("N?0*AA") }.count)
        },
    ]
}
