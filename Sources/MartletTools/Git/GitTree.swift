import MartletCompiler

/// The files of one commit. Symbolic links from schema folders to other places in the repository are followed.
struct GitTree {
    struct File {
        /// The path relative to the schema folder.
        let relativePath: String
        /// The path relative to the root of the repository. It contains the names of symbolic links, not their targets.
        let path: String
        /// The name of the git object that contains the file.
        let object: String
    }

    private struct Entry {
        let isLink: Bool
        let object: String
    }

    private static let maximumLinks = 16

    private let git: GitProcess
    /// The entries, by path relative to the root of the repository.
    private var entries: [String: Entry] = [:]
    /// The paths of the entries, in the order of the output of git.
    private var paths: [String] = []

    init(of commit: String, _ git: GitProcess) throws(GitError) {
        self.git = git
        let text = try git.output(["ls-tree", "-r", "-z", "--full-tree", commit]).text
        for line in text.split(separator: "\0") {
            // A line contains mode, kind and object, a tab, and the path.
            guard let tab = line.firstIndex(of: "\t") else { continue }
            let words = line[..<tab].split(separator: " ")
            guard words.count == 3, words[1] == "blob" else { continue }
            let path = String(line[line.index(after: tab)...])
            paths.append(path)
            entries[path] = Entry(isLink: words[0] == "120000", object: String(words[2]))
        }
    }

    /// The schema files, sorted by the bytes of their paths. Hidden files and the configuration are left out.
    func schemaFiles(below prefix: String) throws(GitError) -> [File] {
        try files(below: prefix, shown: prefix, relative: "", links: 0)
            .filter { $0.relativePath != SourceLoader.configurationName }
            .sorted { $0.relativePath.utf8.lexicographicallyPrecedes($1.relativePath.utf8) }
    }

    /// The `martlet.yaml` in the folder or beside it; nil if there is none. If it is a symbolic link, the link is
    /// followed.
    func configuration(of prefix: String) throws(GitError) -> File? {
        let parent = prefix.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        for place in prefix.isEmpty ? [prefix] : [prefix, parent] {
            let path = place + SourceLoader.configurationName
            guard let entry = entries[path] else { continue }
            let file = File(relativePath: SourceLoader.configurationName, path: path, object: entry.object)
            guard entry.isLink else { return file }
            let targets = try linked(path, entry, shown: path, relative: file.relativePath, links: 0)
            if let target = targets.first { return target }
        }
        return nil
    }

    private func files(
        below prefix: String, shown: String, relative: String, links: Int
    ) throws(GitError) -> [File] {
        var result: [File] = []
        for path in paths where path.hasPrefix(prefix) {
            guard let entry = entries[path] else { continue }
            let below = String(path.dropFirst(prefix.count))
            guard !below.split(separator: "/").contains(where: { $0.hasPrefix(".") }) else { continue }
            if entry.isLink {
                result += try linked(path, entry, shown: shown + below, relative: relative + below, links: links)
            } else if below.hasSuffix(".yaml") {
                result.append(File(relativePath: relative + below, path: shown + below, object: entry.object))
            }
        }
        return result
    }

    private func linked(
        _ path: String, _ entry: Entry, shown: String, relative: String, links: Int
    ) throws(GitError) -> [File] {
        guard links < Self.maximumLinks else {
            throw GitError("'\(shown)' is a symbolic link that leads back to itself; compare with a folder")
        }
        let target = try git.output(["cat-file", "blob", entry.object]).text
        guard !target.hasPrefix("/"), let place = resolved(target, from: path) else { return [] }
        if let file = entries[place] {
            if file.isLink { return try linked(place, file, shown: shown, relative: relative, links: links + 1) }
            return relative.hasSuffix(".yaml") ? [File(relativePath: relative, path: shown, object: file.object)] : []
        }
        return try files(
            below: place.isEmpty ? "" : place + "/", shown: shown + "/", relative: relative + "/", links: links + 1)
    }

    /// The path of the target of a link, relative to the root of the repository; nil if the link leads out of the
    /// repository.
    private func resolved(_ target: String, from link: String) -> String? {
        var steps = link.split(separator: "/").dropLast().map(String.init)
        for step in target.split(separator: "/") where step != "." {
            if step == ".." {
                guard steps.popLast() != nil else { return nil }
            } else {
                steps.append(String(step))
            }
        }
        return steps.joined(separator: "/")
    }
}
