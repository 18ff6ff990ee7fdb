package strategy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// readParams reads `params` over the defaults that are there.
func readParams[Parameters any](text json.RawMessage, into *Parameters) error {
	if len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		err = demandExact(reflect.TypeFor[Parameters](), text)
	}
	if err != nil {
		return fmt.Errorf("%w; see `params` of the strategy in the platform file, and --param", err)
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// demandExact refuses names that encoding/json takes although their case differs: no other language does.
func demandExact(of reflect.Type, text json.RawMessage) error {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if reflect.PointerTo(of).Implements(unmarshaler) {
		return nil
	}
	switch of.Kind() {
	case reflect.Struct, reflect.Map:
		var table map[string]json.RawMessage
		if json.Unmarshal(text, &table) != nil {
			return nil
		}
		fields := map[string]reflect.Type{}
		if of.Kind() == reflect.Struct {
			fieldsOf(of, fields)
		}
		for _, name := range slices.Sorted(maps.Keys(table)) {
			field, is := fields[name]
			if of.Kind() == reflect.Map {
				field, is = of.Elem(), true
			}
			if !is {
				return fmt.Errorf("json: unknown field %q", name)
			}
			if err := demandExact(field, table[name]); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			return nil
		}
		for _, element := range list {
			if err := demandExact(of.Elem(), element); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldsOf a struct by their names in JSON; its own come before those of structs that it embeds.
func fieldsOf(of reflect.Type, into map[string]reflect.Type) {
	var embedded []reflect.Type
	for index := range of.NumField() {
		field := of.Field(index)
		tag := field.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case tag == "-":
			continue
		case field.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
			continue
		case !field.IsExported():
			continue
		case name == "":
			name = field.Name
		}
		if _, is := into[name]; !is {
			into[name] = field.Type
		}
	}
	for _, inner := range embedded {
		fieldsOf(inner, into)
	}
}
