package strategy

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

var errHelp = errors.New("help was shown")

const help = `A strategy of an author's own, which runs as a node of a colo platform.

  -i, --instance NAME      instance to join; without it, what COLO_INSTANCE says
      --node NAME          node of the platform file to be; without it, what COLO_NODE says
  -n, --instrument SYMBOL  read this instrument, and only those named so; may be repeated
  -p, --param KEY=VALUE    set a parameter, over what the platform file says; VALUE is JSON, or else text; may be repeated

Example: %s -i demo --node strategy-1 -n SIM001 --param quantity=5
Exit codes: 0 done, 1 failed, 2 usage, 69 no master, 77 not permitted.
`

func parseOptions(arguments []string) (Options, error) {
	options := Options{Params: map[string]json.RawMessage{}}
	rest := arguments[1:]
	for len(rest) > 0 {
		name, value, joined := strings.Cut(rest[0], "=")
		rest = rest[1:]
		if name == "-h" || name == "--help" {
			fmt.Printf(help, filepath.Base(arguments[0]))
			return options, errHelp
		}
		if !joined {
			if len(rest) == 0 {
				return options, usage("%s needs a value; --help says more", name)
			}
			value, rest = rest[0], rest[1:]
		}
		switch name {
		case "-i", "--instance":
			options.Instance = value
		case "--node":
			options.Node = value
		case "-n", "--instrument":
			if value == "" || len(value) > 24 {
				return options, usage("a symbol has 1 to 24 bytes, not `%s`", value)
			}
			options.Symbols = append(options.Symbols, value)
		case "-p", "--param":
			key, text, is := strings.Cut(value, "=")
			if !is || key == "" {
				return options, usage("write KEY=VALUE, as in quantity=5, not `%s`", value)
			}
			parameter := json.RawMessage(text)
			if !json.Valid(parameter) {
				parameter, _ = json.Marshal(text)
			}
			options.Params[key] = parameter
		default:
			return options, usage("`%s` is not known; --help says what is", name)
		}
	}
	return options, nil
}
