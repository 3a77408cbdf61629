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
	previewSide      = 1200      // pixels of the longer side of a preview
	maxPreviewPixels = 40 << 20  // of the original, as inspection allows
	maxPreviewMemory = 192 << 20 // bytes of the decoded original
	previewStripRows = 64        // rows drawn at a time
	previewQuality   = 85
)

// The errors of Preview.
var (
	ErrNoPreview = fault.New(fault.NotFound, "There is no preview for this type of file. Download it.")
	errTooLarge  = fault.New(fault.NotApplicable, "The image is too large for a preview. Download it.")
	errPicture   = fault.New(fault.NotApplicable, "No preview could be created of this image. Download it.")
)

// previewSlot lets one picture be decoded at a time: that may take a fifth of a
// gigabyte.
var previewSlot = make(chan struct{}, 1)

// decoders are the decoders of the media types that have previews.
var decoders = map[string]struct {
	size func(io.Reader) (image.Config, error)
	all  func(io.Reader) (image.Image, error)
}{
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
}

// Previewed reports whether files of a media type have previews.
func Previewed(mediaType string) bool { return decoders[mediaType].all != nil }

// Preview returns a small JPEG of a document that is a PNG or a JPEG. It is
// encoded anew from the pixels alone, so that it contains nothing else of the
// file. It is audited as an access to the content.
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
	case previewSlot <- struct{}{}:
		defer func() { <-previewSlot }()
	case <-ctx.Done():
		return nil, fmt.Errorf("document: wait to create a preview: %w", ctx.Err())
	}
	var head bytes.Buffer
	config, err := decode.size(io.TeeReader(content, &head))
	if err != nil {
		return nil, errPicture.Because(err)
	}
	if err := checkPixels(config, bytes.Contains(head.Bytes(), progressive)); err != nil {
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

// progressive is the marker of a progressive JPEG, whose passes the decoder keeps
// in memory until the last one. If these bytes occur for another reason, the
// picture is only assumed to need more memory than it does.
var progressive = []byte{0xff, 0xc2}

// checkPixels checks the size in the header of a picture before memory is allocated for it.
func checkPixels(c image.Config, isProgressive bool) error {
	bytesPerPixel := int64(4)
	switch {
	case isProgressive:
		bytesPerPixel = 16
	case c.ColorModel == color.RGBA64Model, c.ColorModel == color.NRGBA64Model:
		bytesPerPixel = 8
	}
	width, height := int64(c.Width), int64(c.Height)
	if width <= 0 || height <= 0 || width > maxPreviewPixels || height > maxPreviewPixels || width*height > maxPreviewPixels || width*height*bytesPerPixel > maxPreviewMemory {
		return errTooLarge
	}
	return nil
}

// shrink draws a picture on a white background, at most as large as a preview. It
// draws in strips, because scaling needs 32 bytes of temporary memory for each row
// of the original and column of the preview.
func shrink(picture image.Image) image.Image {
	from := picture.Bounds()
	width, height := from.Dx(), from.Dy()
	if longer := max(width, height); longer > previewSide {
		width, height = max(1, width*previewSide/longer), max(1, height*previewSide/longer)
	}
	canvas := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(canvas, canvas.Bounds(), image.White, image.Point{}, draw.Src)
	for top := 0; top < height; top += previewStripRows {
		bottom := min(top+previewStripRows, height)
		part := image.Rect(from.Min.X, from.Min.Y+top*from.Dy()/height, from.Max.X, from.Min.Y+bottom*from.Dy()/height)
		draw.BiLinear.Scale(canvas, image.Rect(0, top, width, bottom), picture, part, draw.Over, nil)
	}
	return canvas
}
