package stack

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// postgresHome is where a cluster asked for in dir really lives. Root's directories are closed to the user that the
// server has to run as, so root's clusters live under /var/tmp.
func postgresHome(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil || os.Geteuid() != 0 {
		return dir, err
	}
	return fmt.Sprintf("/var/tmp/handover-%x", sha256.Sum256([]byte(dir)))[:len("/var/tmp/handover-")+16], nil
}

// RemovePostgres stops the cluster of dir, if one was left running, and deletes it.
func RemovePostgres(dir string) error {
	home, err := postgresHome(dir)
	if err != nil {
		return err
	}
	if err := stopLeftPostgres(home); err != nil {
		return err
	}
	for _, path := range []string{home, dir} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("delete a Postgres cluster: %w", err)
		}
	}
	return nil
}

// openHome makes the cluster's directories, and starts afresh where dir was deleted and its home elsewhere was not: the
// two carry the same mark. It returns the home.
func openHome(dir string, account *Account) (string, error) {
	home, err := postgresHome(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if home != dir {
		if err := checkOwner(home, account); err != nil {
			return "", err
		}
		here, _ := os.ReadFile(filepath.Join(dir, "mark"))
		there, _ := os.ReadFile(filepath.Join(home, "mark"))
		if len(here) == 0 || !bytes.Equal(here, there) {
			if err := RemovePostgres(dir); err != nil {
				return "", err
			}
			mark := []byte(rand.Text())
			if err := errors.Join(writeFile(filepath.Join(home, "mark"), mark), writeFile(filepath.Join(dir, "mark"), mark)); err != nil {
				return "", err
			}
		}
	}
	return home, errors.Join(os.Chmod(home, 0o700), account.own(home))
}

// checkOwner refuses a home that somebody else made first: /var/tmp is open to everybody.
func checkOwner(home string, account *Account) error {
	info, err := os.Lstat(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !known || (owner.Uid != 0 && (account == nil || int(owner.Uid) != account.UID)) {
		return fmt.Errorf("%s belongs to somebody else; delete it", home)
	}
	return nil
}

// ensureCluster makes the cluster with a password of its own where there is none yet, and returns the programs to run it
// with. An interrupted attempt leaves nothing that looks like a cluster.
func (p *Postgres) ensureCluster(ctx context.Context, installed []binaries) error {
	text, err := os.ReadFile(filepath.Join(p.data(), "PG_VERSION"))
	if err == nil {
		major, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		for _, b := range installed {
			if b.major == major {
				p.bin = b
				return p.readPassword()
			}
		}
		return fmt.Errorf("the local cluster was made by Postgres %d, which is no longer installed; install it, or start over with: make clean", major)
	}
	p.bin = installed[0]
	for _, leftover := range []string{p.data(), p.data() + ".new"} {
		if err := os.RemoveAll(leftover); err != nil {
			return err
		}
	}
	if err := writeFile(p.passwordFile(), []byte(rand.Text())); err != nil {
		return err
	}
	if err := p.account.own(p.passwordFile()); err != nil {
		return err
	}
	if err := p.readPassword(); err != nil {
		return err
	}
	if err := p.initdb(ctx); err != nil {
		return err
	}
	return os.Rename(p.data()+".new", p.data())
}

func (p *Postgres) readPassword() error {
	text, err := os.ReadFile(p.passwordFile())
	if err != nil {
		return fmt.Errorf("the local cluster's password is gone; start over with make clean: %w", err)
	}
	p.password = strings.TrimSpace(string(text))
	return nil
}

func (p *Postgres) initdb(ctx context.Context) error {
	locale := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		locale = "C" // the only one there that sorts by bytes on every release
	}
	command := exec.CommandContext(ctx, p.bin.initdb, "-D", p.data()+".new", "-U", "postgres", "-E", "UTF8", "--locale="+locale,
		"--auth=scram-sha-256", "--pwfile="+p.passwordFile(), "--no-sync", "--no-instructions")
	command.Dir = p.home
	command.SysProcAttr = p.account.attributes()
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("make a Postgres cluster: %w\n%s", err, lastLines(string(text), 10))
	}
	return nil
}
