package cli

import (
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forgetCode takes the program's code out of the process: the start ran through most of it, and what is needed again comes
// back from the file's pages in the system's cache, when it is needed. Only mappings that are executed are touched, which
// nothing has written to, so nothing can be lost. That it could not be done is no failure.
func forgetCode() {
	maps, err := os.ReadFile("/proc/self/maps")
	program, err2 := os.Readlink("/proc/self/exe")
	if err != nil || err2 != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		// "00401000-01a3c000 r-xp 00001000 fe:00 1234   /path"
		field := strings.Fields(line)
		if len(field) < 6 || field[1] != "r-xp" || field[5] != program {
			continue
		}
		from, to, _ := strings.Cut(field[0], "-")
		begin, err := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err != nil || err2 != nil || end <= begin {
			continue
		}
		address := uintptr(begin)
		code := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&address))), end-begin) // #nosec G103
		_ = unix.Madvise(code, unix.MADV_DONTNEED)
	}
}

// forgetZeros takes what holds nothing but zeros out of the process, as Go itself does with memory that is free: it is zero again when it is read.
// It begins and ends at pages, as everything of that size does in Go. That it could not be done is no failure.
func forgetZeros(zeros []byte) {
	_ = unix.Madvise(zeros, unix.MADV_DONTNEED)
}
