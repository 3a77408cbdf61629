// The schema of CycloneDX, for TestBillOfMaterialsIsValid: a module of its own, so that nothing of it
// becomes a dependency of the program.
module github.com/lineproof/lineproof/cmd/dist/testdata/schema

go 1.27.0

toolchain go1.27.3

require github.com/CycloneDX/cyclonedx-go v0.9.3
