package main

import (
	"context"
	"os"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// nextStep is what the next version's story has before each email, and the version before has not.
const nextStep = "StepOfTheNextVersion"

// nextVersion makes workers whose story has one step more.
func nextVersion(open func(client.Client, string, worker.Options) worker.Worker) func(client.Client, string, worker.Options) worker.Worker {
	return func(c client.Client, queue string, o worker.Options) worker.Worker {
		o.Interceptors = append(o.Interceptors, &nextStory{guarded: os.Getenv("NEXT_VERSION_GUARDED") != "no"})
		w := open(c, queue, o)
		w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: nextStep})
		return w
	}
}

type nextStory struct {
	interceptor.WorkerInterceptorBase
	guarded bool
}

func (s *nextStory) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &inbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, s.guarded}
}

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase
	guarded bool
}

func (i *inbound) Init(out interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&outbound{interceptor.WorkflowOutboundInterceptorBase{Next: out}, i.guarded})
}

type outbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	guarded bool
}

// ExecuteActivity has the new step done before an email. Orders that are past this point keep to the old story, in which
// they came here without it; all others take the new one.
func (o *outbound) ExecuteActivity(ctx workflow.Context, name string, arguments ...any) workflow.Future {
	const change = "step-before-email"
	if name == "SendAccessEmail" && !(o.guarded && workflow.GetVersion(ctx, change, workflow.DefaultVersion, 1) == workflow.DefaultVersion) {
		step := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: workflow.GetInfo(ctx).TaskQueueName, StartToCloseTimeout: 10 * time.Second,
		})
		_ = o.Next.ExecuteActivity(step, nextStep).Get(ctx, nil)
	}
	return o.Next.ExecuteActivity(ctx, name, arguments...)
}
