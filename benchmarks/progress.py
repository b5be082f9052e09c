"""How far the benchmarks are: a line that is redrawn on a terminal, a line for each case elsewhere."""
import shutil
import sys
import threading
import time


def clock(seconds):
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"


class Progress:
    """Cases are planned as {case: seconds}, None where nobody knows yet; more or fewer may turn out to be needed."""

    def __init__(self, stream=None, now=time.monotonic):
        self.stream, self.now = stream or sys.stdout, now
        self.terminal = self.stream.isatty()
        self.start = self.last = now()
        self.left, self.spent = {}, []  # the seconds of cases to come, and of those that were measured
        self.done, self.text = 0, ""
        self.lock, self.end = threading.RLock(), threading.Event()

    def __enter__(self):
        if self.terminal:  # time goes on while a case takes long
            threading.Thread(target=self.tick, daemon=True).start()
        return self

    def __exit__(self, *error):
        with self.lock:
            self.end.set()
            self.clear()

    def tick(self):
        while not self.end.wait(1):
            self.draw()

    def note(self, text):
        """What is measured next."""
        self.text = text
        self.draw()

    def say(self, text):
        with self.lock:
            self.clear()
            print(text, file=self.stream, flush=True)
        self.draw()

    def case(self, case, seconds=None):
        """One is done; it was measured where seconds are given."""
        with self.lock:
            self.left.pop(case, None)
            self.done += 1
            self.last = self.now()
            if seconds is not None:
                self.spent.append(seconds)
        if self.terminal:
            self.draw()
        else:
            print(f"  {self.line()}", file=self.stream, flush=True)

    def drop(self, cases):
        """Those that were planned and have turned out to be unnecessary."""
        for case in cases:
            self.left.pop(case, None)

    def estimate(self):
        """Seconds left, or None. Cases that were never measured take what the others take on average."""
        known = [*self.spent, *(seconds for seconds in self.left.values() if seconds)]
        unknown = sum(seconds is None for seconds in self.left.values())
        if unknown and not known:
            return None
        rest = sum(seconds or 0 for seconds in self.left.values()) + (unknown * sum(known) / len(known) if unknown else 0)
        return max(0, rest - (self.now() - self.last)) if self.left else 0

    def line(self):
        left = self.estimate()
        return (f"{self.done}/{self.done + len(self.left)} cases, {clock(self.now() - self.start)} elapsed, "
                f"{'an unknown time' if left is None else f'about {clock(left)}'} left: {self.text}")

    def draw(self):
        with self.lock:
            if self.terminal and not self.end.is_set():
                all_cases = self.done + len(self.left)
                full = 20 * self.done // max(1, all_cases)
                text = f"[{'#' * full}{'.' * (20 - full)}] {self.line()}"
                self.stream.write("\r\x1b[K" + text[:shutil.get_terminal_size().columns - 1])
                self.stream.flush()

    def clear(self):
        if self.terminal:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
