// Package temporalclient connects to Temporal: the client, the namespace's search attributes, and whether a worker polls.
package temporalclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"handover/internal/flow"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Connect returns a client for the server, namespace and credentials of the standard TEMPORAL_* variables and
// temporal.toml profiles. It does not need the server to be there: calls fail until it is.
func Connect(metrics client.MetricsHandler, log *slog.Logger, identity string) (client.Client, client.Options, error) {
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{})
	if err != nil {
		return nil, options, fmt.Errorf("read the TEMPORAL_* settings: %w", err)
	}
	options.Logger = sdklog.NewStructuredLogger(log)
	options.MetricsHandler = metrics
	options.Identity = identity
	c, err := client.NewLazyClient(options)
	return c, options, err
}

// Address is where the settings say that the server is, and whether the way there is encrypted. It is empty where they cannot
// be read.
func Address() (address string, encrypted bool) {
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{})
	if err != nil {
		return "", false
	}
	return options.HostPort, options.ConnectionOptions.TLS != nil || options.Credentials != nil
}

// ErrNoNamespace means that the server answers, and has no such namespace.
var ErrNoNamespace = errors.New("Temporal has no such namespace (TEMPORAL_NAMESPACE)")

// Healthy says whether the server answers and has the namespace.
func Healthy(ctx context.Context, c client.Client, namespace string) error {
	_, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: named(namespace)})
	if code := status.Code(err); code == codes.PermissionDenied {
		return nil // it is there, and does not tell everybody about itself
	}
	return Explain(err)
}

// Explain says in a person's words why Temporal could not be used. Its own text stays out of it.
func Explain(err error) error {
	var missing *serviceerror.NamespaceNotFound
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing):
		return ErrNoNamespace
	}
	switch serviceerror.ToStatus(err).Code() {
	case codes.Unauthenticated, codes.PermissionDenied:
		return errors.New("Temporal refuses our credentials (TEMPORAL_API_KEY, TEMPORAL_TLS_*)")
	case codes.NotFound:
		return ErrNoNamespace
	}
	return errors.New("Temporal does not answer (TEMPORAL_ADDRESS, TEMPORAL_TLS)")
}

// EnsureAttributes registers our search attributes where that is allowed, and says whether the namespace has them with
// the right types. Registering is not offered everywhere: what counts is what is there afterwards.
func EnsureAttributes(ctx context.Context, c client.Client, namespace string) bool {
	if HasAttributes(ctx, c, namespace) {
		return true
	}
	types := map[string]enumspb.IndexedValueType{}
	for _, name := range attributes {
		types[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	_, _ = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: named(namespace), SearchAttributes: types})
	return HasAttributes(ctx, c, namespace)
}

// HasAttributes asks for the list rather than trusting an answer to adding: an existing name of another type is no error.
func HasAttributes(ctx context.Context, c client.Client, namespace string) bool {
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: named(namespace)})
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(attributes, func(name string) bool {
		return listed.GetCustomAttributes()[name] != enumspb.INDEXED_VALUE_TYPE_KEYWORD
	})
}

var attributes = []string{flow.AttributeEnvironment.GetName(), flow.AttributeState.GetName()}

func named(namespace string) string {
	if namespace == "" {
		return client.DefaultNamespace
	}
	return namespace
}

// KeepAttributes tries until the namespace has the attributes or it is clear that it will not, and calls use with the result.
func KeepAttributes(ctx context.Context, c client.Client, namespace string, use func(bool)) {
	for {
		asked, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := Healthy(asked, c, namespace)
		if err == nil {
			use(EnsureAttributes(asked, c, namespace))
		}
		cancel()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}
