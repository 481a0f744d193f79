package workflows_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/flow"
	"handover/workflows"
)

var record = flag.Bool("record", false, "record the histories again, on the real servers, before replaying them")

// Orders that are under way outlive a deployment: what a new version of the workflow does with their histories must be
// what the old one did. A change that this test refuses needs workflow.GetVersion, and a history of its own.
func TestRecordedHistoriesReplay(t *testing.T) {
	if *record {
		recordHistories(t)
	}
	files := recorded(t)
	if len(files) < 32 {
		t.Fatalf("only %d recorded histories, want all thirty-two: go test ./workflows -run Replay -record", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if err := replay(t, file, workflows.New(config()).Deliver); err != nil {
				t.Error(err)
			}
		})
	}
}

// The shop may change every setting while orders are open: the worker that replays them has the new ones.
func TestRecordedHistoriesReplayUnderOtherSettings(t *testing.T) {
	t.Parallel()
	for name, factor := range map[string]float64{"halved": 0.5, "doubled": 2, "zero": 0, "very large": 1e5} {
		cfg := config()
		scale(t, reflect.ValueOf(&cfg).Elem(), factor)
		for _, file := range recorded(t) {
			t.Run(name+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				if err := replay(t, file, workflows.New(cfg).Deliver); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// scale multiplies every number in the settings, those of a later version too. One attempt keeps a second at least: the
// settings refuse less, as Temporal does.
func scale(t *testing.T, v reflect.Value, factor float64) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scale(t, v.Field(i), factor)
			if v.Type().Field(i).Name == "StartToClose" {
				v.Field(i).SetInt(max(v.Field(i).Int(), int64(time.Second)))
			}
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(float64(v.Int()) * factor))
	case reflect.Float64:
		v.SetFloat(v.Float() * factor)
	case reflect.String:
		v.SetString("other_" + v.String())
	default:
		t.Fatalf("a setting of kind %s cannot be scaled", v.Kind())
	}
}

// TestReplayRefusesAnotherSequence shows that the test above can fail.
func TestReplayRefusesAnotherSequence(t *testing.T) {
	t.Parallel()
	var a *activities.Activities
	swapped := func(ctx workflow.Context, in flow.Input) (flow.State, error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: day})
		for _, step := range []any{a.GrantAccess, a.ConfirmPayment, a.SendAccessEmail} {
			if err := workflow.ExecuteActivity(ctx, step, in).Get(ctx, nil); err != nil {
				return flow.State{}, err
			}
		}
		return flow.State{}, nil
	}
	for _, file := range recorded(t) {
		if err := replay(t, file, swapped); err == nil {
			t.Errorf("%s replays with its steps swapped", filepath.Base(file))
		}
	}
}

func recorded(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	must(t, err)
	return files
}

func replay(t *testing.T, file string, deliver func(workflow.Context, flow.Input) (flow.State, error)) error {
	t.Helper()
	replayer := worker.NewWorkflowReplayer()
	replayer.RegisterWorkflowWithOptions(deliver, workflow.RegisterOptions{Name: flow.DeliverName})
	return replayer.ReplayWorkflowHistoryFromJSONFile(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), file)
}

var (
	license    = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}`)
	token      = regexp.MustCompile(`/d/|[^A-Za-z0-9_-][A-Za-z0-9_-]{43}[^A-Za-z0-9_-]`)
	address    = regexp.MustCompile(`[A-Za-z0-9._+-]+@[A-Za-z0-9-]+\.[A-Za-z]`)
	credential = regexp.MustCompile(`sk_(test|live)_|rk_(test|live)_|\bre_|whsec_`)
)

// What a history holds is kept for as long as Temporal keeps it, and is shown to everybody who may see its pages.
func TestRecordedHistoriesHoldNothingOfTheBuyer(t *testing.T) {
	t.Parallel()
	for _, file := range recorded(t) {
		texts := everything(t, file)
		if len(texts) < 50 || !strings.Contains(strings.Join(texts, "\n"), "cs_test_") {
			t.Fatalf("%s: only %d texts were found, without the session: the payloads have not been decoded", file, len(texts))
		}
		for _, text := range texts {
			lower := strings.ToLower(text)
			for _, needle := range []string{buyer, secondBuyer, "zephyrine", "quill", "ottoline", stripeKey, resendKey, linkSecret, "shop.example", "guide.pdf"} {
				if strings.Contains(lower, strings.ToLower(needle)) {
					t.Errorf("%s holds %q: %s", file, needle, text)
				}
			}
			for _, pattern := range []*regexp.Regexp{license, token, address, credential} {
				if found := pattern.FindString(" " + text + " "); found != "" {
					t.Errorf("%s holds what %s finds, %q: %s", file, pattern, found, text)
				}
			}
		}
	}
}

func TestPatternsOfTheHistoryCheckFindWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	for text, pattern := range map[string]*regexp.Regexp{
		"8KX2M-0ZQ4T-8KX2M-0ZQ4T-8KX2M": license, "https://shop.example/d/abc": token,
		` "` + strings.Repeat("aB3_-", 8) + `abc" `: token, "Alex <alex@example.com>": address, "sk_test_1": credential, " re_1": credential, "whsec_1": credential,
	} {
		if !pattern.MatchString(text) {
			t.Errorf("%s does not find %q", pattern, text)
		}
	}
}

// everything lists all texts of a history, with what is encoded in base64 decoded.
func everything(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	var history any
	must(t, json.Unmarshal(content, &history))
	var texts []string
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, inner := range v {
				texts = append(texts, name)
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case string:
			texts = append(texts, v)
			if decoded, err := base64.StdEncoding.DecodeString(v); err == nil {
				texts = append(texts, string(decoded))
			}
		}
	}
	walk(history)
	return texts
}
