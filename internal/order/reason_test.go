package order_test

import (
	"slices"
	"strings"
	"testing"

	"handover/internal/order"
)

var reasons = []order.Reason{
	order.ReasonItemsUnknown, order.ReasonModeContradicts, order.ReasonNoAddress, order.ReasonPaymentOverdue, order.ReasonPaymentStopped,
	order.ReasonAccessStopped, order.ReasonEmailRefused, order.ReasonEmailConfig, order.ReasonPaymentConfig, order.ReasonEmailExhausted,
	order.ReasonEmailUncertain,
}

func TestEveryReasonSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, r := range reasons {
		if r.Remedy("ORDER") == "" {
			t.Errorf("%s leaves the operator alone", r)
		}
		if !slices.Contains([]order.Step{order.StepPayment, order.StepAccess, order.StepEmail}, r.Step()) {
			t.Errorf("%s stopped the step %q", r, r.Step())
		}
		text, command, found := strings.Cut(r.Remedy("ORDER"), ": starter ")
		if !found || text == "" || strings.HasSuffix(command, ".") || strings.Contains(command, ": ") {
			t.Errorf("%s does not end with the command that finishes it, after a colon: %s", r, r.Remedy("ORDER"))
		}
	}
	if order.Reason("").Remedy("ORDER") != "" || order.Reason("").Step() != "" {
		t.Error("no reason asks for something")
	}
}

func TestWhatIsAboutNoSingleOrderSaysWhatToDoAndNamesNone(t *testing.T) {
	t.Parallel()
	for _, r := range []order.Reason{order.ReasonReconcileStopped, order.ReasonStillWaiting} {
		if text, command, found := strings.Cut(r.Remedy("ORDER"), ": starter "); !found || text == "" || command == "" || strings.Contains(r.Remedy("ORDER"), "ORDER") {
			t.Errorf("%s: %s", r, r.Remedy("ORDER"))
		}
		if r.Step() != "" || r.Settings() {
			t.Errorf("%s stops the step %q, settings %v", r, r.Step(), r.Settings())
		}
	}
}

func TestOnlyPassingFaultsAreRepeated(t *testing.T) {
	t.Parallel()
	for class, final := range map[order.Class]bool{
		order.ClassRetry: false, order.ClassRateLimited: false, order.ClassUnknown: false, "": false,
		order.ClassPermanent: true, order.ClassMisconfigured: true, order.ClassExhausted: true, order.ClassPastWindow: true, order.ClassUncertain: true,
	} {
		if got := class.Final(); got != final {
			t.Errorf("%q final: %v, want %v", class, got, final)
		}
	}
}
