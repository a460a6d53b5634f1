"""stop.py SIGNAL WAIT STATUS COMMAND...: stops COMMAND with SIGNAL while it waits.

WAIT is a pipe that COMMAND reads, or a pattern for a file that it makes. STATUS
is the exit status that it must have then, or the SIGNAL itself.
"""
import glob
import os
import signal
import stat
import subprocess
import sys
import time


def wait_for(what, process):
    if os.path.exists(what) and stat.S_ISFIFO(os.stat(what).st_mode):
        return os.open(what, os.O_WRONLY)  # returns when it is read
    end = time.time() + 60
    while not glob.glob(what):
        if process.poll() is not None or time.time() > end:
            process.kill()
            sys.exit(f"no '{what}' was made")
        time.sleep(0.01)
    return None


def main():
    name, what, wanted, *command = sys.argv[1:]
    number = getattr(signal, "SIG" + name)
    signal.signal(number, signal.SIG_DFL)  # background jobs ignore SIGINT
    with subprocess.Popen(command) as process:
        held = wait_for(what, process)
        process.send_signal(number)
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            sys.exit("it goes on")
        if held is not None:
            os.close(held)
    if status != (-number if wanted == "signal" else int(wanted)):
        sys.exit(f"exit status {status}, not {wanted}")


main()
