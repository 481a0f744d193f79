package stack

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Account is another user of this machine that a process runs as.
type Account struct {
	Name string
	UID  int
	GID  int
}

// attributes run a child as the account; nil means as this user.
func (a *Account) attributes() *syscall.SysProcAttr {
	if a == nil {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID)}}
}

// own gives the file or directory to the account; nil means that it stays ours.
func (a *Account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, a.UID, a.GID)
}

// databaseAccount is who runs the database server: nil, meaning this user, unless this is root, which Postgres refuses.
func databaseAccount() (*Account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.Atoi(found.Uid)
		gid, errGID := strconv.Atoi(found.Gid)
		if errUID == nil && errGID == nil && uid != 0 {
			return &Account{Name: name, UID: uid, GID: gid}, nil
		}
	}
	return nil, fmt.Errorf("Postgres does not run as root, and there is no user postgres or nobody; run: useradd --system postgres")
}
