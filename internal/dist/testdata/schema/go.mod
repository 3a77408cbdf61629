// The schema of CycloneDX, for TestBillOfMaterialsIsValid: a module of its own, so that nothing of it
// becomes a dependency of the program.
module github.com/lineproof/lineproof/internal/dist/testdata/schema

go 1.26.0

require github.com/CycloneDX/cyclonedx-go v0.9.3
