package document

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/google/uuid"
	"golang.org/x/image/draw"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
)

const (
	previewSide    = 1200      // the longer side of a preview
	previewDots    = 40 << 20  // of a picture that is made into one, as inspection allows it
	previewDecoded = 192 << 20 // bytes that its dots take while that is done
	previewStrip   = 64        // rows that are made at a time
	previewQuality = 85
)

// The ways in which there is no preview.
var (
	ErrNoPreview = fault.New(fault.NotFound, "There is no preview of this kind of file. Download it.")
	errTooMany   = fault.New(fault.NotApplicable, "The picture is too large for a preview. Download it.")
	errPicture   = fault.New(fault.NotApplicable, "No preview could be made of this picture. Download it.")
)

// previewing lets one picture be unpacked at a time: it may take a fifth of a
// gigabyte.
var previewing = make(chan struct{}, 1)

// decoders are of the kinds of which there are previews.
var decoders = map[string]struct {
	size func(io.Reader) (image.Config, error)
	all  func(io.Reader) (image.Image, error)
}{
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
}

// Previewed reports whether there are previews of a kind of file.
func Previewed(mediaType string) bool { return decoders[mediaType].all != nil }

// Preview returns a small JPEG of a document that is a PNG or a JPEG. It is made
// of the dots alone, and anew, so that nothing else that the file holds is in it.
// It is a look at the content and stands in the audit trail as such.
func (s *Store) Preview(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) ([]byte, error) {
	d, err := s.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	decode, ok := decoders[d.MediaType]
	if !ok {
		return nil, ErrNoPreview
	}
	_, content, err := s.Content(ctx, id, by, request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // nothing was written
	select {
	case previewing <- struct{}{}:
		defer func() { <-previewing }()
	case <-ctx.Done():
		return nil, fmt.Errorf("document: wait to make a preview: %w", ctx.Err())
	}
	var head bytes.Buffer
	claimed, err := decode.size(io.TeeReader(content, &head))
	if err != nil {
		return nil, errPicture.Because(err)
	}
	if err := checkDots(claimed, bytes.Contains(head.Bytes(), progressive)); err != nil {
		return nil, err
	}
	picture, err := decode.all(io.MultiReader(&head, content))
	if err != nil {
		return nil, errPicture.Because(err)
	}
	var small bytes.Buffer
	if err := jpeg.Encode(&small, shrink(picture), &jpeg.Options{Quality: previewQuality}); err != nil {
		return nil, fmt.Errorf("document: write a preview: %w", err)
	}
	return small.Bytes(), nil
}

// progressive begins the size of a JPEG that comes in several passes, of which
// the decoder keeps all until the last. Where it stands for something else, the
// picture is taken for larger than it is.
var progressive = []byte{0xff, 0xc2}

// checkDots judges the size that a picture claims, before room is made for it.
func checkDots(c image.Config, passes bool) error {
	each := int64(4)
	switch {
	case passes:
		each = 16
	case c.ColorModel == color.RGBA64Model, c.ColorModel == color.NRGBA64Model:
		each = 8
	}
	width, height := int64(c.Width), int64(c.Height)
	if width <= 0 || height <= 0 || width > previewDots || height > previewDots || width*height > previewDots || width*height*each > previewDecoded {
		return errTooMany
	}
	return nil
}

// shrink draws a picture on white paper, no larger than a preview is. It does so
// in strips: what lies between a picture and its smaller self takes 32 bytes for
// each row of the one and column of the other.
func shrink(picture image.Image) image.Image {
	from := picture.Bounds()
	width, height := from.Dx(), from.Dy()
	if longer := max(width, height); longer > previewSide {
		width, height = max(1, width*previewSide/longer), max(1, height*previewSide/longer)
	}
	paper := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(paper, paper.Bounds(), image.White, image.Point{}, draw.Src)
	for top := 0; top < height; top += previewStrip {
		bottom := min(top+previewStrip, height)
		part := image.Rect(from.Min.X, from.Min.Y+top*from.Dy()/height, from.Max.X, from.Min.Y+bottom*from.Dy()/height)
		draw.BiLinear.Scale(paper, image.Rect(0, top, width, bottom), picture, part, draw.Over, nil)
	}
	return paper
}
