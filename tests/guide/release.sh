#!/usr/bin/env bash
# On a machine of the guide, as root: makes a release as packaging/release/build and the workflow make it, and leaves its files
# in the home folder, as if they had been fetched; and the commit that it was made from in /root/sources. The compiler is none:
# what stands in for cargo puts a small program where the script looks for a built one.
set -euo pipefail

mkdir ~/sources
cd /mnt/checkout
cp -r Cargo.toml README.md SECURITY.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE packaging docs ~/sources
cd ~/sources
printf 'target\nout\n' >.gitignore
git init --quiet
git add .
git -c user.name=you -c user.email=you@example.com commit --quiet --message "A release"

cat >/usr/local/bin/rustc <<'SH'
#!/bin/sh
exec sed -n 's/^rust-version = "\(.*\)"$/rustc \1.0/p' Cargo.toml
SH
cat >/usr/local/bin/cargo <<'SH'
#!/bin/sh
case "$*" in "zigbuild --locked --profile dist --bin bursar --target x86_64-unknown-linux-gnu.2.17") ;; *) exit 1 ;; esac
mkdir -p target/x86_64-unknown-linux-gnu/dist
printf '#!/bin/sh\necho a program\n' >target/x86_64-unknown-linux-gnu/dist/bursar
SH
: >/usr/local/bin/cargo-zigbuild
chmod 0755 /usr/local/bin/rustc /usr/local/bin/cargo /usr/local/bin/cargo-zigbuild

packaging/release/build x86_64-unknown-linux-gnu ~/fetched
cd ~/fetched
cat -- *.sha256 | sha256sum --check --strict
rm -- *.sha256
sha256sum -- * >SHA256SUMS
mv -- *.tar.gz SHA256SUMS ~
