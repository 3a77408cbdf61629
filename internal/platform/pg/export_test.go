package pg

// MigrateFrom applies other migrations than those of the program.
var MigrateFrom = migrateFrom
