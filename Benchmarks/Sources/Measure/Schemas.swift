import CWorkload

/// Tables as Martlet creates them, for the peers that use SQL directly.
public let personSchema = String(cString: workload_person_schema)
public let personIndexes = String(cString: workload_person_indexes)
public let flightSchema = String(cString: workload_flight_schema)
