package main

// variant is one of the things that are compared.
type variant struct {
	name  string
	title string // for people
	short string // for the chart
}

// variants are in the order in which they are shown.
var variants = []variant{
	{variantBare, "bare net/http: the same body read, an answer of the same size", "bare net/http"},
	{variantVerify, "verify", "verify"},
	{variantRedis, "verify, with the rates of callers counted in Redis", "verify, Redis"},
	{variantUnbatched, "verify, each answer with a commit of its own", "verify, not batched"},
	{variantOneRow, "pgbench, select and insert of one row", "pgbench, one row"},
	{variantOneRowMany, "the same with as many clients as verify has callers", "pgbench, one row"},
	{variantBatch, "pgbench, 100 rows in a transaction (rows; times are of a transaction)", "pgbench, 100 rows"},
}

func variantNames() []string {
	all := make([]string, len(variants))
	for i, v := range variants {
		all[i] = v.name
	}
	return all
}
