package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/config"
)

func TestProcessSettings(t *testing.T) {
	t.Parallel()
	const database = "postgres://shop:hunter2@db.example:5432/handover"
	for name, c := range map[string]struct {
		env  map[string]string
		want config.Process
	}{
		"defaults": {
			env:  map[string]string{"DATABASE_URL": database, "TASK_QUEUE": ""},
			want: config.Process{DatabaseURL: database, ListenAddr: "127.0.0.1:8080", AdminAddr: ":9091", ConfigPath: "handover.toml"},
		},
		"all written": {
			env: map[string]string{
				"DATABASE_URL": database + "\n", "LISTEN_ADDR": "127.0.0.1:1", "ADMIN_ADDR": "[::1]:2",
				"TASK_QUEUE": "shop", "HANDOVER_CONFIG": "/etc/handover.toml",
			},
			want: config.Process{DatabaseURL: database, ListenAddr: "127.0.0.1:1", AdminAddr: "[::1]:2", TaskQueue: "shop", ConfigPath: "/etc/handover.toml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := config.LoadProcess(lookup(c.env), ":9091")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("settings differ (-want +got):\n%s", diff)
			}
			if printed := fmt.Sprint(got); strings.Contains(printed, "hunter2") {
				t.Errorf("the password is printed: %s", printed)
			}
		})
	}
}

func TestProcessProblemsAreReportedTogether(t *testing.T) {
	t.Parallel()
	_, err := config.LoadProcess(lookup(map[string]string{"LISTEN_ADDR": "8080", "ADMIN_ADDR": "localhost:"}), ":9091")
	want := `DATABASE_URL is not set; set it to the Postgres database, like postgres://user:password@host:5432/handover
LISTEN_ADDR is not an address to listen on; write HOST:PORT or :PORT, like :8080
ADMIN_ADDR is not an address to listen on; write HOST:PORT or :PORT, like :8080`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
}
