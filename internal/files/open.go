// Package files serves the shop's files from a bucket: a folder on this machine, S3, Google Cloud Storage or Azure.
package files

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	"gocloud.dev/gcerrors"
)

var (
	// ErrMissing means that the bucket has no file of the name.
	ErrMissing = errors.New("file is not in the bucket")
	// ErrUnavailable means that the bucket could not be asked or did not let us read.
	ErrUnavailable = errors.New("bucket is not available")
)

// Bucket is where the shop's files are.
type Bucket struct {
	blobs  *blob.Bucket
	root   *os.Root // of a folder; nil for others
	folder bool     // its times of change are exact and the same wherever they are asked
}

// Open opens the bucket of a gocloud.dev/blob URL: file:///abs/path, s3://name?region=…, gs://name or azblob://name
// (https://gocloud.dev/howto/blob/). A folder must exist; the others are first asked when a file is wanted.
func Open(ctx context.Context, bucketURL string) (*Bucket, error) {
	u, err := url.Parse(bucketURL)
	if err != nil || u.Scheme == "" {
		return nil, errors.New("files: bucket is no URL: write file:///abs/path, s3://…, gs://… or azblob://…")
	}
	var root *os.Root
	if u.Scheme == "file" {
		if u, err = folder(u); err != nil {
			return nil, err
		}
		name := u.Path
		if u.Host == "." {
			name = "." + u.Path
		}
		if root, err = os.OpenRoot(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("files: folder %s: %w", name, err)
		}
	}
	blobs, err := blob.DefaultURLMux().OpenBucketURL(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("files: open bucket %s://%s: %w", u.Scheme, u.Host, err)
	}
	return &Bucket{blobs: blobs, root: root, folder: u.Scheme == "file"}, nil
}

// folder checks a file URL and keeps the driver from wanting its own metadata files beside the shop's.
func folder(u *url.URL) (*url.URL, error) {
	if u.Host != "" && u.Host != "." && u.Host != "localhost" {
		return nil, fmt.Errorf("files: bucket file://%s%s names a host: write three slashes, file:///%s%s", u.Host, u.Path, u.Host, u.Path)
	}
	name := u.Path
	if u.Host == "." {
		name = "." + u.Path
	}
	query := u.Query()
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist) && query.Get("create_dir") == "":
		return nil, fmt.Errorf("files: folder %s does not exist: create it, or change bucket in [files]", name)
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("files: %s is not a folder: change bucket in [files]", name)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("files: folder %s: %w", name, err)
	}
	if !query.Has("metadata") {
		query.Set("metadata", "skip")
	}
	clone := *u
	clone.RawQuery = query.Encode()
	return &clone, nil
}

// Close releases the bucket.
func (b *Bucket) Close() error {
	if b.root != nil {
		_ = b.root.Close()
	}
	return b.blobs.Close()
}

// leadsOut says that a name of a folder leads out of it by a symbolic link: whoever may put files there must not be able to
// have others of this machine sold.
func (b *Bucket) leadsOut(name string) bool {
	if b.root == nil {
		return false
	}
	f, err := b.root.Open(name)
	if err == nil {
		_ = f.Close()
		return false
	}
	var of *os.PathError
	return errors.As(err, &of) && strings.Contains(of.Err.Error(), "escapes")
}

// Has says whether the bucket has the file. Errors wrap ErrUnavailable.
func (b *Bucket) Has(ctx context.Context, name string) (bool, error) {
	if b.leadsOut(name) {
		return false, nil
	}
	_, err := b.blobs.Attributes(ctx, name)
	if err == nil {
		return true, nil
	}
	if err = sentinel(err); errors.Is(err, ErrMissing) {
		return false, nil
	}
	return false, err
}

// sentinel keeps the class of a driver's error and drops its text, which names files and accounts.
func sentinel(err error) error {
	code := gcerrors.Code(err)
	if code == gcerrors.NotFound {
		return ErrMissing
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Canceled)
	}
	return fmt.Errorf("%w: %s", ErrUnavailable, code)
}
