//go:build !linux

package confined

import "errors"

// LowerPriority changes nothing: the service runs on Linux, and elsewhere only on the machines of
// its developers.
func LowerPriority() error { return errors.ErrUnsupported }
