package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// journal is an append-only file of JSON lines. A nil journal keeps nothing.
type journal struct{ file *os.File }

// openJournal reads what an earlier process wrote. A last line without its end was never answered for, so it is cut
// off; anything else that cannot be read is an error, because a judge must not guess.
func openJournal(path string) (*journal, []entry, error) {
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, nil, err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	var entries []entry
	for n, line := range bytes.Split(data[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, nil, fmt.Errorf("%s line %d is damaged: remove the file to start afresh: %w", path, n+1, err)
		}
		entries = append(entries, e)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := file.Truncate(int64(whole)); err != nil {
		file.Close()
		return nil, nil, err
	}
	return &journal{file: file}, entries, nil
}

// append hands one line to the operating system. That survives a kill of the process, which is all that is promised.
func (j *journal) append(e entry) error {
	if j == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(line, '\n'))
	return err
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
