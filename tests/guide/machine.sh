#!/usr/bin/env bash
# Makes a machine for one page of the guide, says `ready`, and keeps it until standard input ends.
#   unshare --mount --net --pid --fork --kill-child --mount-proc tests/guide/machine.sh REPOSITORY PROGRAM
# Nothing of the machine that it runs on is changed: what a page writes lies in memory and goes with it, what it may not
# write is read-only, and its network is a loopback of its own.
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/bin:$PATH
repository=$1
program=$2

mount --make-rprivate /
python3 - <<'PY'
import fcntl, socket, struct
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
PY

# Over what is there, in memory.
mount -t tmpfs -o mode=0755 memory /mnt
over() {
  mkdir -p "/mnt/$2/up" "/mnt/$2/work"
  mount -t overlay overlay -o "lowerdir=$1,upperdir=/mnt/$2/up,workdir=/mnt/$2/work" "$3"
}
mkdir /mnt/checkout
touch /mnt/program
mount --bind "$program" /mnt/program
mount -o remount,bind,ro /mnt/program
over "$repository" repository /mnt/checkout
for folder in etc usr var; do over "/$folder" "$folder" "/$folder"; done
# Read-only, but for what is no file of the machine's.
while read -r _ _ _ _ place _; do
  case $place in /mnt | /mnt/* | /etc | /usr | /var | /proc | /proc/* | /dev/pts) continue ;; esac
  mount -o remount,bind,ro "$place" 2>/dev/null || true
done </proc/self/mountinfo
for folder in home root run srv; do mount -t tmpfs -o mode=0755 memory "/$folder"; done
for folder in tmp dev/shm; do mount -t tmpfs -o mode=1777 memory "/$folder"; done

# Who lives here. The names of the guide; their numbers are free on any machine.
rm -f /etc/hosts /etc/resolv.conf
printf '127.0.0.1 localhost\n' >/etc/hosts
: >/etc/resolv.conf
number=61010
for name in you agent ann; do
  printf '%s:x:%s:%s::/home/%s:/bin/bash\n' "$name" "$number" "$number" "$name" >>/etc/passwd
  printf '%s:x:%s:\n' "$name" "$number" >>/etc/group
  install -d -m 0700 -o "$number" -g "$number" "/home/$name"
  number=$((number + 1))
done

# The program, as it was built, for everybody; and a checkout in which it is built.
touch /usr/local/bin/bursar
mount --bind /mnt/program /usr/local/bin/bursar
mkdir -p /mnt/checkout/target/release /home/you/checkout
rm -f /mnt/checkout/target/release/bursar
touch /mnt/checkout/target/release/bursar
mount --bind /mnt/program /mnt/checkout/target/release/bursar
mount --rbind /mnt/checkout /home/you/checkout

# A browser for machines without a screen, and without the sandbox that needs rights which nobody has here. It is the one that
# the other tests have (src/browser/launch.rs).
for browser in /usr/bin/{chromium,chromium-browser,google-chrome-stable,google-chrome} /mnt/checkout/target/tests/chromium/chromium; do
  [ -x "$browser" ] || continue
  case $browser in /usr/bin/chromium) mv "$browser" "$browser-itself" && browser=$browser-itself ;; esac
  printf '#!/bin/sh\nexec %s --no-sandbox --headless=new "$@"\n' "$browser" >/usr/bin/chromium
  chmod 0755 /usr/bin/chromium
  break
done

# What other packages want made at a start is no business of the guide's.
rm -rf /usr/lib/tmpfiles.d/* /etc/tmpfiles.d/*

# No desktop is here: what would show a notification shows none.
printf '#!/bin/sh\n' >/usr/local/bin/notify-send
chmod 0755 /usr/local/bin/notify-send

echo ready
while read -r _; do :; done
