package verify

// UnderWay returns how many commits are under way.
func (v *Verifier) UnderWay() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.flights
}

// Lanes returns how many entities wait.
func (v *Verifier) Lanes() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.queue.lanes)
}
