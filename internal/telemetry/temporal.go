package telemetry

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/otlptranslator"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// temporalBuckets are the bounds of the SDK's latencies, in seconds. OpenTelemetry's default ones are meant for
// milliseconds and would put every call into the first.
var temporalBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900}

// TemporalHandler puts the Temporal SDK's own metrics (temporal_…) into reg, for client.Options.MetricsHandler. A metric
// that cannot be recorded is logged and never stops a delivery: the SDK's handler would panic by default.
func TemporalHandler(reg prometheus.Registerer) client.MetricsHandler {
	exporter, err := otelprometheus.New(
		otelprometheus.WithRegisterer(reg),
		otelprometheus.WithoutScopeInfo(),
		otelprometheus.WithoutTargetInfo(),
		otelprometheus.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes),
	)
	if err != nil {
		slog.Warn("temporal metrics are off", "error", err)
		return client.MetricsNopHandler
	}
	provider := sdkmetric.NewMeterProvider(
		sdkmetric.WithReader(exporter),
		sdkmetric.WithView(sdkmetric.NewView(
			sdkmetric.Instrument{Name: "*", Kind: sdkmetric.InstrumentKindHistogram},
			sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: temporalBuckets}},
		)),
	)
	return opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:                provider.Meter("temporal-sdk-go"),
		UseMonotonicCounters: true,
		OnError:              func(err error) { slog.Warn("temporal metric not recorded", "error", err) },
	})
}
