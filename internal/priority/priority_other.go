//go:build !linux

package priority

import "errors"

// Lower changes nothing: the service runs on Linux, and elsewhere only on the machines of
// its developers.
func Lower() error { return errors.ErrUnsupported }
