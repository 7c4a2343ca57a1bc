// Package buildtest tests build.sh: what its knobs leave out of a binary.
package buildtest

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program that links shared libraries where it may.
const program = "package main\n\nimport \"net\"\n\nfunc main() { _, _ = net.LookupHost(\"localhost\") }\n"

func build(t *testing.T, variables ...string) (string, error) {
	t.Helper()
	script, err := filepath.Abs("../build.sh")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n\ngo 1.26\n", "main.go": program} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command("sh", script, filepath.Join(folder, "server"))
	command.Dir, command.Env = folder, append(os.Environ(), variables...)
	text, err := command.CombinedOutput()
	if err != nil {
		return string(text), err
	}
	return filepath.Join(folder, "server"), nil
}

func TestKnobsLeaveOut(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("without a C compiler every Go binary is static: ", err)
	}
	for _, variables := range [][]string{{}, {"STATIC=true"}, {"STRIP=true"}} {
		path, err := build(t, variables...)
		if err != nil {
			t.Fatal(path, err)
		}
		binary, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		libraries, err := binary.ImportedLibraries()
		if err != nil {
			t.Fatal(err)
		}
		wanted := strings.Join(variables, "")
		if static := len(libraries) == 0; static != (wanted == "STATIC=true") {
			t.Errorf("%q: shared libraries %v", wanted, libraries)
		}
		if stripped := binary.Section(".symtab") == nil; stripped != (wanted == "STRIP=true") {
			t.Errorf("%q: stripped %t", wanted, stripped)
		}
		binary.Close()
	}
}

func TestWrongValuesAreRefused(t *testing.T) {
	if text, err := build(t, "STRIP=yes"); err == nil || !strings.Contains(text, "STRIP") {
		t.Errorf("got %q, %v; want an error that names STRIP", text, err)
	}
}
