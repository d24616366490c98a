# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Read the exchange schedules of fors: libforsched for Python.

    import forsched

    with forsched.open("/net/fors/schedule") as schedule:
        me = schedule.find_guid(0x0002c90300001234)
        for flow in schedule.phases(me):
            if flow.to is not None:
                send(flow.to, flow.dlid, flow.src_path_bits)
            if flow.from_ is not None:
                receive(flow.from_)
            barrier()

The idea: each call of the C library is one method here, through ctypes; what it says is not said again. Numbers of servers that
are FORSCHED_NOBODY there are None here, errors are exceptions, memory is looked after. Nothing but the standard library is needed; with
numpy Schedule.arrays() gives the whole plan at once. The library is libforsched.so.0, or what FORSCHED_LIBRARY names.
"""
from __future__ import annotations

import ctypes
import os
import select
import threading
import time
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from enum import IntEnum
from typing import Any, Iterator, NamedTuple, Optional, Union

__all__ = ["Code", "Error", "Flow", "Heartbeat", "Hop", "Info", "More", "Piece", "Schedule", "Send", "Server", "Sizes", "Watch", "follow", "job_path",
           "open", "open_memory", "version", "wait_epoch"]

_NOBODY = 0xFFFFFFFF
_NO_SL = 0xFF


class Code(IntEnum):
    """What went wrong: enum forsched_err."""
    OK = 0
    ERANGE = 1
    EFILE = 2
    EFORMAT = 3
    ENOTFOUND = 4
    EWITHDRAWN = 5
    ECHANGED = 6
    ENOMEM = 7


class Error(Exception):
    """A sentence for a person; code says which kind of error it is."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = Code(code)


class Server(NamedTuple):
    """A host's port that takes part in the exchange."""
    guid: int
    lid: int
    leaf: int
    rank: int
    lmc: int
    desc: str


class Flow(NamedTuple):
    """What one server does in one phase. None: nobody."""
    phase: int
    to: Optional[int]
    from_: Optional[int]
    spine: int
    dlid: int
    in_dlid: int
    path: int
    in_path: int
    src_path_bits: int


class Send(NamedTuple):
    """What one server sends in one phase: what its address handle wants, and no more. sl None: the schedule does not say."""
    phase: int
    to: int
    dlid: int
    src_path_bits: int
    sl: Optional[int]


class Hop(NamedTuple):
    """A switch on the way of a flow; port: out of it, 0 at the last one, where the server is."""
    guid: int
    port: int


class Info(NamedTuple):
    """A schedule as a whole."""
    epoch: int
    fingerprint: int
    nservers: int
    nphases: int
    nleaves: int
    nlanes: int
    method: str
    reason: str
    name: str


class More(NamedTuple):
    """What a schedule has besides; what only version 2 of the format tells is "" or 0 in one of version 1."""
    job: str  # whose servers exchange; "": all of the fabric
    fabric_epoch: int  # under which the tables that it goes over were first published
    version: int
    nswitches: int
    nways: int


class Sizes(NamedTuple):
    """How much a schedule sends. Without a demand: one message of size 1 from each to each, phases of length 1."""
    length: int  # of all phases one after another
    granule: int  # all pieces are whole multiples of it
    checksum: int  # of the demand
    has_demand: bool
    is_unit: bool  # sizes are numbers of messages of one size, which the schedule does not know


class Piece(NamedTuple):
    """What goes in a phase: `bytes` bytes of a message from `offset` on, of `total`; in_...: what comes."""
    bytes: int
    offset: int
    total: int
    in_bytes: int
    in_offset: int
    in_total: int


class Heartbeat(NamedTuple):
    """Does a subnet manager stand behind the schedule?"""
    unix_ms: int
    epoch: int
    age_ms: int
    is_stale: bool


# --- the library ----------------------------------------------------------------------------------------------------

class _Error(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 512)]


class _Server(Structure):
    _fields_ = [("guid", c_uint64), ("lid", c_uint16), ("leaf", c_uint16), ("rank", c_uint16), ("lmc", c_uint8), ("desc", c_char * 65)]


