"""The code blocks of README.md and docs/*.md, and which of their shell commands no test runs, with the reason."""
import re
from dataclasses import dataclass

SHELL, OTHERS = "sh", ("c", "cmake", "text")

GPU = "needs a GPU"
LONG = "takes several minutes"
ITSELF = "is how these tests are run"

# a pattern that a whole command must match: the reason
NOT_RUN = {
    r".*(aijcusparse|build-cuda).*": GPU,
    r"make check\b.*": ITSELF,
    r"make (demo|bench)\b.*": LONG,
    r"make": LONG,
    r"make install": "is tested by test_install.py",
    r"PETSC_DIR=\S+ pip install .*": "is tested by test_python_package.py",
    r"(spack|rattler-build|docker) .*": "needs Spack, conda or Docker; test_packaging.py reads the recipes",
}

# Commands that would take minutes are run as they are written, with these options behind them.
SMALLER = {
    r"build/benchmarks/poisson .*-n 1023.*": "-n 31 -setups 0 -refreshes 0 -solves 1",
    r"mpiexec -n 4 build/benchmarks/poisson .*": "-n 40,30 -setups 0 -refreshes 0 -solves 1",
    r"build/benchmarks/poisson .*-n 256.*": "-n 32 -setups 0 -refreshes 0 -solves 1",
    r"build/benchmarks/poisson .*-grid 128.*": "-grid 8,8,8 -setups 0 -refreshes 0 -solves 1",
    r"python3 (bubbles|harbour|obstacle).py .*": "-n 32 -steps 2 -rate 2000",
    r"python3 heat.py .*": "-n 12",
    r"mpiexec -n 4 build/examples/obstacle .*": "-n 12 -steps 2",
    r"mpiexec -n 4 build/examples/heat .*": "-n 12",
    r"build/benchmarks/heat .*": "-grid 10,10,10 -dt 1e-2",
    r"build/benchmarks/blocks .*": "-patches 8,8,8 -repeat 1 -from 10 -window 5",
}


@dataclass
class Block:
    file: str
    line: int
    language: str
    text: str

    @property
    def name(self):
        return f"{self.file}:{self.line}"

    def commands(self):
        """The shell's commands, one each, continued lines in one, without comments."""
        joined = re.sub(r"\\\n\s*", " ", self.text)
        return [command for line in joined.splitlines() if (command := re.sub(r"(^|\s)#.*", "", line).strip())]


def read(path, name):
    """Every fenced block but Sphinx's directives."""
    blocks, fence = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            if fence is not None:
                fence.text += line + "\n"
        elif fence is None:
            fence = Block(name, number, line[3:].strip(), "")
        else:
            if not fence.language.startswith("{"):
                blocks.append(fence)
            fence = None
    assert fence is None, f"{name}:{fence.line}: the block does not end"
    return blocks


def documents(root):
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def all_blocks(root):
    return [block for path in documents(root) for block in read(path, str(path.relative_to(root)))]


def why_not(command):
    """Why that command is not run; empty if it is."""
    return next((reason for pattern, reason in NOT_RUN.items() if re.fullmatch(pattern, command)), "")


def shortened(command):
    return next((f"{command} {more}" for pattern, more in SMALLER.items() if re.fullmatch(pattern, command)), command)
