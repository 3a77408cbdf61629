package supply_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// portsOf returns a file of ports to AIRTEL with these rows: "id index time".
func portsOf(rows ...string) string {
	var b strings.Builder
	b.WriteString("id,number,type,effectiveAt,network\n")
	for _, r := range rows {
		f := strings.Fields(r)
		var i int
		_, _ = fmt.Sscan(f[1], &i)
		fmt.Fprintf(&b, "%s,%s,PORTED,%s,AIRTEL\n", f[0], number(i), f[2])
	}
	return b.String()
}

// send creates and runs an import of any supplier, which must then be in a state.
func (k *importEnv) send(from supply.Supplier, f supply.ImportForm, content, want string) supply.Import {
	k.t.Helper()
	im, err := k.Begin(k.t.Context(), from, f, "cli")
	if err != nil {
		k.t.Fatal(err)
	}
	return k.run(im, content, want)
}

// base sends the clearing house's base of ports, which two people confirm.
func (k *importEnv) base(house supply.Supplier, content string) supply.Import {
	k.t.Helper()
	im := k.send(house, asOf(k.clock), content, supply.Held)
	if _, err := k.Confirm(k.t.Context(), im.ID, console); err != nil {
		k.t.Fatal(err)
	}
	return k.run(im, content, supply.Finished)
}

func (k *importEnv) ports() line.Span { return k.coverage().Ports }

// The clearing house sends events as a file, and its asOf extends the coverage of PORT alone.
func TestClearingHouseSendsEventsAsAFile(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(k.at(20)), snapshotOf(actives(0, 3)...))
	k.supplyThroughNow("MTN")
	before := k.coverage()
	house := newSupplier(line.ClearingHouse, "")
	form := supply.ImportForm{Kind: linefile.Events, AsOf: k.clock.Add(-time.Hour)}
	im := k.send(house, form, portsOf("p1 1 "+k.ago(1), "p2 2 "+k.ago(2))+"s1,"+number(0)+",SIM_CHANGED,"+k.ago(1)+",\n", supply.Finished)
	k.wantCounts(im, supply.Counts{Changed: 2, Refused: 1})
	k.wantRefused(im, "4 type NOT_ALLOWED")
	if im.Authority != line.ClearingHouse || im.Network != line.Nation {
		t.Errorf("the import is of %s, network %d", im.Authority, im.Network)
	}
	if got := k.row(number(1)).Network; k.plan.Code(got) != "AIRTEL" {
		t.Errorf("the number is with %s", k.plan.Code(got))
	}
	got := k.coverage()
	if !got.Ports.Through.Equal(form.AsOf) || !got.Ports.CompleteSince.IsZero() || got.SIM != before.SIM || got.Lifecycle != before.Lifecycle {
		t.Errorf("the coverage is %+v", got)
	}
	// The same event by a call is the same event.
	k.wantLate(house, supply.Item{ID: "p1", PhoneNumber: number(1), Type: "PORTED", EffectiveAt: k.ago(1), Network: "AIRTEL"}, "DUPLICATE")
}

