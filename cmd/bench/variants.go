package main

// variant is one of the variants that are compared.
type variant struct {
	name  string
	title string // for the table
}

// variants are in the order of the tables.
var variants = []variant{
	{variantBare, "bare net/http: reads the same body, sends a response of the same size"},
	{variantVerify, "verify"},
	{variantAgainst, "verify of the other binary"},
	{variantRedis, "verify, with rate limits in Redis"},
	{variantUnbatched, "verify, with one commit per answer"},
	{variantOneRow, "pgbench, select and insert of one row"},
	{variantOneRowMany, "pgbench, select and insert of one row, as many clients as verify"},
	{variantBatch, "pgbench, 100 rows per transaction (rows/s; latency per transaction)"},
}

func variantNames() []string {
	all := make([]string, len(variants))
	for i, v := range variants {
		all[i] = v.name
	}
	return all
}
