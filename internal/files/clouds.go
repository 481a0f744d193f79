//go:build !nocloud

package files

// The drivers of the clouds are most of what the starter is made of. The local stack and the crash tests have their
// files in a folder and are built with the tag nocloud, which saves minutes on a machine that compiles for the first
// time.
import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
