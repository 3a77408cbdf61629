package verify

// InFlight returns how many batches are on their way.
func (v *Verifier) InFlight() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.inFlight
}

// Lanes returns how many entities have requests in the queue.
func (v *Verifier) Lanes() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.queue.lanes)
}
