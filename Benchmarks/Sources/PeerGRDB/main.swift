import Foundation
import Measure

guard let job = Job(arguments: CommandLine.arguments) else {
    FileHandle.standardError.write(
        Data("usage: PeerGRDB <workload> <database> <people> [<folder of CSV files>]\n".utf8))
    exit(2)
}
let reporter = Reporter(peer: "GRDB", file: job.file)
switch job.workload {
case "insert": try insertPeople(job, reporter, indexed: false)
case "insert-indexed": try insertPeople(job, reporter, indexed: true)
case "import": try importFlights(job, reporter)
case "lookup": try lookUp(job, reporter)
case "read-held": try readHeld(job, reporter)
case "update-held": try updateHeld(job, reporter)
case "iterate": try iterate(job, reporter)
case "count", "count-indexed": try countFiltered(job, reporter, workload: job.workload)
case "sort-first-100": try sortFirst(job, reporter)
case "list": try lists(job, reporter)
case "observe-1": try observe(job, reporter, ageBelow: 1)
case "observe-10": try observe(job, reporter, ageBelow: 10)
case "observe-100": try observe(job, reporter, ageBelow: 100)
case "observers-100": try hundredObservers(job, reporter)
case "object-observers": try objectObservers(job, reporter)
case "small-transactions": try smallTransactions(job, reporter)
case "open": try openAndRead(job, reporter)
case "latency": try latency(job, reporter)
// GRDB does not support these workloads, or would run the same SQL as the C program.
case "readers-and-writer", "grouped-transactions": break
default:
    FileHandle.standardError.write(Data("PeerGRDB: no workload '\(job.workload)'\n".utf8))
    exit(2)
}
