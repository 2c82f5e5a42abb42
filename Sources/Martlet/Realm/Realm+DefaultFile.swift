import CMartletRuntime
public import Foundation
import Synchronization

extension Realm.Configuration {
    static let defaultName = "default.realm"
    private static let chosenFolder = Mutex<URL?>(nil)

    /// The folder of `default.realm`. To use another folder, set this property once before the first Realm is opened:
    ///
    /// ```swift
    /// Realm.Configuration.defaultFolder = URL(fileURLWithPath: "/var/lib/kennel")
    /// ```
    ///
    /// By default, the folder has the name of the program. Its parent folder is Application Support on Apple platforms.
    /// On other platforms, the parent folder is `$XDG_DATA_HOME`. If that variable does not contain an absolute path,
    /// the parent folder is `~/.local/share`. The folder is created together with the default file.
    ///
    /// The value is nil if neither `XDG_DATA_HOME` nor `HOME` contains an absolute path. Opening the default file then
    /// throws `.fileNotFound`.
    public static var defaultFolder: URL? {
        get { chosenFolder.withLock { $0 } ?? platformFolder }
        set { chosenFolder.withLock { $0 = newValue } }
    }

    /// The file `default.realm` in `defaultFolder`.
    public static var defaultFileURL: URL? {
        defaultFolder?.appendingPathComponent(defaultName, isDirectory: false)
    }

    static func requireDefaultFileURL() throws -> URL {
        if let url = defaultFileURL { return url }
        throw Realm.Error(
            .fileNotFound, path: defaultName,
            "there is no folder for the default file: the environment has neither 'XDG_DATA_HOME' nor 'HOME'; set one of them, "
                + "'Realm.Configuration.defaultFolder' or 'fileURL'")
    }

    private static var platformFolder: URL? {
        #if canImport(Darwin)
            let folder: URL? = .applicationSupportDirectory
            let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        #else
            let folder = xdgFolder
            let program = ProcessInfo.processInfo.processName
        #endif
        return folder?.appendingPathComponent(program.isEmpty ? "martlet" : program, isDirectory: true)
    }

    // The XDG Base Directory Specification requires that a path that is not absolute is ignored:
    // https://specifications.freedesktop.org/basedir-spec/latest
    private static var xdgFolder: URL? {
        func folder(_ variable: String) -> URL? {
            guard let value = getenv(variable).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
            return URL(fileURLWithPath: value, isDirectory: true)
        }
        return folder("XDG_DATA_HOME")
            ?? folder("HOME")?.appendingPathComponent(".local/share", isDirectory: true)
    }

    /// Creates the folder of the default file, if this configuration opens the default file.
    func createDefaultFolder() {
        guard let folder = Self.defaultFolder?.standardizedFileURL.path,
            let file = try? requirePath(), file == "\(folder)/\(Self.defaultName)"
        else { return }
        cmartlet_create_folders(folder)
    }

    /// The absolute path of a file URL. A relative path begins in the current folder.
    ///
    /// - Throws: `.invalidInput` for a URL that is not a file URL.
    static func path(_ url: URL) throws -> String {
        guard url.isFileURL || url.scheme == nil else {
            let text = String(url.absoluteString.prefix(100))
            throw Realm.Error(
                .invalidInput, path: text,
                "'\(text)' is not the URL of a file; use 'URL(fileURLWithPath:)'")
        }
        let path = url.standardizedFileURL.path
        // The path of a URL from `URL(string:)` may be relative. It is made absolute, because the current folder may
        // change while the file is open.
        return path.hasPrefix("/") ? path : URL(fileURLWithPath: path).standardizedFileURL.path
    }
}
