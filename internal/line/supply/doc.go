// Package supply takes in what operators, the clearing house, sector regulators
// and the regulator report about lines, and records how complete and how late
// their reports are.
//
// A report is a call of the API with up to [MaxEvents] events, an order of the
// regulator, or a file. Each goes through the same steps:
//
//	report    report.go     ApplyEvents, the entry of a call; orders.go and import_run.go are the others
//	parse     parse.go      turn a written event into a line.Event, or refuse it for its form
//	authorise authorise.go  find the supplier, and check that it may report this event about this number
//	load      changeset.go  read the rows and events of the numbers into a changeSet
//	apply     apply.go      apply the events in memory, one result for each
//	save      save.go       write the changed rows, the new events and the daily counts
//
// Files take a longer way to these steps:
//
//	receive   import_receive.go  store the file and create the import
//	work      import_workers.go  a worker for each import in the service
//	run       import_run.go      one run of an import from check to end; import_limits.go
//	read      import_read.go     read the file in chunks, ahead of the database
//	check     import_check.go    read all of it first; hold a snapshot that would change too much
//	apply     import_apply.go    apply it chunk by chunk; snapshot.go and missing.go for a snapshot
//	state     import_state.go    every change of an import's state, by the run or by a person
//	void      void.go            take back what a network's newest snapshot changed, batch by batch
//
// The other files only read: imports.go and order_list.go (lists), history.go
// and timeline.go (the history of one number), conflicts.go (ports that the
// other network has not confirmed), network_status.go (how each network fulfils its
// duty to supply).
//
// What the package promises:
//
//   - A supplier's authority is checked as of the time at which an event took
//     effect, not the time at which it was reported.
//   - Each event is accepted or refused on its own and has its own result. An
//     event that is sent twice is applied once.
//   - A file is applied in chunks. Each chunk is one transaction that also saves
//     the import's progress, so that a crash neither loses nor repeats a row.
package supply
