package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/order"
)

// sendEmail has the newest generation accepted by the email provider, and then whatever newer one was asked for in the
// meantime.
func (d *delivery) sendEmail(ctx workflow.Context) {
	for d.Access == order.AccessGranted && d.emailDue {
		d.sendGeneration(ctx, d.Generation)
	}
}

// sendGeneration ends when the message is accepted, when a person has to decide, when a newer generation takes its place,
// or when access has ended meanwhile. Waits that the provider asks for spend no attempt, and are bounded all the same.
func (d *delivery) sendGeneration(ctx workflow.Context, generation int) {
	superseded := func() bool { return d.Generation != generation || d.Access != order.AccessGranted }
	began := workflow.Now(ctx)
	for !superseded() {
		sent, err := d.attemptEmail(ctx, generation, superseded)
		switch {
		case superseded():
			return
		case err != nil:
			d.stop(ctx, "email", classOf(err), "")
			return
		case sent.Suspended:
			d.emailDue, d.changeDue = false, true // the ledger knows of a change that this run has not heard of
			return
		case sent.WaitSeconds == 0:
			d.Email, d.emailDue = sent.Email, false
			if sent.Email == order.EmailAccepted && d.Reason.Step() == "email" {
				d.Reason = ""
			}
			return
		}
		wait := inSeconds(sent.WaitSeconds)
		if workflow.Now(ctx).Add(wait).Sub(began) > inSeconds(sent.GiveUpSeconds) {
			d.stop(ctx, "email", order.ClassExhausted, "")
			return
		}
		d.sleep(ctx, wait, "The email provider asks to wait", superseded)
	}
}

func (d *delivery) attemptEmail(ctx workflow.Context, generation int, superseded func() bool) (activities.SendAccessEmailResult, error) {
	options := d.cfg.Email.options(fmt.Sprintf("Send the access email, generation %d", generation))
	options.TaskQueue = d.cfg.EmailQueue
	sending, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, options))
	f := workflow.ExecuteActivity(sending, a.SendAccessEmail, activities.SendAccessEmailInput{Order: d.in.Key, Generation: generation})
	d.attend(ctx, func() bool { return f.IsReady() || superseded() }, f)
	var sent activities.SendAccessEmailResult
	if !f.IsReady() {
		cancel()
		return sent, nil
	}
	return sent, f.Get(ctx, &sent)
}

// run executes one activity and keeps taking signals and updates while it is under way.
func (d *delivery) run(ctx workflow.Context, p Policy, summary string, activity, in, result any) error {
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, p.options(summary)), activity, in)
	d.attend(ctx, f.IsReady, f)
	return f.Get(ctx, result)
}

// sleep waits, and keeps taking signals and updates, until the time is over or something else ends the wait.
func (d *delivery) sleep(ctx workflow.Context, wait time.Duration, summary string, over func() bool) {
	timed, cancel := workflow.WithCancel(ctx)
	defer cancel()
	timer := workflow.NewTimerWithOptions(timed, wait, workflow.TimerOptions{Summary: summary})
	d.attend(ctx, func() bool { return timer.IsReady() || over() }, timer)
}

// classOf reads the class that an activity's error carries. An attempt that died without an answer, or a budget that
// ran out under passing faults, is spent; whether the last call arrived is then unknown.
func classOf(err error) order.Class {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		class := order.Class(application.Type())
		if class.Final() {
			return class
		}
		if class == order.ClassUnknown {
			return order.ClassUnknown
		}
		return order.ClassExhausted
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return order.ClassUnknown
	}
	return order.ClassExhausted
}
