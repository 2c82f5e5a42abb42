import CWorkload

// The SQL of the tables that Martlet creates. Peers that use SQL directly create equal tables with this SQL.

public let personSchema = String(cString: workload_person_schema)
public let personIndexes = String(cString: workload_person_indexes)
public let flightSchema = String(cString: workload_flight_schema)
