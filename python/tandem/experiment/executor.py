# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where samples are taken: here, one after the other or side by side, or by a Dask cluster.

On a cluster a round stays on one worker, so that ratios within a round compare like with like; a
worker takes one sample at a time. Samples whose metrics do not depend on the load are spread over
the processors of this machine, or over all workers.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import importlib
import os
import re
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from tandem.errors import RunError, TandemError, UserError
from tandem.experiment.sample import Measured, Task, kill_running, measure

__all__ = ["DaskExecutor", "Executor", "LocalExecutor", "SideBySideExecutor"]


class Executor(Protocol):
    """Takes samples. `run` yields each as soon as it is taken; an error ends it."""

    def run(self, rounds: Sequence[Sequence[Task]]) -> Iterator[Measured]: ...

    def warm_up(self, tasks: Sequence[Task]) -> Iterator[Measured]: ...

    def close(self) -> None: ...


class LocalExecutor:
    """This machine, in exactly the order given."""

    def run(self, rounds: Sequence[Sequence[Task]]) -> Iterator[Measured]:
        for tasks in rounds:
            for task in tasks:
                yield measure(task)

    def warm_up(self, tasks: Sequence[Task]) -> Iterator[Measured]:
        return self.run([tasks])

    def close(self) -> None:
        pass


class SideBySideExecutor:
    """This machine, as many samples at a time as it has processors, in any order."""

    def __init__(self, processors: int | None = None) -> None:
        self._processors = processors or len(os.sched_getaffinity(0))

    def run(self, rounds: Sequence[Sequence[Task]]) -> Iterator[Measured]:
        pool = concurrent.futures.ThreadPoolExecutor(self._processors)
        futures = [pool.submit(measure, task, False) for tasks in rounds for task in tasks]
        try:
            for future in concurrent.futures.as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            # Again: a thread may be just about to start a command, which is noted behind that.
            while not all(future.done() for future in futures):
                kill_running()
                time.sleep(0.05)
            pool.shutdown(wait=True)

    def warm_up(self, tasks: Sequence[Task]) -> Iterator[Measured]:
        return self.run([tasks])

    def close(self) -> None:
        pass


def _no_scheduler(address: str) -> UserError:
    return UserError(
        f"--scheduler {address}: no Dask scheduler answers there; give its address, as in "
        "tcp://127.0.0.1:8786"
    )


def _check_address(address: str, timeout_s: float) -> None:
    """UserError unless something listens; asked first, since Dask's client complains at length."""
    found = re.fullmatch(r"(?:tcp|tls)://\[?([^/\]]+)\]?:(\d{1,5})", address)
    try:
        if found is None or int(found[2]) > 65535:
            raise ValueError(address)
        socket.create_connection((found[1], int(found[2])), timeout=timeout_s).close()
    except (OSError, ValueError) as error:
        raise _no_scheduler(address) from error


class DaskExecutor:
    """The workers of a Dask cluster, which must see the same files under the same paths."""

    def __init__(
        self, scheduler: str, timeout_s: float = 15, *, side_by_side: bool = False
    ) -> None:
        self._side_by_side = side_by_side
        _check_address(scheduler, timeout_s)
        distributed: Any = importlib.import_module("distributed")

        try:
            self._client: Any = distributed.Client(
                scheduler, timeout=timeout_s, set_as_default=False
            )
        except (OSError, ValueError, TimeoutError) as error:
            raise _no_scheduler(scheduler) from error
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        self._workers = sorted(workers)
        if not self._workers:
            self.close()
            raise UserError(f"--scheduler {scheduler}: the cluster has no worker; start one")

    def run(self, rounds: Sequence[Sequence[Task]]) -> Iterator[Measured]:
        pieces = [list(tasks) for tasks in rounds]
        if self._side_by_side:
            pieces = [[task] for tasks in rounds for task in tasks]
        chains = [
            (self._workers[index % len(self._workers)], tasks) for index, tasks in enumerate(pieces)
        ]
        yield from self._submit(chains)

    def warm_up(self, tasks: Sequence[Task]) -> Iterator[Measured]:
        """Every worker warms up; one sample of each task is yielded."""
        for index, worker in enumerate(self._workers):
            taken = list(self._submit([(worker, list(tasks))]))
            if index == 0:
                yield from taken

    def _submit(self, chains: Sequence[tuple[str, list[Task]]]) -> Iterator[Measured]:
        """Runs each chain in its order on its worker, chains of different workers at once."""
        waiting: dict[str, list[Task]] = {}
        for worker, tasks in chains:
            waiting.setdefault(worker, []).extend(tasks)
        pending: Any = importlib.import_module("distributed").as_completed(loop=self._client.loop)
        owner: dict[str, str] = {}

        def submit_next(worker: str) -> None:
            if waiting[worker]:
                future = self._client.submit(
                    measure,
                    waiting[worker].pop(0),
                    workers=[worker],
                    allow_other_workers=False,
                    pure=False,
                    retries=0,
                )
                owner[future.key] = worker
                pending.add(future)

        for worker in waiting:
            submit_next(worker)
        try:
            for future in pending:
                try:
                    sample: Measured = future.result()
                except TandemError:
                    raise
                except Exception as error:
                    raise RunError(
                        f"worker {owner[future.key]}: {type(error).__name__}: "
                        + " ".join(str(error).split())[:200]
                    ) from error
                submit_next(owner[future.key])
                yield sample
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel(list(pending.futures))

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close()
