"""The catalogue: each example is told, nothing benign is, and an incident names whose it is."""

import re

import pytest
from caseinputs import INPUTS

from soakproof.clock import NS
from soakproof.records import KernelEvent, decode, encode
from soakproof.watch.catalogue import Process, Signature, load_catalogue
from soakproof.watch.incidents import QUIET_S, Incidents
from soakproof.watch.kernel_log import Line, parse_kmsg

CATALOGUE = load_catalogue()
DMESG = re.compile(r"(?:\w+ *: *\w+ *: )?\[[^\]]*\] ?(.*)")  # plain, and with -T or -x
AMDGPU = re.compile(r"^(?:amdgpu \S+: )?(?:amdgpu: )?(?:\[drm\S*(?: \[amdgpu\])?\] )?(?:\*ERROR\* )?")
EXAMPLES = [(s, example) for s in CATALOGUE.signatures for example in s.examples]


def lines(name: str) -> list[Line]:
    texts = (INPUTS / name).read_text().splitlines()
    if name.endswith(".txt"):
        return [Line(match[1]) for text in texts if (match := DMESG.fullmatch(text))]
    return [line for text in texts if (line := parse_kmsg(text.encode()))]


def replay(name: str, step_s: float = 0.1) -> list[KernelEvent]:
    incidents = Incidents(CATALOGUE, "watch")
    return [incidents.event(line, round(n * step_s * NS)) for n, line in enumerate(lines(name))]


@pytest.mark.parametrize(("signature", "example"), EXAMPLES, ids=[f"{s.id}-{e[:40]}" for s, e in EXAMPLES])
def test_each_example_has_its_own_signature_and_no_other(signature: Signature, example: str) -> None:
    assert [s.id for s in CATALOGUE.signatures if s.pattern.search(example)] == [signature.id]


@pytest.mark.parametrize("message", CATALOGUE.benign)
def test_look_alikes_are_harmless(message: str) -> None:
    assert CATALOGUE.match(message) is None


@pytest.mark.parametrize(
    "head",
    [
        "amdgpu 0000:c6:00.0: ",
        "amdgpu 10000:c6:00.0: amdgpu: ",
        "amdgpu 10000000:c6:00.0: amdgpu: [drm] *ERROR* ",
        "amdgpu 0000:c6:00.0: [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ",
        "[drm:amdgpu_job_timedout] *ERROR* ",
        "[drm] ",
        "amdgpu: ",
    ],
)
def test_what_stands_before_a_message_of_amdgpu_does_not_hide_it(head: str) -> None:
    by_amdgpu = [(s, e) for s, e in EXAMPLES if s.pattern.pattern.startswith("^(?:amdgpu ")]
    assert len({s.id for s, _ in by_amdgpu}) > 30
    missed = [m for s, e in by_amdgpu if not s.pattern.search(m := head + AMDGPU.sub("", e))]
    assert missed == []


@pytest.mark.parametrize(
    ("message", "fault_class", "severity"),
    [
        (
            "mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 5: be00000000800400",
            "machine_check",
            "fatal",
        ),
        ("mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 5: 8c00000000800400", "machine_check", "warn"),
        ("mce: Uncorrected hardware memory error in user-access at 8a398a400", "memory_error", "fatal"),
        ("NVRM: Xid (PCI:0000:01:00 GPU-I:05): 31, pid=7, name=x, Ch 00000010", "xid", "fail"),
        ("NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:01): 79, GPU is gone", "xid", "fatal"),
        ("nvme nvme0: Disabling device after reset failure: -19", "disk", "fail"),
        ("nvme nvme0: I/O tag 12 (100c) QID 3 timeout, completion polled", "disk", "warn"),
        ("xe 0000:03:00.0: [drm] device wedged, needs recovery", "drm_wedged", "fatal"),
        ("amdgpu 0000:c5:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0010]", "gpu_page_fault", "fail"),
        ("ahci 0000:28:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0035]", "iommu", "warn"),
        ("AMD-Vi: Event logged [IO_PAGE_FAULT device=c5:00.0 domain=0x0000]", "iommu", "warn"),
        ("reboot: HARDWARE PROTECTION shutdown (Temperature too high)", "hardware_error", "fatal"),
        ("BUG: Bad page state in process llama-server  pfn:1234", "kernel_oops", "fatal"),
        ("BUG: Bad rss-counter state mm:00000000b583043d type:MM_ANONPAGES val:1", "kernel_bug", "warn"),
    ],
)
def test_the_class_and_severity_of_a_line(message: str, fault_class: str, severity: str) -> None:
    match = CATALOGUE.match(message)
    assert match is not None
    assert (match.signature.fault_class, match.severity) == (fault_class, severity)


