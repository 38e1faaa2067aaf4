#!/bin/sh
# One end of a trial between clusters: it listens for all others, and connects with those that the
# file `to` of its gate names. Nothing is installed for it: where there is no python3, it says so.
gate=$1
python=$(command -v python3) || { echo "nothing: there is no python3 on its nodes"; exit 0; }
exec "$python" - "$gate" <<'END'
import os, random, socket, subprocess, sys, threading, time

gate, secret, end = sys.argv[1], b"@SECRET@", time.time() + @SECONDS@
LARGEST = 64 * 1024 * 1024


def listen():
    # Where the leader of a job listens, too.
    for _ in range(50):
        try:
            s = socket.socket()
            s.bind(("", random.randrange(20000, 32000)))
            s.listen(16)
            return s
        except OSError:
            s.close()
    raise SystemExit("nothing: no port is free")


def addresses():
    try:
        found = subprocess.check_output(["hostname", "-I"]).decode().split()
    except (OSError, subprocess.CalledProcessError):
        found = []
    if not found:
        try:
            found = [socket.gethostbyname(socket.gethostname())]
        except OSError:
            pass
    return [each for each in found if ":" not in each][:8]


def serve(c):
    try:
        c.settimeout(30)
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        f = c.makefile("rb")
        if f.readline(100).strip() != secret:
            return
        while True:
            line = f.readline(20)
            if not line:
                return
            left = min(int(line), LARGEST)
            while left > 0:
                got = f.read(min(left, 65536))
                if not got:
                    return
                left -= len(got)
            c.sendall(b".")
    except (OSError, ValueError):
        pass
    finally:
        c.close()


def accept(s):
    while True:
        c, _ = s.accept()
        t = threading.Thread(target=serve, args=(c,))
        t.daemon = True
        t.start()


def there_and_back(c, size):
    data = b"0" * size
    began = time.time()
    c.sendall(str(size).encode() + b"\n" + data)
    if not c.recv(1):
        raise OSError("it was closed")
    return max(time.time() - began, 1e-6)


def measure(port, where):
    why = "it has no address"
    for n, address in enumerate(where):
        try:
            c = socket.create_connection((address, port), 5)
        except OSError as error:
            why = why if n else "%s port %d: %s" % (address, port, error)
            continue
        try:
            c.settimeout(30)
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            c.sendall(secret + b"\n")
            trips = sorted(there_and_back(c, 1) for _ in range(25))
            size = 1024 * 1024
            seconds = there_and_back(c, size)
            if seconds < 1:
                size = 16 * size
                seconds = there_and_back(c, size)
            seconds = max(seconds - trips[12], 1e-6)
            return "ok %d %s %.3f %.1f" % (n, address, 1000 * trips[12], size / seconds / 1e6)
        except OSError as error:
            why = "%s port %d: %s" % (address, port, error)
        finally:
            c.close()
    return "failed " + why


def wait(name):
    while not os.path.exists(os.path.join(gate, name)):
        if time.time() > end:
            raise SystemExit(0)
        time.sleep(0.1)


def say(text):
    print(text)
    sys.stdout.flush()


s = listen()
t = threading.Thread(target=accept, args=(s,))
t.daemon = True
t.start()
say("listening %d %s" % (s.getsockname()[1], " ".join(addresses())))
wait("to")
with open(os.path.join(gate, "to")) as f:
    for line in f.read().splitlines():
        words = line.split()
        say("to %s %s" % (words[0], measure(int(words[1]), words[2:])))
say("measured")
wait("done")
END
