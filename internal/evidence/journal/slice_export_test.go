package journal

// InSlices sets of about how many records slices are, and how many one may have before it
// is read in two halves; 0 leaves the constant.
func (c *Checker) InSlices(entries, maxEntries int) *Checker {
	c.sliceEntries, c.maxEntries = entries, maxEntries
	return c
}

// WithoutWait makes an archiver that takes a standby as it is.
func (a *Archiver) WithoutWait() *Archiver {
	b := *a
	b.trustStandby = true
	return &b
}