class _Flow(Structure):
    _fields_ = [("to", c_uint32), ("from_", c_uint32), ("spine", c_uint64), ("dlid", c_uint16), ("in_dlid", c_uint16),
                ("path", c_uint8), ("in_path", c_uint8), ("src_path_bits", c_uint8), ("reserved", c_uint8)]


class _Info(Structure):
    _fields_ = [("epoch", c_uint64), ("fingerprint", c_uint64), ("nservers", c_uint32), ("nphases", c_uint32), ("nleaves", c_uint32),
                ("nlanes", c_uint32), ("method", c_char_p), ("reason", c_char_p), ("name", c_char_p)]


class _More(Structure):
    _fields_ = [("job", c_char_p), ("fabric_epoch", c_uint64), ("version", c_uint32), ("nswitches", c_uint32), ("nways", c_uint32),
                ("reserved", c_uint32)]


class _Hop(Structure):
    _fields_ = [("guid", c_uint64), ("port", c_uint8), ("reserved", c_uint8 * 7)]


class _Sizes(Structure):
    _fields_ = [("length", c_uint64), ("granule", c_uint64), ("checksum", c_uint32), ("has_demand", c_uint8), ("is_unit", c_uint8),
                ("reserved", c_uint8 * 2)]


class _Piece(Structure):
    _fields_ = [("bytes", c_uint64), ("offset", c_uint64), ("total", c_uint64), ("in_bytes", c_uint64), ("in_offset", c_uint64),
                ("in_total", c_uint64)]


class _Heartbeat(Structure):
    _fields_ = [("unix_ms", c_uint64), ("epoch", c_uint64), ("age_ms", c_int64)]


_SCHEDULE, _WHY = c_void_p, POINTER(_Error)
_LOOK_MS = 250  # a thread that waits sees that another one has closed what it waits for