def test_the_catalogue_is_whole() -> None:
    assert len({s.id for s in CATALOGUE.signatures}) == len(CATALOGUE.signatures)
    assert all(s.examples and s.what for s in CATALOGUE.signatures)
    assert {s.severity for s in CATALOGUE.signatures} <= {"fatal", "fail", "warn", "info", "by_code"}
    assert set(CATALOGUE.codes.values()) <= {"fatal", "fail", "warn", "info"}


def test_severity_by_code() -> None:
    def severity(code: int) -> str:
        match = CATALOGUE.match(f"NVRM: Xid (PCI:0000:0a:00): {code}, pid=12, name=llama-server, Ch 00000010")
        assert match is not None
        assert match.process == Process("llama-server", 12)
        return match.severity

    assert [severity(code) for code in (79, 31, 45, 13)] == ["fatal", "fail", "warn", "fail"]
    assert {severity(code) for code in (48, 61, 62, 64, 74, 95, 119, 120, 140)} == {"fatal"}
    assert {severity(code) for code in (8, 43, 94, 109, 154)} == {"fail"}
    assert {severity(code) for code in (63, 92)} == {"warn"}


@pytest.mark.parametrize(
    ("message", "process"),
    [
        (
            "amdgpu 0000:c3:00.0:  Process llama-server pid 25263 thread llama-server pid 25263",
            ("llama-server", 25263),
        ),
        ("amdgpu 0000:c5:00.0: amdgpu:  in process my tool (x) pid 7 thread y pid 8)", ("my tool (x)", 7)),
        ("amdgpu: Process information: process Xorg pid 12 thread Xorg:cs0 pid 13", ("Xorg", 12)),
        ("amdgpu 0000:c3:00.0: amdgpu:  in process  pid 0 thread  pid 0", None),
        ("amdgpu: Failed to evict queues of process pid 2439413", (None, 2439413)),
        (
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=llama-server,pid=77,uid=0",
            ("llama-server", 77),
        ),
        ("Out of memory: Killed process 4242 (llama-server) total-vm:1kB", ("llama-server", 4242)),
        ("Killed process 12 (lemonade (router)) total-vm:1kB, anon-rss:1kB", ("lemonade (router)", 12)),
        ("Out of memory: Kill process 12 (a) score (b) score 934 or sacrifice child", ("a) score (b", 12)),
        (
            "oom_reaper: reaped process 12 (lemonade (router)), now anon-rss:0kB",
            ("lemonade (router)", 12),
        ),
        ("BUG: Bad page state in process llama-server  pfn:1234", None),  # it only met the page
        ("i915 0000:00:02.0: GPU HANG: ecode 9:1:85dffffb, in my [1] [1234]", ("my [1]", 1234)),
        (
            "llama-server invoked oom-killer: gfp_mask=0x140dca, order=0",
            None,
        ),  # it asked, it need not be killed
        (
            "i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:0020fffe, in xdg-desktop-por [1676]",
            ("xdg-desktop-por", 1676),
        ),
        (
            "xe 0000:00:02.0: [drm] Tile0: GT0: Timedout job: seqno=9, guc_id=3 in my [tool] [3245]",
            ("my [tool]", 3245),
        ),
        ("xe 0000:00:02.0: [drm] GT0: Timedout job: seqno=9, flags=0x13 in no process [-1]", None),
        (
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 31, pid=7, name=llama-server, Ch 00000010",
            ("llama-server", 7),
        ),
        ("INFO: task llama-server:4 blocked in I/O wait for more than 122 seconds.", ("llama-server", 4)),
        ("INFO: task InputThread:1375 blocked for more than 122 seconds.", ("InputThread", 1375)),
        ("watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [llama-server:4242]", ("llama-server", 4242)),
        ("llama-server[4242]: segfault at 18 ip 00007f sp 00007f error 4 in x.so", ("llama-server", 4242)),
        ("traps: my [tool][7] trap invalid opcode ip:7f1b sp:7ffd error:0 in x.so", ("my [tool]", 7)),
    ],
)
def test_the_process_that_a_line_names(message: str, process: tuple[str | None, int] | None) -> None:
    match = CATALOGUE.match(message)
    found = match.process if match else CATALOGUE.process(message)
    assert found == (Process(*process) if process else None)


