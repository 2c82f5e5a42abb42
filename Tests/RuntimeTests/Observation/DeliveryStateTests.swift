import Testing

@testable import Martlet

/// Tests the decisions of the observation hub without threads. Numbers stand for snapshots. A run computes the results
/// for one snapshot, and a delivery passes the results to the observers.
@Suite struct DeliveryStateTests {
    private struct CannotOpen: Error {}

    private func state() -> DeliveryState<Int> { DeliveryState(hasExecutor: true) }

    @Test("a commit starts one run, whose results are delivered once")
    func oneCommit() {
        var state = state()
        #expect(state.isIdle && !state.awaitsRun)
        #expect(state.signal() == true)
        #expect(!state.isIdle && state.awaitsRun)
        let run = state.beginRun()
        #expect(run.target == nil && run.computes)
        let end = state.finishRun(.computed(5))
        #expect(end.replaced == nil && end.schedulesDelivery && !end.startsRun)
        #expect(!state.awaitsRun && !state.isIdle)
        #expect(state.beginDelivery().computed == 5)
        #expect(state.isIdle)
        #expect(state.beginDelivery().computed == nil)
    }

    @Test("commits during a run start one more run after that run, and one delivery is scheduled for both runs")
    func commitsDuringRun() {
        var state = state()
        #expect(state.signal() == true)
        _ = state.beginRun()
        #expect(state.signal() == false)
        #expect(state.signal() == false)
        let first = state.finishRun(.computed(1))
        #expect(first.startsRun && first.schedulesDelivery)
        _ = state.beginRun()
        let second = state.finishRun(.computed(2))
        #expect(second.replaced == 1 && !second.startsRun && !second.schedulesDelivery)
        #expect(state.beginDelivery().computed == 2)
        #expect(state.isIdle)
    }

    @Test("a commit that arrives after a run is scheduled and before the run begins needs no second run")
    func commitBeforeRun() {
        var state = state()
        #expect(state.signal() == true)
        #expect(state.signal() == false)
        _ = state.beginRun()
        #expect(state.finishRun(.computed(1)).startsRun == false)
    }

    @Test("until results are delivered, the number of runs is limited; a delivery permits another run")
    func limit() {
        var state = state()
        var runs = 0
        for version in 0..<100 where state.signal() {
            _ = state.beginRun()
            _ = state.finishRun(.computed(version))
            runs += 1
        }
        #expect(runs == DeliveryState<Int>.maximumRuns)
        #expect(state.beginDelivery().computed == runs - 1)
        #expect(state.needsRun(observersAreBehind: false), "no run has processed the commits after the last run")
        #expect(state.signal() == true)
    }

    @Test("without an executor nothing runs; when an executor is set, the waiting commit is processed")
    func executor() {
        var state = DeliveryState<Int>(hasExecutor: false)
        #expect(state.signal() == false)
        #expect(state.awaitsRun)
        #expect(state.setExecutor() == true)
        _ = state.beginRun()
        #expect(state.finishRun(.computed(1)).schedulesDelivery == true)
        #expect(state.setExecutor() == false, "no commit waits")
    }

    @Test("a failure is delivered once, with the previous result; a later success discards an undelivered failure")
    func failure() {
        var state = state()
        _ = state.signal()
        _ = state.beginRun()
        _ = state.finishRun(.computed(1))
        _ = state.signal()
        _ = state.beginRun()
        #expect(state.finishRun(.failed(CannotOpen())).replaced == 1)
        let delivery = state.beginDelivery()
        #expect(delivery.computed == 1 && delivery.failure is CannotOpen)
        #expect(state.beginDelivery().failure == nil)
        _ = state.signal()
        _ = state.beginRun()
        _ = state.finishRun(.failed(CannotOpen()))
        _ = state.signal()
        _ = state.beginRun()
        _ = state.finishRun(.computed(2))
        #expect(state.beginDelivery().failure == nil)
    }

    @Test("without automatic refresh, a run computes results only for the version that the Realm shows")
    func target() {
        var state = state()
        #expect(state.setTarget(3) == nil)
        _ = state.signal()
        let first = state.beginRun()
        #expect(first.target == 3 && first.computes)
        _ = state.finishRun(.computed(3))
        _ = state.signal()
        let second = state.beginRun()
        #expect(second.target == nil && !second.computes, "for a commit of another Realm, only the version is reported")
        _ = state.finishRun(.computed(4))
        #expect(state.setTarget(4) == nil)
        #expect(state.setTarget(nil) == 4)
        #expect(state.beginRun().computes == true)
    }

    @Test("a postponed delivery requires another run, except while a run is pending or its results are undelivered")
    func postponed() {
        var state = state()
        #expect(!state.needsRun(observersAreBehind: false) && state.needsRun(observersAreBehind: true))
        state.postponeDelivery()
        #expect(state.needsRun(observersAreBehind: false))
        _ = state.signal()
        #expect(!state.needsRun(observersAreBehind: true))
        _ = state.beginRun()
        _ = state.finishRun(.computed(1))
        #expect(!state.needsRun(observersAreBehind: true))
        #expect(state.takeComputed() == 1)
        #expect(state.takeComputed() == nil)
        #expect(state.needsRun(observersAreBehind: true))
    }
}
