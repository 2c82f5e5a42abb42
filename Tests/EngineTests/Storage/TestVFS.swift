import CMartletTestVFS
import Synchronization

/// A unique name for a VFS.
private func uniqueVFSName(_ stem: String) -> String {
    "\(stem)-\(vfsNumbers.add(1, ordering: .relaxed).newValue)"
}

private let vfsNumbers = Atomic<Int>(0)

/// A VFS that forwards calls to another VFS, with counters, hooks and faults.
///
/// The VFS is registered as `name` while this object is alive. If files are still open when the object is released, the
/// VFS remains registered until the process ends, because connections still use it. `openFileCount` shows whether files
/// are open.
// This class is Sendable: the C functions use a mutex, the pointer never changes, and a lock guards the hooks.
final class HookVFS: @unchecked Sendable {
    typealias Hook = @Sendable (CMartletCallEvent) -> Void

    private final class HookBox: Sendable {
        let hook: Hook
        init(_ hook: @escaping Hook) { self.hook = hook }
    }

    let name: String
    private let vfs: OpaquePointer
    /// All hooks that were ever set. They are retained, because a replaced hook may still be running on another thread.
    private let boxes = Mutex<[HookBox]>([])

    /// - Parameter base: The name of the VFS to which the calls are forwarded, for example the name of a
    ///   `PowerLossDisk`.
    init(over base: String = "unix") {
        name = uniqueVFSName("martlet-hook")
        guard let vfs = cmartlet_hook_vfs_create(name, base) else { preconditionFailure("no VFS named \(base)") }
        self.vfs = vfs
    }

    deinit {
        for number in 0..<CMartletCall.any.rawValue {
            if let call = CMartletCall(rawValue: number) { removeHook(call) }
        }
        _ = cmartlet_hook_vfs_destroy(vfs)
    }

    /// Runs `hook` before every call of the kind. Calls that the hook itself makes run no hook.
    func onEach(_ call: CMartletCall, _ hook: @escaping Hook) {
        let box = HookBox(hook)
        boxes.withLock { $0.append(box) }
        let context = Unmanaged.passUnretained(box).toOpaque()
        cmartlet_hook_vfs_set_hook(
            vfs, call,
            { context, event in
                guard let context, let event else { return }
                Unmanaged<HookBox>.fromOpaque(context).takeUnretainedValue().hook(event.pointee)
            }, context)
    }

    /// Runs `hook` before the next call of the kind, but not before later calls.
    func onNext(_ call: CMartletCall, _ hook: @escaping @Sendable () -> Void) {
        let isArmed = Mutex(true)
        onEach(call) { _ in
            let isFirst = isArmed.withLock { isArmed in
                defer { isArmed = false }
                return isArmed
            }
            if isFirst { hook() }
        }
    }

    func removeHook(_ call: CMartletCall) {
        cmartlet_hook_vfs_set_hook(vfs, call, nil, nil)
    }

    /// Makes the matching call with the number `position`, counted from now, fail. If `persists` is true, all later
    /// matching calls fail too.
    ///
    /// - Parameters:
    ///   - result: The SQLite result code; nil means the usual result code for a failure of the call.
    ///   - applied: Whether the call is executed before it fails.
    func fail(
        _ call: CMartletCall, of role: CMartletRole = .any, at position: Int = 1, persists: Bool = false,
        applied: Bool = false, result: CInt? = nil
    ) {
        let fault = CMartletFault(
            call: call, role: role, at: Int64(position), persists: persists, applied: applied, result: result ?? 0)
        precondition(cmartlet_hook_vfs_add_fault(vfs, fault), "too many faults")
    }

    func clearFaults() { cmartlet_hook_vfs_clear_faults(vfs) }

    /// The number of calls that failed because of a fault.
    var faultCount: Int { Int(cmartlet_hook_vfs_failed_call_count(vfs)) }

    func count(_ call: CMartletCall, of role: CMartletRole = .any) -> Int {
        Int(cmartlet_hook_vfs_call_count(vfs, call, role))
    }

    func clearCounts() { cmartlet_hook_vfs_clear_counts(vfs) }

    var openFileCount: Int { Int(cmartlet_hook_vfs_open_file_count(vfs)) }
}

/// A disk in memory whose power can be cut at any operation.
///
/// Its VFS is registered as `name` while this object is alive. If files are still open when the object is released, the
/// disk and its VFS remain until the process ends.
// This class is Sendable: the C functions use a mutex, and the pointer never changes.
final class PowerLossDisk: @unchecked Sendable {
    let name: String
    private let disk: OpaquePointer

    init() {
        name = uniqueVFSName("martlet-power")
        guard let disk = cmartlet_disk_create(name) else { preconditionFailure("two disks named \(name)") }
        self.disk = disk
    }

    deinit {
        _ = cmartlet_disk_destroy(disk)
    }

    /// The number of creations, writes, truncations, syncs and deletions since the disk was created or reset.
    var operationCount: Int { Int(cmartlet_disk_operation_count(disk)) }

    /// The number of operations that are not synced.
    var unsyncedCount: Int { Int(cmartlet_disk_unsynced_count(disk)) }

    var openFileCount: Int { Int(cmartlet_disk_open_file_count(disk)) }

    var isOff: Bool { cmartlet_disk_is_off(disk) }

    /// Cuts the power during the operation with this number, as counted by `operationCount`.
    func cutPower(at operation: Int) { cmartlet_disk_cut_power_at(disk, Int64(operation)) }

    /// Turns the power on again. Damages the data that is not synced, as `damage` and `seed` determine. Calls on files
    /// that are open then fail.
    func restart(damage: CMartletDamage, seed: UInt64) { cmartlet_disk_restart(disk, damage, seed) }

    /// Simulates a kill of all processes: locks, shared memory and open files are lost, but the bytes of all files
    /// remain.
    func killProcesses() { cmartlet_disk_kill_processes(disk) }

    /// Makes the disk empty and resets its state.
    func reset() { cmartlet_disk_reset(disk) }

    /// Sets the device characteristics (`SQLITE_IOCAP_…`). The default is powersafe overwrite, as in the unix VFS.
    func setCharacteristics(_ characteristics: CInt) { cmartlet_disk_set_characteristics(disk, characteristics) }

    /// The current bytes of a file; nil if it does not exist.
    func bytes(of path: String) -> [UInt8]? {
        let size = cmartlet_disk_file_size(disk, path)
        guard size >= 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            count = cmartlet_disk_read(disk, path, 0, buffer.baseAddress, buffer.count)
        }
    }

    /// Overwrites bytes of a file durably, without SQLite.
    func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) {
        precondition(cmartlet_disk_overwrite(disk, path, Int64(offset), bytes, bytes.count), "no such bytes in \(path)")
    }
}
