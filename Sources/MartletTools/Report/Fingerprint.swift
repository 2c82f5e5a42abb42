/// Computes identifiers of findings. The identifier of a finding is the same on every host and in every run.
enum Fingerprint {
    /// The 128-bit FNV-1a hash of the parts, as 32 hexadecimal digits.
    ///
    /// The constants come from draft-eastlake-fnv. A cryptographic hash is not necessary, because nothing depends on
    /// resistance to attacks.
    static func text(_ parts: [String]) -> String {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for part in parts {
            for byte in part.utf8 { mix(byte, into: &hash) }
            // UTF-8 text does not contain this byte, so the parts 'ab' and 'c' and the parts 'a' and 'bc' have
            // different hashes.
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