# name: what it returns, what it takes
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "open": (c_int, [c_char_p, POINTER(_SCHEDULE), _WHY]),
    "open_memory": (c_int, [c_char_p, c_size_t, c_char_p, POINTER(_SCHEDULE), _WHY]),
    "close": (None, [_SCHEDULE]),
    "info": (None, [_SCHEDULE, POINTER(_Info)]),
    "check": (c_int, [_SCHEDULE, _WHY]),
    "copy": (c_int, [_SCHEDULE, POINTER(c_void_p), POINTER(c_size_t), _WHY]),
    "server": (c_int, [_SCHEDULE, c_uint32, POINTER(_Server)]),
    "find_guid": (c_int, [_SCHEDULE, c_uint64, POINTER(c_uint32), _WHY]),
    "find_lid": (c_int, [_SCHEDULE, c_uint16, POINTER(c_uint32), _WHY]),
    "flow": (c_int, [_SCHEDULE, c_uint32, c_uint32, POINTER(_Flow)]),
    "prepare": (c_int, [_SCHEDULE, c_uint32, _WHY]),
    "newest": (c_int, [_SCHEDULE, POINTER(c_uint64), _WHY]),
    "open_newer": (c_int, [_SCHEDULE, POINTER(_SCHEDULE), _WHY]),
    "heartbeat": (c_int, [_SCHEDULE, POINTER(_Heartbeat), _WHY]),
    "heartbeat_is_stale": (c_int, [POINTER(_Heartbeat)]),
    "strerror": (c_char_p, [c_int]),
    "version": (c_char_p, []),
    "more": (None, [_SCHEDULE, POINTER(_More)]),
    "sl": (c_int, [_SCHEDULE, c_uint32, c_uint32, POINTER(c_uint8)]),
    "way": (c_int, [_SCHEDULE, c_uint32, c_uint32, POINTER(_Hop), c_uint32, POINTER(c_uint32), _WHY]),
    "job_path": (c_int, [c_char_p, c_char_p, POINTER(c_void_p), _WHY]),
    "own_guid": (c_int, [_SCHEDULE, c_int, POINTER(c_uint64), _WHY]),
    "path_index": (c_int, [_SCHEDULE, POINTER(c_uint8), _WHY]),
    "sizes": (None, [_SCHEDULE, POINTER(_Sizes)]),
    "phase_bytes": (c_int, [_SCHEDULE, c_uint32, POINTER(c_uint64)]),
    "piece": (c_int, [_SCHEDULE, c_uint32, c_uint32, POINTER(_Piece)]),
    "role": (c_int, [_SCHEDULE, c_uint32, POINTER(c_uint32)]),
    "watch_open": (c_int, [c_char_p, POINTER(c_void_p), _WHY]),
    "watch_close": (None, [c_void_p]),
    "watch_fd": (c_int, [c_void_p]),
    "watch_newest": (c_int, [c_void_p, POINTER(c_uint64), _WHY]),
    "watch_wait": (c_int, [c_void_p, c_uint64, c_int, POINTER(c_uint64), _WHY]),
}
# an older library, which opens version 1 only, has none of them
_SINCE_1_2 = {"more", "sl", "way", "watch_open", "watch_close", "watch_fd", "watch_newest", "watch_wait", "job_path", "own_guid", "path_index",
              "sizes", "phase_bytes", "piece", "role"}


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(os.environ.get("FORSCHED_LIBRARY", "libforsched.so.0"))
    for name, (result, arguments) in _FUNCTIONS.items():
        if name in _SINCE_1_2 and not hasattr(library, f"forsched_{name}"):
            continue
        function = getattr(library, f"forsched_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_lib = _load()
_libc_free = ctypes.CDLL(None).free
_libc_free.restype, _libc_free.argtypes = None, [c_void_p]


def _text(raw: Optional[bytes]) -> str:
    """Node descriptions are bytes; what is no UTF-8 survives as os.fsdecode() has it."""
    return (raw or b"").decode("utf-8", "surrogateescape")


def _demand(code: int, error: Optional[_Error] = None) -> None:
    if code:
        text = _text(error.text) if error is not None and error.text else _text(_lib.forsched_strerror(code))
        raise Error(code, text)


def _number(number: int) -> Optional[int]:
    return None if number == _NOBODY else number


def _limited(value: int, bits: int, what: str) -> int:
    """ctypes would cut a number that does not fit, and so name somebody else."""
    if not 0 <= value < 1 << bits:
        raise Error(Code.ERANGE, f"{what} {value} is out of range")
    return value


def _flow(phase: int, raw: _Flow) -> Flow:
    return Flow(phase, _number(raw.to), _number(raw.from_), raw.spine, raw.dlid, raw.in_dlid, raw.path, raw.in_path, raw.src_path_bits)


# --- what the library has given ---------------------------------------------------------------------------------------

class _Held(c_void_p):
    """A schedule of the library, which is closed when nobody refers to it any more.

    That is what makes close() safe: it only lets go of it, and a thread that is in a call has a reference of its own (the argument of
    the call). So each method takes it once, and uses what it took to its end.
    """
    keep: Any = None  # bytes that the library reads

    def __del__(self, close: Any = _lib.forsched_close) -> None:
        if self.value:
            close(self)


class _HeldWatch(c_void_p):
    """The same of a watch."""

    def __del__(self, close: Any = getattr(_lib, "forsched_watch_close", None)) -> None:
        if self.value:
            close(self)


def _info_of(handle: _Held) -> _Info:
    """Its texts are the schedule's: they are there as long as the caller has the handle."""
    raw = _Info()
    _lib.forsched_info(handle, byref(raw))
    return raw


def _more_of(handle: _Held) -> _More:
    raw = _More(b"", _info_of(handle).epoch, 1, 0, 0)
    if hasattr(_lib, "forsched_more"):
        _lib.forsched_more(handle, byref(raw))
    return raw


def _server_of(handle: _Held, number: int) -> Server:
    raw = _Server()
    _demand(_lib.forsched_server(handle, _limited(number, 32, "server"), byref(raw)))
    return Server(raw.guid, raw.lid, raw.leaf, raw.rank, raw.lmc, _text(raw.desc))


def _sl_of(handle: _Held, number: int, phase: int) -> Optional[int]:
    if not hasattr(_lib, "forsched_sl"):
        return None
    raw = c_uint8()
    _demand(_lib.forsched_sl(handle, _limited(number, 32, "server"), _limited(phase, 32, "phase"), byref(raw)))
    return None if raw.value == _NO_SL else raw.value


def _row_of(handle: _Held, number: int) -> ctypes.Array[_Flow]:
    """All that a server does, as the library has it: 40 bytes a phase."""
    error = _Error()
    _demand(_lib.forsched_prepare(handle, _limited(number, 32, "server"), byref(error)), error)
    row, ask = (_Flow * _info_of(handle).nphases)(), _lib.forsched_flow
    for phase, raw in enumerate(row):
        _demand(ask(handle, number, phase, byref(raw)))
    return row


def _way_of(handle: _Held, number: int, phase: int) -> list[Hop]:
    if not hasattr(_lib, "forsched_way"):
        return []
    error, room, count = _Error(), 0, c_uint32(8)
    at = _limited(number, 32, "server"), _limited(phase, 32, "phase")
    while count.value > room:  # seldom twice
        room = count.value
        hops = (_Hop * room)()
        _demand(_lib.forsched_way(handle, *at, hops, room, byref(count), byref(error)), error)
    return [Hop(hop.guid, hop.port) for hop in hops[:count.value]]


def _newer_than(handle: _Held) -> Optional[_Held]:
    error, newer = _Error(), _Held()
    _demand(_lib.forsched_open_newer(handle, byref(newer), byref(error)), error)
    return newer if newer.value else None


def _add_pieces(handle: _Held, numpy: Any, made: dict[str, Any]) -> None:
    names, raw = ("bytes", "in_bytes", "offset", "in_offset"), _Piece()
    for name in names:
        made[name] = numpy.zeros(made["to"].shape, "uint64")
    for phase, number in numpy.ndindex(made["to"].shape):
        _demand(_lib.forsched_piece(handle, number, phase, byref(raw)))
        for name in names:
            made[name][phase, number] = getattr(raw, name)


# --- schedules ------------------------------------------------------------------------------------------------------

class Schedule:
    """A schedule, open. Any number of threads may use it at the same time, and close() or refresh() it meanwhile.

    A call that has begun ends with the schedule that it began with, and so does an iterator (phases, sends, ways) from its first step
    on; the file is let go of when the last of them is done. Calls that begin after close() raise ValueError. Numbers of servers are those
    of one schedule: threads that ask several things that belong together, beside one that refreshes, want newer(), and each its own.
    """

    def __init__(self, handle: _Held, keep: Any = None):
        handle.keep = keep
        self._handle: Optional[_Held] = handle
        self._turn = threading.Lock()  # of close() and refresh(): what is closed stays so

    def close(self) -> None:
        """Done with it. Twice is no error."""
        with self._turn:
            self._handle = None

    def __enter__(self) -> Schedule:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            info = self.info
        except ValueError:
            return "<forsched.Schedule, closed>"
        return f"<forsched.Schedule {info.name!r}, epoch {info.epoch}, {info.nservers} servers, {info.nphases} phases>"

    @property
    def _open(self) -> _Held:
        handle = self._handle
        if handle is None:
            raise ValueError("the schedule is closed")
        return handle

    # --- the whole

    @property
    def info(self) -> Info:
        handle = self._open
        raw = _info_of(handle)
        return Info(raw.epoch, raw.fingerprint, raw.nservers, raw.nphases, raw.nleaves, raw.nlanes, _text(raw.method), _text(raw.reason),
                    _text(raw.name))

    @property
    def more(self) -> More:
        handle = self._open
        raw = _more_of(handle)
        return More(_text(raw.job), raw.fabric_epoch, raw.version, raw.nswitches, raw.nways)

    @property
    def epoch(self) -> int:
        return self.info.epoch

    @property
    def job(self) -> str:
        """The name of the job whose servers exchange; "": all servers of the fabric."""
        return self.more.job

    @property
    def fabric_epoch(self) -> int:
        """The epoch under which the tables that the plan goes over were first published."""
        return self.more.fabric_epoch

    @property
    def nservers(self) -> int:
        return self.info.nservers

    @property
    def nphases(self) -> int:
        """0: the schedule is withdrawn, info.reason says why."""
        return self.info.nphases

    @property
    def path_index(self) -> Optional[int]:
        """The one path index of all flows, for who adds one number to the base LIDs of all peers; None: flows differ in it."""
        error, raw = _Error(), c_uint8()
        code = _lib.forsched_path_index(self._open, byref(raw), byref(error))
        if code == Code.ENOTFOUND:
            return None
        _demand(code, error)
        return raw.value

    def check(self) -> None:
        """Read and check all of it now; afterwards no look-up can fail."""
        error = _Error()
        _demand(_lib.forsched_check(self._open, byref(error)), error)

    def copy(self) -> bytes:
        """The bytes of the file, for open_memory() in another process."""
        error, raw, size = _Error(), c_void_p(), c_size_t()
        _demand(_lib.forsched_copy(self._open, byref(raw), byref(size), byref(error)), error)
        try:
            return ctypes.string_at(raw, size.value)
        finally:
            _libc_free(raw)

    # --- servers

    def server(self, number: int) -> Server:
        return _server_of(self._open, number)

    @property
    def servers(self) -> list[Server]:
        """All of them, by number."""
        handle = self._open
        return [_server_of(handle, number) for number in range(_info_of(handle).nservers)]

    def find_guid(self, guid: int) -> int:
        """The number of the server with this port GUID. Error with ENOTFOUND or EWITHDRAWN."""
        error, number = _Error(), c_uint32()
        _demand(_lib.forsched_find_guid(self._open, _limited(guid, 64, "GUID"), byref(number), byref(error)), error)
        return number.value

    def own_guid(self, rank: Optional[int] = None) -> int:
        """The port GUID of the server that this process runs on, for find_guid(): by FORSCHED_SERVER or FORSCHED_MAP in the
        environment, else the InfiniBand port of this host that is in the schedule. `rank`: in MPI's world, None: it has none."""
        error, guid = _Error(), c_uint64()
        number = -1 if rank is None else _limited(rank, 31, "rank")
        _demand(_lib.forsched_own_guid(self._open, number, byref(guid), byref(error)), error)
        return guid.value

    def find_lid(self, lid: int) -> int:
        """The number of the server that has this LID, its base LID or any other."""
        error, number = _Error(), c_uint32()
        _demand(_lib.forsched_find_lid(self._open, _limited(lid, 16, "LID"), byref(number), byref(error)), error)
        return number.value

    # --- the exchange

    def prepare(self, number: int) -> None:
        """Read and check what server `number` does now, so that flow() and phases() for it cannot fail later."""
        error = _Error()
        _demand(_lib.forsched_prepare(self._open, _limited(number, 32, "server"), byref(error)), error)

    def flow(self, number: int, phase: int) -> Flow:
        """What server `number` does in `phase`."""
        raw = _Flow()
        _demand(_lib.forsched_flow(self._open, _limited(number, 32, "server"), _limited(phase, 32, "phase"), byref(raw)))
        return _flow(phase, raw)

    def phases(self, number: int) -> Iterator[Flow]:
        """What server `number` does, phase by phase: also where it is idle, for an idle phase has to be waited out."""
        for phase, raw in enumerate(_row_of(self._open, number)):
            yield _flow(phase, raw)

    def sends(self, number: int) -> Iterator[Send]:
        """What server `number` sends, and nothing else: of each phase in which it sends, its service level included."""
        handle = self._open
        for phase, raw in enumerate(_row_of(handle, number)):
            if raw.to != _NOBODY:
                yield Send(phase, raw.to, raw.dlid, raw.src_path_bits, _sl_of(handle, number, phase))

    def sl(self, number: int, phase: int) -> Optional[int]:
        """The service level that the flow has to use; None: the schedule, or this library, does not say."""
        return _sl_of(self._open, number, phase)

    def way(self, number: int, phase: int) -> list[Hop]:
        """The switches that the flow of server `number` in `phase` crosses; none: it sends to nobody, or the schedule does not say."""
        return _way_of(self._open, number, phase)

    def ways(self, number: int) -> Iterator[list[Hop]]:
        """The way of each flow of server `number`, phase by phase: zip(phases(number), ways(number)) has both."""
        handle = self._open
        for phase in range(_info_of(handle).nphases):
            yield _way_of(handle, number, phase)

    # --- how much

    @property
    def sizes(self) -> Sizes:
        raw = _Sizes()
        _lib.forsched_sizes(self._open, byref(raw))
        return Sizes(raw.length, raw.granule, raw.checksum, bool(raw.has_demand), bool(raw.is_unit))

    def phase_bytes(self, phase: int) -> int:
        """The length of a phase: that of its longest piece."""
        raw = c_uint64()
        _demand(_lib.forsched_phase_bytes(self._open, _limited(phase, 32, "phase"), byref(raw)))
        return raw.value

    def piece(self, number: int, phase: int) -> Piece:
        """What of its messages server `number` sends and receives in `phase`."""
        raw = _Piece()
        _demand(_lib.forsched_piece(self._open, _limited(number, 32, "server"), _limited(phase, 32, "phase"), byref(raw)))
        return Piece(raw.bytes, raw.offset, raw.total, raw.in_bytes, raw.in_offset, raw.in_total)

    def role(self, number: int) -> tuple[bool, bool]:
        """Does server `number` send, does it receive?"""
        raw = c_uint32()
        _demand(_lib.forsched_role(self._open, _limited(number, 32, "server"), byref(raw)))
        return bool(raw.value & 1), bool(raw.value & 2)

    def arrays(self) -> dict[str, Any]:
        """The whole plan as numpy arrays [phase, server]: to, from_ and sl (-1: nobody, not told), spine, dlid, in_dlid, path, in_path,
        src_path_bits; of a demand also bytes, in_bytes, offset and in_offset."""
        import numpy  # only here: everything else does without

        kinds = {"to": "int64", "from_": "int64", "spine": "uint64", "dlid": "uint16", "in_dlid": "uint16", "path": "uint8",
                 "in_path": "uint8", "src_path_bits": "uint8"}
        handle = self._open
        info, version = _info_of(handle), _more_of(handle).version
        nphases, nservers = info.nphases, info.nservers
        made = {name: numpy.zeros((nphases, nservers), kind) for name, kind in kinds.items()}
        made["sl"] = numpy.full((nphases, nservers), -1, "int8")
        for number in range(nservers):
            row = numpy.ctypeslib.as_array(_row_of(handle, number))
            for name in kinds:
                made[name][:, number] = row[name]
            for phase in range(nphases) if version > 1 else ():
                level = _sl_of(handle, number, phase)
                made["sl"][phase, number] = -1 if level is None else level
        if version > 2:
            _add_pieces(handle, numpy, made)
        for name in ("to", "from_"):
            made[name][made[name] == _NOBODY] = -1
        return made

    # --- the next epoch

    def newest(self) -> int:
        """The epoch of the file as it is now: some microseconds."""
        error, epoch = _Error(), c_uint64()
        _demand(_lib.forsched_newest(self._open, byref(epoch), byref(error)), error)
        return epoch.value

    def newer(self) -> Optional[Schedule]:
        """A newer schedule, open, or None; this one stays."""
        newer = _newer_than(self._open)
        return None if newer is None else Schedule(newer)

    def refresh(self) -> bool:
        """Become the newer schedule, when there is one. Where nobody is in the middle of an exchange."""
        newer = _newer_than(self._open)
        if newer is None:
            return False
        with self._turn:
            if _info_of(newer).epoch > _info_of(self._open).epoch:  # another thread may have been faster
                self._handle = newer
        return True

    def heartbeat(self) -> Heartbeat:
        """The heartbeat that lies beside the file. Error with EFILE: there is none."""
        error, raw = _Error(), _Heartbeat()
        _demand(_lib.forsched_heartbeat(self._open, byref(raw), byref(error)), error)
        return Heartbeat(raw.unix_ms, raw.epoch, raw.age_ms, bool(_lib.forsched_heartbeat_is_stale(byref(raw))))


def open(path: Union[str, bytes, os.PathLike[Any]]) -> Schedule:  # pylint: disable=redefined-builtin
    """Open the schedule in a file, or in the folder where a file `schedule` lies."""
    error, handle = _Error(), _Held()
    _demand(_lib.forsched_open(os.fsencode(path), byref(handle), byref(error)), error)
    return Schedule(handle)


def open_memory(data: bytes, name: str = "memory") -> Schedule:
    """The same from bytes, which Schedule.copy() gave in another process. `name` opens error texts."""
    error, handle = _Error(), _Held()
    kept = bytes(data)
    _demand(_lib.forsched_open_memory(kept, len(kept), os.fsencode(name), byref(handle), byref(error)), error)
    return Schedule(handle, kept)


def follow(path: Union[str, bytes, os.PathLike[Any]]) -> Iterator[Schedule]:
    """The schedule, again and again, each time the newest one: for programs that exchange for ever.

    It may be a withdrawn one (nphases 0): do then what you would do without. A file that cannot be read at the moment leaves the
    schedule what it was. The schedule is closed when the loop is left.
    """
    with open(path) as schedule:
        while True:
            yield schedule
            try:
                schedule.refresh()
            except Error as error:
                if error.code not in (Code.EFILE, Code.EFORMAT, Code.ECHANGED):
                    raise


class Watch:
    """Tells of newer epochs of a file (or of the file `schedule` in a folder), within a millisecond on a file system of this machine.

    It has a fileno(), for select, selectors and asyncio's add_reader(): readable means that newest() may say something new. Any number of
    threads may use it, and close() it: who waits for it then gets a ValueError.
    """

    def __init__(self, path: Union[str, bytes, os.PathLike[Any]]):
        error, handle = _Error(), _HeldWatch()
        self._handle: Optional[_HeldWatch] = None
        self._turn = threading.Lock()  # of looking: the library wants one thread at a time
        _demand(_lib.forsched_watch_open(os.fsencode(path), byref(handle), byref(error)), error)
        self._handle = handle

    def close(self) -> None:
        """Done with it. Twice is no error."""
        self._handle = None

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def _open(self) -> _HeldWatch:
        handle = self._handle
        if handle is None:
            raise ValueError("the watch is closed")
        return handle

    def _look(self, epoch: c_uint64, error: _Error) -> int:
        handle = self._open
        with self._turn:
            return int(_lib.forsched_watch_newest(handle, byref(epoch), byref(error)))

    def fileno(self) -> int:
        return int(_lib.forsched_watch_fd(self._open))

    def newest(self) -> int:
        """The epoch of the file as it is now. Error with EFILE: there is none yet."""
        error, epoch = _Error(), c_uint64()
        _demand(self._look(epoch, error), error)
        return epoch.value

    def wait(self, after: int = 0, timeout: Optional[float] = None) -> Optional[int]:
        """An epoch above `after`, as soon as there is one; None when `timeout` seconds have passed."""
        error, epoch = _Error(), c_uint64()
        after, end = _limited(after, 64, "epoch"), None if timeout is None or timeout < 0 else time.monotonic() + timeout
        while True:
            code = self._look(epoch, error)
            if not code and epoch.value > after:
                return epoch.value
            left = _LOOK_MS if end is None else 1000 * (end - time.monotonic())
            if left <= 0:
                break
            self._sleep(min(left, _LOOK_MS))
        if code not in (Code.EFILE, Code.EFORMAT):
            _demand(code, error)
        return None

    def _sleep(self, ms: float) -> None:
        """Until there may be something new, or so long."""
        handle, poll = self._open, select.poll()
        poll.register(_lib.forsched_watch_fd(handle), select.POLLIN)
        poll.poll(ms)


def job_path(path: Union[str, bytes, os.PathLike[Any]], job: Optional[str] = None) -> str:
    """The schedule that a process of this job has to follow: path/jobs/JOB when there is one, else path.

    job None: what FORSCHED_JOB in the environment says, else SLURM_JOB_ID, else no job.
    """
    error, raw = _Error(), c_void_p()
    name = None if job is None else os.fsencode(job)
    _demand(_lib.forsched_job_path(os.fsencode(path), name, byref(raw), byref(error)), error)
    try:
        return os.fsdecode(ctypes.string_at(raw.value or 0))
    finally:
        _libc_free(raw)


def wait_epoch(path: Union[str, bytes, os.PathLike[Any]], after: int = 0, timeout: Optional[float] = None) -> Optional[int]:
    """Wait for an epoch above `after`: Watch.wait() for who waits once."""
    with Watch(path) as watch:
        return watch.wait(after, timeout)


def version() -> str:
    """The version of fors that the library belongs to."""
    return _text(_lib.forsched_version())
