//go:build !nocloud

package files_test

import (
	"testing"

	"gocloud.dev/blob"
)

func TestEveryBucketOfTheConfigurationHasItsDriver(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"file", "s3", "gs", "azblob"} {
		if !blob.DefaultURLMux().ValidBucketScheme(scheme) {
			t.Errorf("%s:// has no driver", scheme)
		}
	}
}
