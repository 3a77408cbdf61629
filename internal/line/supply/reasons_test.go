package supply_test

import "testing"

// Whatever word an operator has for the reason of a bar or an end, the line is barred or has ended: an
// unknown word counts as OTHER. Without any the event is refused, and so is a flag of an unknown level.
func TestUnknownReasonsOfAnOperatorAreOther(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	for i, words := range [][3]string{
		{"BARRED", "STOLEN", "APPLIED"}, {"ENDED", "PORTED_OUT", "APPLIED"}, {"ENDED", "FRAUD", "APPLIED"}, {"BARRED", "", "REFUSED MISSING"}, {"ENDED", "", "REFUSED MISSING"},
	} {
		item := s.event(number(1+i), words[0], 0)
		item.Reason = words[1]
		s.wantLate(mtn, item, words[2])
	}
	s.wantStatus(number(1), "BARRED MTN")
	if n := s.count(`SELECT count(*) FROM line_event WHERE code = 6`); n != 2 {
		t.Errorf("%d events have the reason OTHER", n)
	}
}
