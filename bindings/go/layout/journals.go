// Code generated from the constants of colo; DO NOT EDIT.
// Made by `cargo xtask gen` from the constants of colo; do not edit.

package layout

// Offsets of journals and the registry in bytes, and their constants: docs/journal-format.md.

// What every file begins with, and what nothing exceeds.
const (
	LayoutHash        = uint64(0xd45ada3bf1e1cc83)
	FormatVersion     = 4
	ControlMagicWord  = uint64(0x4c4e524a4f4c4f43)
	LockMagicWord     = uint64(0x4b434f4c4f4c4f43)
	RegistryMagicWord = uint64(0x544145534f4c4f43)
	LineBytes         = 64
	WordBytes         = 8
	MinCapacity       = 65536
	MaxCapacity       = uint64(0x1000000000)
	MaxPayload        = 1048576
	MaxSeats          = 1024
	MaxTopics         = 4096
	MaxPosition       = uint64(0x8000000000000000)
	MaxName           = 63
	MaxBatch          = 2097152
)

// A frame's header: bytes from the frame's start.
const (
	FrameCommit   = 0
	FrameLength   = 8
	FrameId       = 12
	FrameFlags    = 14
	FrameTime     = 16
	FrameTopic    = 24
	FrameEpoch    = 28
	FramePayload  = 32
	FrameVoid     = 32768
	FrameAppended = 16384
	FrameRecord   = 16383
)

// The control file: bytes from its start; cursors: from their line's.
const (
	ControlMagic          = 0
	ControlVersion        = 8
	ControlLayoutHash     = 16
	ControlId             = 24
	ControlCapacity       = 32
	ControlTables         = 40
	ControlCreated        = 48
	ControlMaxPayload     = 56
	ControlName           = 64
	ControlWriter         = 128
	ControlWriterStart    = 136
	ControlEpoch          = 144
	ControlWriterState    = 152
	ControlFirst          = 192
	ControlIncarnation    = 200
	ControlIdentity       = 208
	ControlHead           = 256
	ControlFrames         = 264
	ControlLastTime       = 272
	ControlTally          = 280
	ControlIntent         = 320
	ControlFull           = 384
	ControlWakes          = 392
	ControlGated          = 512
	ControlLoose          = 640
	ControlDurable        = 768
	ControlDurableWaiters = 896
	ControlMarks          = 1024
	ControlCursors        = 1536
	CursorPosition        = 0
	CursorLost            = 8
	CursorGaps            = 16
	CursorFrames          = 24
	CursorKept            = 32
	CursorOwed            = 40
	ControlClasses        = 5
	ControlMarkCount      = 64
)

// The registry: bytes from its start; from WAIT on: from the start of a seat's record.
const (
	RegistryMagic             = 0
	RegistryVersion           = 8
	RegistryLayoutHash        = 16
	RegistrySeats             = 24
	RegistryNamespace         = 32
	RegistryPhase             = 64
	RegistryClockKind         = 128
	RegistryClockBase         = 136
	RegistryClockEpoch        = 144
	RegistryClockScale        = 152
	RegistryClockOffset       = 160
	RegistryFences            = 512
	RegistryNotify            = 528
	RegistryNotifyBell        = 0
	RegistryNotifyRelay       = 8
	RegistryRecords           = 4096
	RegistryWait              = 0
	RegistryPid               = 64
	RegistryStart             = 72
	RegistryGeneration        = 80
	RegistryState             = 88
	RegistryKind              = 96
	RegistryExit              = 104
	RegistryAsked             = 112
	RegistryHeartbeat         = 128
	RegistryCpu               = 136
	RegistryName              = 192
	RegistryCounters          = 256
	RegistryBell              = 512
	RegistryBellAll           = 568
	RegistryRelay             = 640
	RegistryAnswers           = 704
	RegistryUndelivered       = 744
	RegistryAtRisk            = 752
	RegistryMoreCounters      = 768
	RegistryLaterCounters     = 576
	RegistryNotifyWords       = 2
	RegistryRecordWords       = 128
	RegistryCounterCount      = 32
	RegistryBellWords         = 8
	RegistryAllCounterCount   = 64
	RegistryLaterCounterCount = 8
)

// The lock file.
const (
	LockMagic      = 0
	LockIdentity   = 8
	LockWords      = 2
	LockWriterByte = 64
	LockSeatBytes  = 128
)
