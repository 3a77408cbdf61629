// Package receipttest makes receipts from a seed, alters them in every way, and asks every
// verifier that there is to judge them: those in Go, JavaScript and Python must say the
// same of each.
package receipttest
