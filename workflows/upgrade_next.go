//go:build upgradetest

package workflows

import (
	"go.temporal.io/sdk/workflow"

	"handover/activities"
)

// guarded is set to something else, when linking, in the build that shows what happens without GetVersion.
var guarded = "yes"

// beforeEmail is a step that the version before did not have. Orders that are past this point keep to the old story, in
// which they came here without it; all others take the new one.
func (d *delivery) beforeEmail(ctx workflow.Context) {
	if guarded == "yes" && workflow.GetVersion(ctx, "step-before-email", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	var known activities.ReadOrderResult
	_ = d.run(ctx, ledgerPolicy, "A step of the next version", a.ReadOrder, activities.ReadOrderInput{Order: d.in.Key}, &known)
}
