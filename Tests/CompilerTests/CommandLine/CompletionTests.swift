import Foundation
import Testing

private let hasBash = FileManager.default.isExecutableFile(atPath: "/bin/bash")

/// Tests the words that bash offers when the user presses the Tab key.
@Suite("Completions", .enabled(if: hasBash))
struct CompletionTests {
    /// A bash script that calls the registered completion function in the same way as bash does.
    private static let driver = """
        source completions.bash
        COMP_WORDS=(martlet "$@")
        COMP_CWORD=$#
        COMP_LINE="${COMP_WORDS[*]}"
        COMP_POINT=${#COMP_LINE}
        COMP_TYPE=9
        COMP_KEY=9
        read -r -a registered <<<"$(complete -p martlet)"
        for index in "${!registered[@]}"; do
            [ "${registered[index]}" = -F ] && function=${registered[index + 1]}
        done
        "$function" martlet "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}"

        """

    @Test(
        "bash completes commands, options, values of options, and codes S40",
        arguments: [
            (["ge"], ["generate"]), (["js"], ["json-schema"]), (["lint", "--for"], ["--format"]),
            (["lint", "--format", "s"], ["sarif"]), (["lint", "--preset", "st"], ["standard", "strict"]),
            (["generate", "--access", "p"], ["public", "package"]),
            (["explain", "MRT060"], ["MRT0601", "MRT0602", "MRT0603"]),
            (["breaking", "--level", "d"], ["data"]), (["nonsense", "x"], []), (["generate", "Sch"], ["Schemas"]),
        ])
    func bash(_ words: [String], _ offered: [String]) throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "Schemas/Dog.yaml")
        try folder.write(
            try Executable().run(["--generate-completion-script", "bash"], in: folder).output, to: "completions.bash")
        try folder.write(Self.driver, to: "driver.bash")
        try folder.write("", to: "offered")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["--norc", "--noprofile", "driver.bash"] + words
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/offered"))
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let found = try folder.read("offered").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(Set(found.filter { !$0.isEmpty }) == Set(offered))
    }

    @Test("the README says how to install completions S40")
    func documented() throws {
        let page = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        for shell in ["bash", "zsh", "fish"] {
            #expect(page.contains("martlet --generate-completion-script \(shell)"), "\(shell)")
        }
    }
}
