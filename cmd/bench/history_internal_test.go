package main

import (
	"path/filepath"
	"testing"
)

func historyReport(low, high, stolen float64) *report {
	return &report{
		Version: "v1", Rounds: 5,
		Ratios:   []ratio{{Name: "rate", Goal: 1, AtLeast: true, Value: summary{(low + high) / 2, low, high}}, {Name: "cpu", Goal: 1, Value: summary{1, 0.9, 1.1}}},
		Variants: []figures{{Variant: variantVerify, ServiceCPU: summary{Median: 40.12345}, Stolen: summary{Median: stolen}}},
	}
}

func TestHistoryKeepsRunsThatSaySomething(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.json")
	for range 2 {
		all, err := readHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := appendHistory(path, all, historyReport(2, 3, 0.01)); err != nil {
			t.Fatal(err)
		}
		if err := appendHistory(path, all, historyReport(2, 3, 0.2)); err == nil {
			t.Error("a run without its cores was added")
		}
	}
	all, err := readHistory(path)
	if err != nil || len(all) != 2 || all[1].Ratios["rate"].Low != 2 || all[1].CPU[variantVerify].Service != 40.123 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestRunIsWorseOnlyBeyondTheNoise(t *testing.T) {
	t.Parallel()
	before := historyReport(2, 3, 0).newEntry()
	for _, tc := range []struct {
		low, high float64
		want      int
	}{{2.5, 3.5, 0}, {1.5, 2.1, 0}, {1.2, 1.9, 1}} {
		if worse := historyReport(tc.low, tc.high, 0).worseThan(&before); len(worse) != tc.want {
			t.Errorf("%v to %v: %v", tc.low, tc.high, worse)
		}
	}
	slower := historyReport(2, 3, 0)
	slower.Ratios[1].Value = summary{1.3, 1.2, 1.4}
	if worse := slower.worseThan(&before); len(worse) != 1 {
		t.Errorf("more CPU: %v", worse)
	}
}
