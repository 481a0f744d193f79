package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
)

// content is one file as an io.ReadSeeker. Seeking costs nothing: a reader at the offset is opened by the first read
// after it, so a range asks the bucket for no byte before its start.
type content struct {
	ctx     context.Context // of the one request that reads it
	blobs   *blob.Bucket
	name    string
	size    int64
	modTime time.Time // zero where the bucket's readers tell another time than its attributes

	offset int64
	reader *blob.Reader
	err    error // the first failure of the bucket, so that Serve can tell it from the client's
}

func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.offset
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("files: seek before the start")
	}
	if offset != c.offset {
		c.closeReader()
		c.offset = offset
	}
	return offset, nil
}

func (c *content) Read(p []byte) (int, error) {
	if c.offset >= c.size {
		return 0, io.EOF
	}
	if c.reader == nil {
		if err := c.open(); err != nil {
			c.err = err
			return 0, err
		}
	}
	n, err := c.reader.Read(p)
	c.offset += int64(n)
	if err != nil && (err != io.EOF || c.offset < c.size) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		c.err = sentinel(err)
	}
	return n, err
}

// open starts reading at the offset. A file that was replaced since the answer's ETag was taken is refused: half of each
// would reach the buyer as one.
func (c *content) open() error {
	reader, err := c.blobs.NewRangeReader(c.ctx, c.name, c.offset, -1, nil)
	if err != nil {
		return sentinel(err)
	}
	if reader.Size() != c.size || !c.modTime.IsZero() && !reader.ModTime().Equal(c.modTime) {
		_ = reader.Close()
		return fmt.Errorf("%w: file was replaced meanwhile", ErrUnavailable)
	}
	c.reader = reader
	return nil
}

func (c *content) closeReader() {
	if c.reader != nil {
		_ = c.reader.Close()
		c.reader = nil
	}
}
