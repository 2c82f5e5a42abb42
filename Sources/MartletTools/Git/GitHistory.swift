import Foundation
public import MartletCompiler
import MartletSchema

/// Reads the schema of a folder from a commit of its repository.
public struct GitHistory {
    /// An earlier version of the schema.
    public struct Schema: Sendable {
        /// The schema; nil if the folder contains no schema file in the commit.
        public let input: SchemaInput?
        /// The abbreviated commit hash.
        public let commit: String
        /// The path of the folder in the commit, relative to the root of the repository.
        public let folder: String
        /// Whether the folder has moved since the commit.
        public let isMoved: Bool
    }

    /// The maximum number of object names that are passed to one process. This number of names fits into a pipe buffer.
    private static let blobsAtOnce = 200

    private let git: GitProcess
    /// The path of the schema folder relative to the root of the repository, with a trailing `/`. Empty if the schema
    /// folder is the root.
    private let prefix: String

    /// - Parameters:
    ///   - folder: the current path of the schema folder.
    ///   - environment: the environment variables for `git`. Their `PATH` contains the folder of the program. nil for
    ///     the variables of this process.
    public init(of folder: String, environment: [String: String]? = nil) throws(GitError) {
        git = try GitProcess(folder: folder, environment: environment ?? ProcessInfo.processInfo.environment)
        let outcome = try git.run(["rev-parse", "--show-prefix"])
        guard outcome.status == 0 else {
            guard outcome.errors.contains("not a git repository") else { throw git.failure("rev-parse", outcome) }
            throw GitError("'\(folder)' is in no git repository; compare with a folder")
        }
        prefix = outcome.line
    }

    /// The hash of the commit to which a ref resolves; nil if there is no such ref.
    public func commit(named reference: String) throws(GitError) -> String? {
        guard !reference.isEmpty, !reference.hasPrefix("-") else { return nil }
        let outcome = try git.run(["rev-parse", "--verify", "--quiet", reference + "^{commit}"])
        return outcome.status == 0 && !outcome.line.isEmpty ? outcome.line : nil
    }

    /// The schema at the merge base of HEAD and `reference`.
    public func schema(atMergeBaseWith reference: String) throws(GitError) -> Schema {
        guard let tip = try commit(named: reference) else {
            throw GitError("no git ref '\(reference)', and no such folder; fetch it, or see 'git branch --all'")
        }
        guard let head = try commit(named: "HEAD") else {
            throw GitError("the repository has no commit yet; compare with a folder")
        }
        let outcome = try git.run(["merge-base", head, tip])
        guard outcome.status == 0 else {
            guard outcome.status == 1 else { throw git.failure("merge-base", outcome) }
            throw GitError(
                "HEAD and '\(reference)' have no commit in common; fetch more of the history, or compare with a folder")
        }
        return try schema(at: outcome.line, head: head)
    }

    private func schema(at base: String, head: String) throws(GitError) -> Schema {
        let commit = try git.output(["rev-parse", "--short", base]).line
        if let input = try input(of: prefix, base, commit) {
            return Schema(input: input, commit: commit, folder: shown(prefix), isMoved: false)
        }
        if let former = try formerPrefix(base, head), let input = try input(of: former, base, commit) {
            return Schema(input: input, commit: commit, folder: shown(former), isMoved: true)
        }
        return Schema(input: nil, commit: commit, folder: shown(prefix), isMoved: false)
    }

    private func shown(_ prefix: String) -> String { prefix.isEmpty ? "." : String(prefix.dropLast()) }

    // MARK: Files

    /// The schema of a folder in a commit; nil if the folder contains no schema file.
    private func input(of prefix: String, _ base: String, _ commit: String) throws(GitError) -> SchemaInput? {
        let tree = try GitTree(of: base, git)
        let files = try tree.schemaFiles(below: prefix)
        guard !files.isEmpty else { return nil }
        let configuration = try tree.configuration(of: prefix)
        let all = files + [configuration].compactMap(\.self)
        let texts = zip(all, try contents(of: all.map(\.object))).enumerated().map { index, file in
            SourceText(
                file: SourceFileID(index), relativePath: file.0.relativePath,
                displayPath: "\(commit):\(file.0.path)", bytes: file.1)
        }
        return SchemaInput(
            sources: Array(texts.prefix(files.count)), configuration: configuration == nil ? nil : texts.last)
    }

    private func contents(of objects: [String]) throws(GitError) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for start in stride(from: 0, to: objects.count, by: Self.blobsAtOnce) {
            let names = objects[start..<min(start + Self.blobsAtOnce, objects.count)]
            let input = names.map { $0 + "\n" }.joined()
            let output = Array(try git.output(["cat-file", "--batch"], input: input).output)
            guard let blobs = GitBatch.blobs(in: output), blobs.count == names.count else {
                throw GitError("'git cat-file' did not return the files of the schema; run 'git fsck'")
            }
            result += blobs
        }
        return result
    }

    // MARK: Moved folders

    /// The former path of the schema folder, relative to the root of the repository. To find it, this function compares
    /// the paths of renamed schema files. The result is the folder that contained most of them at the same relative
    /// paths.
    private func formerPrefix(_ base: String, _ head: String) throws(GitError) -> String? {
        let text = try git.output([
            "diff-tree", "-r", "-z", "-M30%", "--diff-filter=R", "--name-status", base, head,
        ]).text
        let fields = text.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
        var votes: [String: Int] = [:]
        for index in stride(from: 0, to: fields.count - 2, by: 3) {
            let (old, new) = (fields[index + 1], fields[index + 2])
            guard new.hasPrefix(prefix), new.hasSuffix(".yaml") else { continue }
            let relativePath = String(new.dropFirst(prefix.count))
            guard old == relativePath || old.hasSuffix("/" + relativePath) else { continue }
            votes[String(old.dropLast(relativePath.count)), default: 0] += 1
        }
        return votes.min { ($1.value, $0.key) < ($0.value, $1.key) }?.key
    }
}

/// Parses the output of `git cat-file --batch`. For each object, the output contains a line with name, type and size,
/// then the bytes of the object, and then a line feed.
enum GitBatch {
    /// The bytes of the objects; nil if an object is missing or is not a blob.
    static func blobs(in output: [UInt8]) -> [[UInt8]]? {
        var result: [[UInt8]] = []
        var offset = 0
        while offset < output.count {
            guard let end = output[offset...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let words = String(decoding: output[offset..<end], as: UTF8.self).split(separator: " ")
            guard words.count == 3, words[1] == "blob", let size = Int(words[2]), end + 1 + size < output.count else {
                return nil
            }
            result.append(Array(output[(end + 1)..<(end + 1 + size)]))
            offset = end + size + 2
        }
        return result
    }
}
