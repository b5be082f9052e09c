"""What configure.py says: short on the screen, everything in configure.log."""
import subprocess
import sys


class ConfigureError(Exception):
    """Something is missing or unfit. The text says what, and what to type."""


class Log:
    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.file = open(path, "w", encoding="utf-8")
        self.write("arguments: " + " ".join(sys.argv[1:]))

    def write(self, text):
        self.file.write(text.rstrip() + "\n")
        self.file.flush()

    def say(self, text=""):
        print(text, flush=True)
        self.write(text)

    def run(self, command, stdin=None, cwd=None, env=None):
        """Runs a command and logs all of it. Returns (succeeded, output)."""
        command = [str(word) for word in command]
        self.write("$ " + " ".join(command))
        if stdin:
            self.write(stdin)
        try:
            done = subprocess.run(command, input=stdin, cwd=cwd, env=env, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        except OSError as error:
            self.write(f"-> {error}")
            return False, str(error)
        self.write(done.stdout)
        self.write(f"-> {done.returncode}")
        return done.returncode == 0, done.stdout

    def follow(self, command, cwd=None, env=None):
        """Runs a long command whose output goes to the log alone. Returns whether it succeeded."""
        command = [str(word) for word in command]
        self.write("$ " + " ".join(command))
        done = subprocess.run(command, cwd=cwd, env=env, stdout=self.file, stderr=subprocess.STDOUT, check=False)
        self.write(f"-> {done.returncode}")
        return done.returncode == 0
