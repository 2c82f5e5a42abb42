import Foundation

/// The command line.
struct Options {
    var only: [String] = []
    var sizes = [10_000, 100_000, 1_000_000]
    var json: URL?
    var markdown: URL?
    /// The folder of the files; nil for a temporary folder, which is removed at the end.
    var directory: URL?
    /// The seconds for one idiom at the largest size. Each smaller size gets half of this time.
    var budget = 0.4
    /// Whether the CPU time of the process is measured instead of the elapsed time.
    var countsCPU = false
    var listsOnly = false
    /// In a child process, the name of the idiom that the process measures; otherwise nil.
    var idiom: String?

    static let usage = """
        usage: BenchIdioms [--only <part of a name>,…] [--sizes 10000,100000,1000000] [--json <file>]
                           [--markdown <file>] [--directory <folder>] [--budget <seconds>] [--cpu] [--list]

          --only       only the idioms whose name contains one of these texts
          --sizes      the numbers of people, multiples of 1,000; the growth is that from the first to the last
          --json       write the results to a file
          --markdown   write the results as Markdown tables to a file
          --directory  keep the files in this folder, and use those of an earlier run
          --budget     the seconds for one idiom at the largest size; 0.4 without this option
          --cpu        measure the CPU time, for a machine with other load; waiting is not counted
          --list       print the names and the declared growth, and measure nothing

        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            if option == "--list" || option == "--cpu" {
                if option == "--list" { listsOnly = true } else { countsCPU = true }
                continue
            }
            guard let value = rest.popFirst() else { throw Mistake(text: "unknown option or missing value: \(option)") }
            switch option {
            case "--only": only = value.split(separator: ",").map(String.init)
            case "--sizes": sizes = try Self.sizes(value)
            case "--json": json = URL(fileURLWithPath: value)
            case "--markdown": markdown = URL(fileURLWithPath: value)
            case "--directory": directory = URL(fileURLWithPath: value)
            case "--budget": budget = try Self.number(value)
            case "--idiom": idiom = value
            default: throw Mistake(text: "unknown option: \(option)")
            }
        }
    }

    var idioms: [Idiom] {
        Idiom.all.filter { idiom in
            only.isEmpty || only.contains { idiom.name.localizedCaseInsensitiveContains($0) }
        }
    }

    private static func number(_ text: String) throws -> Double {
        guard let number = Double(text), number > 0 else { throw Mistake(text: "not a number of seconds: \(text)") }
        return number
    }

    private static func sizes(_ text: String) throws -> [Int] {
        let sizes = text.split(separator: ",").compactMap { Int($0) }
        guard !sizes.isEmpty, sizes == sizes.sorted(), sizes.allSatisfy({ $0 >= 1000 && $0 % 1000 == 0 }) else {
            throw Mistake(text: "sizes are ascending multiples of 1,000: \(text)")
        }
        return sizes
    }
}

/// A mistake on the command line.
struct Mistake: Error {
    let text: String
}
