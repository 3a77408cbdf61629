package config_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/server/config"
)

// Types of documents are separated by commas, and durations may be days.
func TestDocumentSettingsAreRead(t *testing.T) {
	t.Parallel()
	cfg := load(t, "LINEPROOF_DOCUMENTS_REQUIRED=TAX_ID, Spectrum licence", "LINEPROOF_DOCUMENTS_RESTRICT=true",
		"LINEPROOF_DOCUMENT_RETENTION=TAX_ID=3650d, Spectrum licence=48h,OTHER=1d")
	if want := []string{"TAX_ID", "Spectrum licence"}; !slices.Equal(cfg.DocumentsRequired, want) || !cfg.DocumentsRestrict {
		t.Errorf("required: %q, restrict %v", cfg.DocumentsRequired, cfg.DocumentsRestrict)
	}
	const day = 24 * time.Hour
	if want := (config.Retention{"TAX_ID": 3650 * day, "Spectrum licence": 2 * day, "OTHER": day}); !maps.Equal(cfg.DocumentRetention, want) {
		t.Errorf("kept: %v, want %v", cfg.DocumentRetention, want)
	}
	if cfg := load(t, "LINEPROOF_DOCUMENTS_REQUIRED="); len(cfg.DocumentsRequired) != 0 {
		t.Errorf("set to nothing: %q", cfg.DocumentsRequired)
	}
	if cfg := load(t, "LINEPROOF_DOCUMENT_RETENTION="); len(cfg.DocumentRetention) != 0 {
		t.Errorf("retention without a setting: %v", cfg.DocumentRetention)
	}
}