// The base is held until two people have confirmed it. Then the ports are complete, and the holds
// bind the clearing house: of long ago, and too many at once.
func TestClearingHousesBase(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	house := newSupplier(line.ClearingHouse, "")
	content := portsOf("p1 1 2019-05-01", "p2 2 2024-02-03") + "x,12,PORTED,2019-05-01,AIRTEL\n"
	dry := k.send(house, supply.ImportForm{Kind: linefile.Snapshot, AsOf: k.clock, DryRun: true}, content, supply.Checked)
	if !strings.Contains(dry.Reason, "3 rows") {
		t.Errorf("the dry run says %q", dry.Reason)
	}
	im := k.send(house, asOf(k.clock), content, supply.Held)
	k.wantCounts(im, supply.Counts{Changed: 2, Refused: 1})
	if k.row(number(1)).State != line.StateNone || k.ports() != (line.Span{}) {
		t.Error("a base that is held has changed something")
	}
	if _, err := k.Confirm(t.Context(), im.ID, console); err != nil {
		t.Fatal(err)
	}
	im = k.run(im, content, supply.Finished)
	k.wantCounts(im, supply.Counts{Changed: 2, Refused: 1})
	if got := k.ports(); !got.CompleteSince.Equal(k.clock) || !got.Through.Equal(k.clock) {
		t.Errorf("the coverage of PORT is %+v", got)
	}
	if _, err := k.Begin(t.Context(), house, asOf(k.clock.Add(time.Second)), "cli"); !isFault(err, fault.IncompatibleState) {
		t.Errorf("a second base: %v", err)
	}
	port := func(id string, i, days int) supply.Item {
		return supply.Item{ID: id, PhoneNumber: number(i), Type: "PORTED", EffectiveAt: k.ago(days), Network: "AIRTEL"}
	}
	k.wantLate(house, port("old", 3, 31), "WAITING TOO_OLD")
	k.wantLate(house, port("new", 4, 1), "APPLIED")
	many, rows := strings.Builder{}, make([]string, 1100)
	for i := range rows {
		rows[i] = fmt.Sprintf("+234803%07d,2024-02-03,,ACTIVE,", 1000+i)
	}
	k.importFile(asOf(k.clock.Add(-time.Minute)), snapshotOf(rows...))
	many.WriteString("id,number,type,effectiveAt,network\n")
	for i := range 1020 {
		fmt.Fprintf(&many, "m%d,+234803%07d,PORTED,%s,AIRTEL\n", i, 1000+i, k.clock.Add(-time.Second).Format(time.RFC3339))
	}
	im = k.send(house, supply.ImportForm{Kind: linefile.Events, AsOf: k.clock}, many.String(), supply.Finished)
	if im.Counts.Waiting == 0 || im.Counts.Waiting > 30 {
		t.Errorf("of 1,020 ports at once %d wait", im.Counts.Waiting)
	}
	if through := k.ports().Through; !through.Before(k.clock) {
		t.Errorf("ports wait, but the coverage of PORT reaches %s", through)
	}
}

// A base without a row says that no number was ported. One that cannot be checked first is refused,
// and a base is not voided as a whole.
func TestBaseOfNoPorts(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	house := newSupplier(line.ClearingHouse, "")
	if _, err := k.Begin(t.Context(), house, supply.ImportForm{Kind: linefile.Snapshot, AsOf: k.clock, Once: true}, "cli"); !isFault(err, fault.IncompatibleState) {
		t.Errorf("a base from a pipe: %v", err)
	}
	im := k.base(house, portsOf())
	if got := k.ports(); !got.CompleteSince.Equal(k.clock) {
		t.Errorf("the coverage of PORT is %+v", got)
	}
	if _, err := k.voidable(im); !isFault(err, fault.IncompatibleState) {
		t.Errorf("voiding the base: %v", err)
	}
}

func (k *importEnv) voidable(im supply.Import) (got supply.Import, err error) {
	err = k.InTx(k.t.Context(), func(tx pg.Tx) error {
		got, err = k.CheckVoid(k.t.Context(), tx, im.ID)
		return err
	})
	return got, err
}

// Loaded after the base, an operator's first file adds lines, and is not held for that.
func TestFirstFileAfterTheBaseIsNotHeldForWhatItAdds(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.base(newSupplier(line.ClearingHouse, ""), portsOf("p1 1 2019-05-01"))
	im, err := k.Begin(t.Context(), operator("AIRTEL"), asOf(k.clock), "cli")
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{active(1, "2019-05-01")}
	for i := range 20 {
		rows = append(rows, airtel(i)+",2024-02-03,,ACTIVE,")
	}
	k.wantCounts(k.run(im, snapshotOf(rows...), supply.Finished), supply.Counts{Added: 20, Unchanged: 1})
}

// A sector regulator sends flags as a file. It says nothing about coverage, and sends no state of
// lines.
func TestSectorRegulatorSendsAFile(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(k.at(20)), snapshotOf(actives(0, 2)...))
	k.supplyThroughNow("MTN")
	before := k.coverage()
	bank := newSupplier(line.Sector, "")
	content := "id,number,type,effectiveAt,level\nf1," + number(0) + ",FLAGGED," + k.ago(1) + ",HIGH\nf2," + number(1) + ",BARRED," + k.ago(1) + ",\n"
	im := k.send(bank, supply.ImportForm{Kind: linefile.Events, AsOf: k.clock}, content, supply.Finished)
	k.wantCounts(im, supply.Counts{Changed: 1, Refused: 1})
	k.wantStatus(number(0), "FLAGGED MTN")
	if diff := cmp.Diff(before, k.coverage()); diff != "" {
		t.Errorf("the coverage changed:\n%s", diff)
	}
	if _, err := k.Begin(t.Context(), bank, asOf(k.clock), "cli"); !isFault(err, fault.InvalidArgument) {
		t.Errorf("a snapshot of a sector regulator: %v", err)
	}
}

