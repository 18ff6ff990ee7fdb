package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Exit codes of all programs of a platform.
const (
	ExitDone       = 0
	ExitFailed     = 1
	ExitUsage      = 2
	ExitNoMaster   = 69
	ExitPermission = 77
)

// Error that ends the process with a code.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

func fail(code int, format string, args ...any) error {
	return &Error{code, fmt.Errorf(format, args...)}
}

// CodeOf an error that ends the process.
func CodeOf(err error) int {
	var own *Error
	if errors.As(err, &own) {
		return own.Code
	}
	if errors.Is(err, os.ErrPermission) {
		return ExitPermission
	}
	return ExitFailed
}

const (
	protocol     = 2
	answerWithin = 60 * time.Second
	longestLine  = 16 << 20
)

// instance is the folder of one.
type instance struct {
	name string
	root string
	// custom is true where COLO_ROOT says where it lies.
	custom bool
}

func findInstance(name string) (instance, error) {
	inside := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' }
	if name == "" || len(name) > 32 || strings.ContainsFunc(name, func(c rune) bool { return !inside(c) }) {
		return instance{}, fail(ExitUsage, "`%s` is no name of an instance: 1 to 32 of a-z, 0-9, - and _", name)
	}
	root, custom := os.Getenv("COLO_ROOT"), true
	if root == "" {
		root, custom = fmt.Sprintf("/dev/shm/colo-%d", os.Getuid()), false
	}
	return instance{name, filepath.Clean(root), custom}, nil
}

func (i instance) folder() string { return filepath.Join(i.root, i.name) }

func (i instance) journals() string { return filepath.Join(i.folder(), "journals") }

// rings of a journal lie beside it, or on a file system of huge pages.
func (i instance) rings(huge *string) string {
	if huge == nil {
		return i.journals()
	}
	user := fmt.Sprintf("colo-%d", os.Getuid())
	if i.custom {
		user += strings.ReplaceAll(i.root, "/", "-")
	}
	return filepath.Join(*huge, user, i.name)
}

// demandOwn refuses folders of others: what is read there decides what this process writes.
func (i instance) demandOwn() error {
	for _, path := range []string{i.root, i.folder()} {
		handle, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
		if errors.Is(err, syscall.ENOENT) {
			return fail(ExitNoMaster, "there is no instance `%s` (%s): start it with `colo up`", i.name, path)
		}
		if err != nil {
			return fail(ExitPermission, "%s: %w", path, err)
		}
		var found syscall.Stat_t
		err = syscall.Fstat(handle, &found)
		_ = syscall.Close(handle)
		if err != nil {
			return err
		}
		if int(found.Uid) != os.Geteuid() || found.Mode&(syscall.S_IWGRP|syscall.S_IWOTH) != 0 {
			return fail(ExitPermission, "%s belongs to another user, or others can write it: it is not used", path)
		}
	}
	return nil
}

// register asks master for the seat of a node.
func register(i instance, node string) (*Assignment, error) {
	connection, err := net.Dial("unix", filepath.Join(i.folder(), "master.sock"))
	if err != nil {
		return nil, fail(ExitNoMaster, "no master runs instance `%s`: %w", i.name, err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(answerWithin))
	request := map[string]any{"register": map[string]any{"version": protocol, "node": node, "pid": os.Getpid()}}
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if _, err := connection.Write(append(line, '\n')); err != nil {
		return nil, fail(ExitNoMaster, "the connection to master broke: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(connection, longestLine))
	if err != nil {
		return nil, fail(ExitNoMaster, "the connection to master broke: %w", err)
	}
	var answer struct {
		Assigned *Assignment `json:"assigned"`
		Refused  *struct {
			Reason string `json:"reason"`
		} `json:"refused"`
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil:
		return nil, fail(ExitFailed, "master's answer is not understood: %w", err)
	case answer.Refused != nil:
		return nil, fail(ExitFailed, "master refuses node `%s`: %s", node, answer.Refused.Reason)
	case answer.Assigned == nil:
		return nil, fail(ExitFailed, "master says nothing of node `%s`: is it of another version?", node)
	}
	return answer.Assigned, nil
}
