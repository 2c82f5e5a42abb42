/// A name for a finding that is the same on every host and in every run.
enum Fingerprint {
    /// The 128 bits of FNV-1a over the parts, as 32 hexadecimal digits.
    ///
    /// Source: the constants of 128 bits in draft-eastlake-fnv. Nobody attacks a fingerprint, so speed and smallness win.
    static func text(_ parts: [String]) -> String {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for part in parts {
            for byte in part.utf8 { mix(byte, into: &hash) }
            // No part holds this byte, so that 'ab', 'c' and 'a', 'bc' differ.
            mix(0xFF, into: &hash)
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    private static func mix(_ byte: UInt8, into hash: inout UInt128) {
        hash ^= UInt128(byte)
        hash &*= 0x0000_0000_0100_0000_0000_0000_0000_013B
    }
}
