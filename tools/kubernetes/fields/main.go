// Prints, as JSON with one type in a line, the fields of the API types: how each is named in JSON, its Go type, and when it is left out.
// OpenAPI does not tell these apart: a number that is 0 is left out unless the field is a pointer.
//
// A field is written as flags and type: "?" stands for omitempty, "0" for omitzero, "*" for a pointer; structs are
// named as in OpenAPI, named scalars as "kind:name", named lists and maps as "(name)type". A field of an embedded struct
// has that struct's name as third.
//
// With the argument "messages" it prints how protobuf numbers the fields instead: number and JSON name. A struct that is embedded
// in JSON is a message of its own there: it has no name, but its type as third. "[]" as third says that the lists in this
// field are messages of their own, with the items as field 1.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"

	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	resource "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// Name, type, and the embedded structs around it.
type field []string

var found = map[string][]field{}

// Number, name, and what is odd about it.
type numbered []any

var messages = map[string][]numbered{}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apps.AddToScheme, authentication.AddToScheme, authorization.AddToScheme, autoscalingv1.AddToScheme,
		autoscaling.AddToScheme, batch.AddToScheme, certificates.AddToScheme, coordination.AddToScheme,
		core.AddToScheme, discovery.AddToScheme, events.AddToScheme, networking.AddToScheme, node.AddToScheme,
		policy.AddToScheme, rbac.AddToScheme, resource.AddToScheme, scheduling.AddToScheme, storage.AddToScheme,
		apiextensions.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	for _, of := range scheme.AllKnownTypes() {
		if _, is := of.FieldByName("ObjectMeta"); is {
			describe(of)
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "messages" {
		printLines(messages)
	} else {
		printLines(found)
	}
}

func printLines[T any](all map[string]T) {
	var lines []string
	for name, fields := range all {
		text, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		lines = append(lines, fmt.Sprintf("%q:%s", name, text))
	}
	sort.Strings(lines)
	fmt.Printf("{\n%s\n}\n", strings.Join(lines, ",\n"))
}

func name(of reflect.Type) string {
	path := strings.Replace(of.PkgPath(), "k8s.io", "io.k8s", 1)
	return strings.ReplaceAll(path, "/", ".") + "." + of.Name()
}

func describe(of reflect.Type) string {
	if reflect.PointerTo(of).Implements(unmarshaler) {
		return name(of)
	}
	switch of.Kind() {
	case reflect.Pointer:
		return "*" + describe(of.Elem())
	case reflect.Slice:
		return named(of) + "[]" + describe(of.Elem())
	case reflect.Map:
		return named(of) + "map[" + of.Key().String() + "]" + describe(of.Elem())
	case reflect.Struct:
		if _, done := found[name(of)]; !done {
			found[name(of)] = []field{}
			found[name(of)] = fields(of)
			messages[name(of)] = numbers(of)
		}
		return name(of)
	default:
		if of.PkgPath() == "" {
			return of.String()
		}
		return of.Kind().String() + ":" + of.String()
	}
}

func named(of reflect.Type) string {
	if of.PkgPath() == "" {
		return ""
	}
	return "(" + of.String() + ")"
}

func fields(of reflect.Type) []field {
	all := []field{}
	for i := range of.NumField() {
		one := of.Field(i)
		parts := strings.Split(one.Tag.Get("json"), ",")
		flags := ""
		inline := parts[0] == "" && one.Anonymous
		for _, flag := range parts[1:] {
			switch flag {
			case "omitempty":
				flags += "?"
			case "omitzero":
				flags += "0"
			}
		}
		switch {
		case inline:
			describe(one.Type)
			for _, inner := range fields(one.Type) {
				all = append(all, append(field{inner[0], inner[1], one.Name}, inner[2:]...))
			}
		case parts[0] != "-" && parts[0] != "":
			all = append(all, field{parts[0], flags + describe(one.Type)})
		}
	}
	return all
}

func numbers(of reflect.Type) []numbered {
	all := []numbered{}
	for i := range of.NumField() {
		one := of.Field(i)
		tag := strings.Split(one.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			continue
		}
		number, err := strconv.Atoi(tag[1])
		if err != nil {
			panic(err)
		}
		entry := numbered{number, strings.Split(one.Tag.Get("json"), ",")[0]}
		switch {
		case entry[1] == "":
			entry = append(entry, name(one.Type))
		case holdsWrapped(one.Type):
			entry = append(entry, "[]")
		}
		all = append(all, entry)
	}
	return all
}

// Whether the lists in a field are messages of their own.
func holdsWrapped(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Map:
		return holdsWrapped(of.Elem())
	case reflect.Slice:
		_, is := reflect.PointerTo(of).MethodByName("Unmarshal")
		return is || holdsWrapped(of.Elem())
	default:
		return false
	}
}
