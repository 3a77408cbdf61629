package tampering_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// sourceKinds are attacks on what decides answers: kinds 37 to 40 and 42 of the list.
var sourceKinds = []kind{
	{"37 archive part or manifest rewritten", func(a *attack) {
		if a.flip() {
			a.flipBit(chance(a, a.files("journal")))
			return
		}
		// A whole archive of other records, consistent in itself.
		a.exec(`DELETE FROM journal_archive`)
		a.exec(`INSERT INTO journal_archive SELECT * FROM json_populate_record(NULL::journal_archive, $1::json)`, a.exchange)
		for _, file := range a.files("journal") {
			ensure(os.Remove(file))
		}
		ensure(os.CopyFS(filepath.Join(a.dir, "journal"), os.DirFS(filepath.Join(a.dir, "exchange"))))
	}, unnoticed},
	{"38 policy or plan altered under its version", func(a *attack) {
		a.exec(chance(a, []string{
			`UPDATE policy SET recycled_days = recycled_days + 1 WHERE version = 2`,
			`UPDATE policy SET swapped_hours = swapped_hours - 1 WHERE version = 1`,
			`UPDATE policy SET purposes = purposes || ',x=exact'`,
			`UPDATE policy SET effective_at = effective_at - interval '1 second' WHERE version = 2`,
			`UPDATE numbering_network SET name = name || 's' WHERE network = 8`,
			`UPDATE numbering_range SET withdrawn = NULL WHERE withdrawn IS NOT NULL`,
			`UPDATE numbering_range SET network = 15 - network WHERE prefix = '234803'`,
			`INSERT INTO numbering_range VALUES (1, '234809', 7, '2020-01-01', NULL)`,
			`DELETE FROM numbering_range WHERE prefix = '234805'`,
			`UPDATE numbering_plan SET digits = 12`,
			`DELETE FROM policy WHERE version = 2`,
		}))
	}, database},
	{"39 supplier's file replaced after an import", func(a *attack) {
		a.exec(fmt.Sprintf(`UPDATE supply_import SET %s WHERE id = (SELECT id FROM supply_import ORDER BY id OFFSET %d LIMIT 1)`, chance(a, []string{
			`file_digest = sha256('other')`, `rows = rows + 1`, `supplier = supplier + 1`, `uid = gen_random_uuid()`, `log_nonce = '\x00112233445566778899aabbccddeeff'`, `state = 'cancelled'`, `dry_run = true`,
			`supplier_name = 'Eight'`, `kind = 'snapshot'`, `as_of = now()`, `refused = refused + 1`,
		}), a.rng.IntN(3)))
	}, database},
	{"40 audit row removed", func(a *attack) {
		a.exec(`DELETE FROM audit WHERE id = (SELECT id FROM audit WHERE at < (SELECT max(hour) FROM audit_hour) + interval '1 hour' ORDER BY random() LIMIT 1)`)
		if a.flip() {
			a.rechain()
		}
	}, unnoticed},
	{"42 erasure as a cover for a deletion", func(a *attack) {
		p := a.pick()
		e := a.load(p)
		inner, hash := e.InnerHash(), e.Hash()
		a.exec(`UPDATE journal_entry SET number = 0, phone_number = '', correlator = '', external_id = '', on_behalf_of = '', options = '', extra = '', nonce = $5`+thisRecord, append(p.args(), inner[:])...)
		if a.flip() {
			return // not listed
		}
		// Listed in an erasure of last month, which the log has counted.
		a.exec(`INSERT INTO journal_erased VALUES ($1, $2, $3, '7d444840-9dc0-41d1-b245-5ffdce74fad4')`, e.RequestID, e.At, hash[:])
	}, unnoticed},
}

// rechain computes the chain of the audit trail anew.
func (a *attack) rechain() {
	a.exec(`DELETE FROM audit_hour`)
	got(audit.ExtendChain(a.ctx, a.pool))
}
