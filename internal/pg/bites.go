package pg

// InBites calls bite until it finds nothing more to do, and returns how much it
// did in all. One statement over a large backlog would run into its timeout,
// and again the next time.
func InBites(bite func() (int64, error)) (total int64, err error) {
	for {
		n, err := bite()
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
}
