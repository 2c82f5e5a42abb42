import CompilerInvariants
import MartletCompiler
import MartletFrontend
import MartletSchema
import ModelTesting
import Testing

@Suite("Frontend: order and fuzz")
struct DeterminismTests {
    @Test("the order of files does not matter S13")
    func shuffledFiles() {
        var random = SeededRandom(seed: 7)
        let good = GoodSchema.sources
        let dump = Frontend.analyze(good).model?.dump()
        #expect(dump != nil)
        let bad = FixtureSchema.all.filter { $0.files.count > 1 }.map { $0.input().sources }
        for _ in 0..<10 {
            #expect(Frontend.analyze(good.shuffled(using: &random)).model?.dump() == dump)
            for sources in bad {
                let expected = Frontend.analyze(sources).diagnostics
                #expect(Frontend.analyze(sources.shuffled(using: &random)).diagnostics == expected)
            }
        }
    }

    @Test("3,000 mutations of good schemas do not crash the compiler S10")
    func mutations() {
        var random = SeededRandom(seed: 20_260)
        let texts = GoodSchema.sources.map(\.bytes)
        let signs = Array(" \n\t:?-[]{}<>\"'#&*!|=,.@`%\\\r".utf8) + [0x00, 0x80, 0xC3, 0xE2, 0xFF]
        for run in 0..<3_000 {
            var bytes = texts[run % texts.count]
            let start = Int.random(in: 0..<bytes.count, using: &random)
            bytes = Array(bytes[start..<min(bytes.count, start + 400)])
            if run % 3 == 0 { bytes = Array("objects:\n  Dog:\n    properties:\n".utf8) + bytes }
            for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(signs[Int.random(in: 0..<signs.count, using: &random)], at: place)
                case 2: bytes[place] = signs[Int.random(in: 0..<signs.count, using: &random)]
                default:
                    let end = min(bytes.count, place + Int.random(in: 0..<40, using: &random))
                    bytes.insert(contentsOf: bytes[place..<end], at: place)
                }
            }
            let source = SourceText(file: SourceFileID(0), relativePath: "A.yaml", displayPath: "A.yaml", bytes: bytes)
            let result = Frontend.analyze([source])
            if (result.model == nil) != result.diagnostics.contains(where: \.isError) {
                Issue.record("model and findings disagree in run \(run)")
            }
            for finding in result.diagnostics {
                guard let span = finding.span else { continue }
                if span.start < 0 || span.end > bytes.count { Issue.record("range outside the file in run \(run)") }
            }
        }
    }
}