@pytest.mark.parametrize("name", ["62-ring-reset-recovered.kmsg", "62-ring-reset-recovered.dmesg-T.txt"])
def test_a_recovered_ring_reset_is_one_fatal_incident_of_the_server(name: str) -> None:
    events = replay(name)
    matched = [e for e in events if e.signature]
    assert [e.fault_class for e in matched] == ["ring_timeout", "ring_reset", "drm_wedged"]
    assert [e.severity for e in matched] == ["fatal", "fail", "fatal"]
    assert {e.incident for e in matched} == {1}
    assert {(e.process, e.pid) for e in events if e.pid} == {("llama-server", 25263)}


def test_a_page_fault_storm_is_one_incident() -> None:
    events = replay("61-pagefault-mes-reset.kmsg")
    classes = [e.fault_class for e in events if e.signature]
    assert classes == [
        *("gpu_page_fault", "gpu_page_fault", "gpu_page_fault", "mes", "mes_queue", "mes", "kfd_evict"),
        *("kfd_evict", "gpu_reset", "mes_queue", "gpu_reset", "kfd_evicted"),
    ]
    assert {e.incident for e in events if e.signature} == {1}
    assert next(e for e in events if e.pid).pid == 4242


def test_another_programs_fault_is_recorded_as_that() -> None:
    events = replay("66-other-process-guilty.kmsg")
    named = {(e.process, e.pid) for e in events if e.process}
    assert named == {("code", 1048641)}
    assert [e.fault_class for e in events if e.signature] == [
        *("ring_timeout", "ring_reset_failed", "gpu_reset", "mes", "mes_queue", "gpu_reset")
    ]


@pytest.mark.parametrize(("name", "pid"), [("55-oom-global.kmsg", 4242), ("55-oom-memcg.kmsg", 77)])
def test_the_process_that_was_killed_for_memory(name: str, pid: int) -> None:
    killed = [e for e in replay(name) if e.signature == "O2"]
    assert [(e.process, e.pid, e.severity, e.incident) for e in killed] == [("llama-server", pid, "fatal", 1)]


def test_a_refused_command_opens_an_incident_although_one_is_a_warning() -> None:
    (event,) = replay("65-command-submission.kmsg")
    assert (event.fault_class, event.severity, event.incident) == ("cs_enomem", "warn", 1)


def test_incidents_end_when_it_is_quiet_and_forget_their_process() -> None:
    fault = Line("amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!")
    names = Line("amdgpu 0000:c5:00.0: amdgpu:  Process code pid 12 thread code pid 12")
    incidents = Incidents(CATALOGUE, "watch")
    quiet = (QUIET_S + 1) * NS
    assert incidents.event(names, 0).incident is None  # nothing is open: a name alone is no fault
    assert incidents.event(fault, quiet).incident == 1
    assert incidents.event(names, quiet + NS).pid == 12
    assert incidents.event(fault, quiet + 9 * NS).pid == 12
    later = incidents.event(fault, 3 * quiet)
    assert (later.incident, later.pid) == (2, None)
    assert incidents.count == 2


def test_warnings_and_ordinary_lines_open_none() -> None:
    incidents = Incidents(CATALOGUE, "watch")
    warning = incidents.event(Line("amdgpu 0000:c2:00.0: Fence fallback timer expired on ring gfx_0.0.0"), 0)
    assert (warning.severity, warning.incident) == ("warn", None)
    assert incidents.event(Line("usb 1-2: new device"), 0).severity is None
    assert incidents.count == 0


def test_events_are_records() -> None:
    for event in replay("61-pagefault-mes-reset.kmsg"):
        assert decode(encode(event)) == event
