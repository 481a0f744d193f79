//go:build !upgradetest

package workflows

import "go.temporal.io/sdk/workflow"

// beforeEmail is where the upgrade test builds a next version of the story, with one step more. There is none in any other
// build.
func (*delivery) beforeEmail(workflow.Context) {}
