package wire

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/big"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// The samples are made from the platform's own types: every field of every message holds what they say.
func TestMessagesHoldWhatTheSamplesSay(t *testing.T) {
	file, err := os.Open("../../vectors/messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var message Message
	var id uint64
	messages, fields := 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.SplitN(lines.Text(), " ", 4)
		switch words[0] {
		case "#":
		case "message":
			id, _ = strconv.ParseUint(words[1], 10, 16)
			if message = New(uint16(id)); message == nil || reflect.TypeOf(message).Elem().Name() != words[2] {
				t.Fatalf("message %d is no %s here", id, words[2])
			}
			messages++
		case "bytes":
			bytes, err := hex.DecodeString(words[1])
			if err != nil {
				t.Fatal(err)
			}
			if err := message.Decode(bytes); err != nil {
				t.Fatal(err)
			}
			if string(message.AsBytes()) != string(bytes) || message.MessageID() != uint16(id) {
				t.Fatalf("%T does not give back its bytes", message)
			}
			if message.Decode(bytes[1:]) == nil {
				t.Fatalf("%T takes a payload that is too short", message)
			}
		default:
			if found := text(member(reflect.ValueOf(message).Elem(), words[0])); found != words[1] {
				t.Errorf("%T.%s is %s, not %s", message, words[0], found, words[1])
			}
			fields++
		}
	}
	if messages < 30 || fields < 300 {
		t.Fatalf("%d messages, %d fields: the samples are not whole", messages, fields)
	}
}

func member(value reflect.Value, path string) reflect.Value {
	for _, name := range strings.Split(path, ".") {
		if index, err := strconv.Atoi(name); err == nil {
			value = value.Index(index)
			continue
		}
		var camel strings.Builder
		for _, word := range strings.Split(name, "_") {
			camel.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		wanted := camel.String()
		value = value.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, wanted) })
	}
	return value
}

func text(value reflect.Value) string {
	switch held := value.Interface().(type) {
	case WideMoney:
		wide := new(big.Int).Lsh(big.NewInt(held.High), 64)
		return wide.Add(wide, new(big.Int).SetUint64(held.Low)).String()
	case Price:
		return strconv.FormatInt(int64(held), 10)
	case OrderID:
		return strconv.FormatUint(uint64(held), 10)
	case Nanos:
		return strconv.FormatUint(uint64(held), 10)
	}
	if value.Kind() == reflect.Array {
		bytes := make([]byte, value.Len())
		reflect.Copy(reflect.ValueOf(bytes), value)
		return Text(bytes)
	}
	return fmt.Sprint(value.Interface())
}

func TestAValueThatIsNotListedIsRefused(t *testing.T) {
	fill := Fill{Side: SideBuy, Liquidity: LiquidityMaker}
	if err := new(Fill).Decode(fill.AsBytes()); err != nil {
		t.Fatal(err)
	}
	for _, side := range []Side{0, 3, 255} {
		fill.Side = side
		if err := new(Fill).Decode(fill.AsBytes()); err == nil || !strings.Contains(err.Error(), "side") {
			t.Errorf("side %d: %v", side, err)
		}
	}
}
