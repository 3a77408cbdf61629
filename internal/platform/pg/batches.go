package pg

// InBatches calls batch until it processes no more rows, and returns the number
// of rows that all calls processed. A single statement over a large backlog would
// exceed the statement timeout, and do so again at every retry.
func InBatches(batch func() (int64, error)) (total int64, err error) {
	for {
		n, err := batch()
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
}
