package main

// variant is one of the variants that are compared.
type variant struct {
	name  string
	title string // for the table
	short string // for the chart
}

// variants are in the order of the tables and the chart.
var variants = []variant{
	{variantBare, "bare net/http: reads the same body, sends a response of the same size", "bare net/http"},
	{variantVerify, "verify", "verify"},
	{variantAgainst, "verify of the other binary", "the other binary"},
	{variantRedis, "verify, with rate limits in Redis", "verify, Redis"},
	{variantUnbatched, "verify, with one commit per answer", "verify, not batched"},
	{variantOneRow, "pgbench, select and insert of one row", "pgbench, one row"},
	{variantOneRowMany, "pgbench, select and insert of one row, as many clients as verify", "pgbench, one row"},
	{variantBatch, "pgbench, 100 rows per transaction (rows/s; latency per transaction)", "pgbench, 100 rows"},
}

func variantNames() []string {
	all := make([]string, len(variants))
	for i, v := range variants {
		all[i] = v.name
	}
	return all
}
