package archivefile

// DecodeLine reads a line that is expected to be an entry.
func DecodeLine(line string) (e Entry, isBatch bool, err error) {
	var b Batch
	isBatch, err = decodeLine(line, &b, &e)
	return e, isBatch, err
}
