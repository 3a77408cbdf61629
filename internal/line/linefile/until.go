package linefile

import (
	"context"
	"io"
)

// Until returns a reader of r that ends with ctx, also within a line that decompresses to
// gigabytes.
func Until(ctx context.Context, r io.Reader) io.Reader { return &until{ctx, r} }

type until struct {
	ctx context.Context //nolint:containedctx // a Read has none of its own
	r   io.Reader
}

// Read implements [io.Reader].
func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p) //nolint:wrapcheck // the errors of r are its own, such as io.EOF
}
