import Foundation

/// Measures each idiom at each size. Every measurement runs in a separate process.
///
/// All measurements therefore start in the same state. If an idiom traps or does not end, only its own measurement is
/// lost.
struct Runner {
    let options: Options
    let folder: URL

    func file(_ size: Int) -> URL { folder.appending(path: "idioms-\(size).martlet") }

    func writeFiles() throws {
        for size in options.sizes {
            log("writing \(grouped(size)) people\n")
            try PopulationFile.write(Population(count: size), to: file(size))
        }
    }

    /// Measures all idioms. The files of the report are written after each idiom, so that the results of an interrupted
    /// run are not lost.
    func measureAll() throws -> Report {
        var report = Report(outcomes: [], sizes: options.sizes)
        for idiom in options.idioms {
            var outcome = Outcome(idiom: idiom.name, growth: idiom.growth, sizes: options.sizes)
            for size in options.sizes { outcome.add(measure(idiom, size), size) }
            repeatIfClose(&outcome, idiom)
            report.outcomes.append(outcome)
            log("\(report.outcomes.count)/\(options.idioms.count)  \(outcome.line)\n")
            try report.writeFiles(options)
        }
        return report
    }

    /// Measures the first and the last size again if noise can be the reason that the growth is above its limit.
    private func repeatIfClose(_ outcome: inout Outcome, _ idiom: Idiom) {
        var repetitions = 0
        while repetitions < 2, outcome.fails, outcome.failure == nil, let ratio = outcome.ratio,
            ratio < outcome.limit * 2
        {
            repetitions += 1
            for size in [options.sizes.first, options.sizes.last].compactMap(\.self) {
                outcome.add(measure(idiom, size), size)
            }
        }
    }

    /// Runs this program in a child process, which measures the idiom and prints the measurement as JSON.
    private func measure(_ idiom: Idiom, _ size: Int) -> Result<Measurement, Failure> {
        let child = Process(), output = Pipe()
        child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let share = size == options.sizes.last ? 1 : 0.5
        child.arguments = [
            "--idiom", idiom.name, "--sizes", String(size), "--directory", folder.path,
            "--budget", String(options.budget * share),
        ]
        if options.countsCPU { child.arguments?.append("--cpu") }
        child.standardOutput = output
        do {
            try child.run()
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            child.waitUntilExit()
            guard child.terminationReason == .exit, child.terminationStatus == 0 else {
                let isLate = child.terminationReason == .uncaughtSignal && child.terminationStatus == SIGALRM
                return .failure(
                    Failure(text: isLate ? "took longer than \(Self.timeout) s" : "the process was stopped"))
            }
            return .success(try JSONDecoder().decode(Measurement.self, from: data))
        } catch {
            return .failure(Failure(text: "\(error)"))
        }
    }

    // MARK: The child process

    private static let timeout: UInt32 = 180

    /// Measures one idiom and prints the measurement. A signal ends the process after `timeout` seconds.
    static func measureOne(_ name: String, _ options: Options, _ folder: URL) throws {
        alarm(timeout)
        guard let idiom = Idiom.all.first(where: { $0.name == name }), let size = options.sizes.first else {
            throw Mistake(text: "no idiom '\(name)'")
        }
        let file = Runner(options: options, folder: folder).file(size)
        let context = Context(
            Population(count: size), file: file,
            clock: MeasuringClock(budget: options.budget, countsCPU: options.countsCPU))
        let measurement = try idiom.measure(context)
        FileHandle.standardOutput.write(try JSONEncoder().encode(measurement))
    }
}

/// The reason why an idiom could not be measured.
struct Failure: Error {
    let text: String
}

func log(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