// A file of the regulator's orders is held until two people have confirmed it.
func TestRegulatorsFileTakesTwoPeople(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(k.at(20)), snapshotOf(actives(0, 2)...))
	k.supplyThroughNow("MTN")
	regulator := supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: console}
	content := "id,number,type,effectiveAt,reason,scope\no1," + number(0) + ",BARRED," + k.ago(1) + ",NIN,HOLDER\n"
	events := supply.ImportForm{Kind: linefile.Events}
	im := k.send(regulator, events, content, supply.Held)
	k.wantStatus(number(0), "NORMAL MTN")
	if _, err := k.Confirm(t.Context(), im.ID, console); err != nil {
		t.Fatal(err)
	}
	k.wantCounts(k.run(im, content, supply.Finished), supply.Counts{Changed: 1})
	k.wantStatus(number(0), "BARRED MTN")
	events.Once = true
	if _, err := k.Begin(t.Context(), regulator, events, "cli"); !isFault(err, fault.IncompatibleState) {
		t.Errorf("orders from a pipe: %v", err)
	}
}

// Suppliers do not wait for each other's files, and see only their own.
func TestImportsOfEachSender(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	events := supply.ImportForm{Kind: linefile.Events}
	house, one, other := newSupplier(line.ClearingHouse, ""), newSupplier(line.Sector, ""), newSupplier(line.Sector, "")
	senders := []supply.Supplier{operator("MTN"), operator("GLO"), house, one, other}
	sent := make([]supply.Import, len(senders))
	for i, from := range senders {
		if err := k.CheckImport(t.Context(), from, events); err != nil {
			t.Fatal(err)
		}
		im, err := k.Begin(t.Context(), from, events, "api")
		if err != nil {
			t.Fatal(err)
		}
		sent[i] = im
		if _, err := k.Begin(t.Context(), from, events, "api"); !errors.Is(err, supply.ErrImportOpen) {
			t.Errorf("a second file of sender %d: %v", i, err)
		}
		if err := k.CheckImport(t.Context(), from, events); !errors.Is(err, supply.ErrImportOpen) {
			t.Errorf("the check of a second file of sender %d: %v", i, err)
		}
	}
	// Another client of the clearing house is the clearing house.
	senders = append(senders, newSupplier(line.ClearingHouse, ""))
	for i, from := range senders {
		list, err := k.ImportsOf(t.Context(), from, 10)
		if err != nil {
			t.Fatal(err)
		}
		want := i
		if i == 5 {
			want = 2
		}
		if len(list) != 1 || list[0].ID != sent[want].ID {
			t.Errorf("sender %d sees %d imports", i, len(list))
		}
		for j := range sent {
			if got := from.Sent(&sent[j], k.plan); got != (j == want) {
				t.Errorf("sender %d sent import %d: %t", i, j, got)
			}
		}
	}
	for _, nobody := range []supply.Supplier{{Actor: audit.Actor{Kind: audit.Client}, Client: uuid.New()}} {
		if _, err := k.Begin(t.Context(), nobody, events, "api"); !isFault(err, fault.PermissionDenied) {
			t.Errorf("nobody's file: %v", err)
		}
	}
}

// A file that was uploaded in the portal is imported like one that was sent to the API.
func TestFileOfThePortalIsImported(t *testing.T) {
	t.Parallel()
	o := newReceiveEnv(t)
	f := asOf(o.clock)
	f.Portal = true
	im, err := o.Receive(t.Context(), operator("MTN"), f, strings.NewReader(snapshotOf(actives(0, 3)...)))
	if err != nil || im.Source != "portal" {
		t.Fatal(im.Source, err)
	}
	o.startImports()
	o.await("the import", 20*time.Second, func() bool {
		got, err := o.Import(t.Context(), im.ID)
		return err == nil && got.State == supply.Finished
	})
	o.await("the deletion of the file", 20*time.Second, func() bool { return len(o.storedFiles()) == 0 })
}
