package node

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Level of a line in the log.
type Level string

// Levels, as all nodes of a platform have them.
const (
	LevelError Level = "ERROR"
	LevelWarn  Level = "WARN"
	LevelInfo  Level = "INFO"
)

// Log one line on standard error, which is the node's log. Reports find the reason of a failure by its form.
func Log(level Level, target, text string) {
	_, _ = os.Stderr.WriteString(logLine(time.Now(), level, target, text))
}

func logLine(now time.Time, level Level, target, text string) string {
	return fmt.Sprintf("[%s %-5s %s] %s\n", now.UTC().Format("2006-01-02T15:04:05.000000Z"), level, target, text)
}

// LogWriter takes what an author logs by the standard library.
type LogWriter struct{ Target string }

// Write one line.
func (w LogWriter) Write(line []byte) (int, error) {
	Log(LevelInfo, w.Target, strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}
