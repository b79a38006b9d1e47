# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs of hardware transactions."""

from __future__ import annotations

from bugs.bug import Bug

HARDWARE = {
    "hardware-untimed": Bug(
        "htm: a commit beside software does not move the clock",
        "transaction/hardware.cc",
        "    sync::global_clock.now.store(time, std::memory_order_relaxed);",
        "    (void)0;",
        "htm",
        ("opacity",),
    ),
    "hardware-beside-serial": Bug(
        "htm: a hardware transaction runs beside one that is serial",
        "transaction/hardware.cc",
        "  if (serial::taken())\n    hardware::abort<Code::serial>();",
        "  (void)0;",
        "htm",
        ("opacity",),
    ),
    "hardware-quick-beside-serial": Bug(
        "htm: a first attempt in hardware runs beside one that is serial",
        "transaction/hardware.h",
        "  if (serial::stops_hardware()) [[unlikely]]\n"
        "    hardware::abort<hardware::Code::serial>();",
        "  (void)0;",
        "htm",
        ("opacity", "process"),
    ),
    "hardware-quick-untimed": Bug(
        "htm: a quick commit does not look whether there is software",
        "transaction/hardware.h",
        "  if (!hardware::inside() || serial::stops_hardware() ||\n"
        "      hardware::state.software.load(std::memory_order_relaxed) != 0)",
        "  if (!hardware::inside() || serial::stops_hardware())",
        "htm",
        ("opacity",),
    ),
    "hardware-flat": Bug(
        "htm: a nested transaction is no level, and its end is that of the outermost one",
        "transaction/hardware.cc",
        "  hardware::start(0);\n  ++thread.depth;",
        "  ++thread.depth;",
        "htm",
        ("nesting", "types"),
    ),
    "hardware-unquiesced": Bug(
        "htm: a commit waits for no software that may still read what it took out",
        "transaction/hardware.cc",
        "  if (time != 0)\n    sync::quiesce(time);",
        "  (void)0;",
        "htm",
        ("privatise",),
    ),
    "hardware-cancels-all": Bug(
        "htm: cancelling a nested transaction cancels the outermost one",
        "transaction/hardware.cc",
        "  if (all && (thread.properties & itm::kHasNoAbort) == 0)",
        "  if (all || thread.depth != 0)",
        "htm",
        ("nesting",),
    ),
    "hardware-forgets-actions": Bug(
        "htm: the end of a first attempt does not know that something is to be done",
        "actions/actions.h",
        "    thread.hardware_slot = kBusySlot;",
        "    (void)0;",
        "htm",
        ("succession",),
    ),
    "hardware-barriers-of-software": Bug(
        "htm: a first attempt has the barriers of the transaction by software before it",
        "transaction/begin.cc",
        "  thread->hardware_ready = kNotReady;",
        "  (void)0;",
        "htm",
        ("succession",),
    ),
    "hardware-undo-action": Bug(
        "htm: an undo action is registered in hardware, and undone with it",
        "abi/itm_control.cc",
        "  transaction::leave_hardware(thread); // whose abort would undo this too",
        "",
        "htm",
        ("handlers",),
    ),
    "change-without-a-count": Bug(
        "auto: what begins by software when the algorithm becomes hardware is never seen to end",
        "transaction/steps.h",
        "    thread.depth = kSpecialDepth; // its",
        "    // its",
        "htm",
        ("changes",),
    ),
}
