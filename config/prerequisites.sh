#!/bin/sh
# What `make check` and `make demo` need from Debian or Ubuntu: installs it when root, otherwise says what to type.
# Argument: no, to look at nothing. OTHER_PETSC, where not empty, is a PETSc that makes Debian's unnecessary.
set -eu

[ "${1:-yes}" = no ] && exit 0
command -v dpkg-query > /dev/null && command -v apt-get > /dev/null || exit 0

packages="g++ make cmake pkg-config libgtest-dev python3-venv valgrind"
# patterns: the name of the examples' package has PETSc's version in it
petsc_packages="petsc-dev openmpi-bin python3-petsc4py libpetsc3*-dev-examples"
[ -n "${OTHER_PETSC:-}" ] || packages="$packages $petsc_packages"

missing=""
for package in $packages; do
  dpkg-query -W -f '${Status}\n' "$package" 2> /dev/null | grep -q '^install ok installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
  echo "Not installed:$missing" >&2
  echo "  type:             sudo apt-get install$(echo "$missing" | sed "s/ \([^ ]*\*[^ ]*\)/ '\1'/g")" >&2
  echo "  or without them:  make PREREQUISITES=no ..." >&2
  exit 1
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
set -f # the patterns are for apt-get, not for the shell
# shellcheck disable=SC2086
apt-get install -qq -y --no-install-recommends $missing > /dev/null
