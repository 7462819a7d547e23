#!/bin/bash
# Installs what build.sh needs: libraries of which an archive is linked, as the machines that run the
# targets have none of them.  As root, on Debian or Ubuntu.
#
#   packages.sh [PREFIX]       /usr/local
#
# libzip has no archive in either: PREFIX gets one, from the distribution's source and without what
# .npz files do not need (encryption, other compression).
set -euo pipefail
prefix=$(realpath -m "${1:-/usr/local}")
export DEBIAN_FRONTEND=noninteractive

# Sources lie beside the packages; where they are listed one a line, and where in paragraphs.
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
mkdir "$sources"/{list.d,lists,libzip}
shopt -s nullglob
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ ! -f "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >>"$sources/list.d/source.list"
done
for file in /etc/apt/sources.list.d/*.sources; do
  sed 's/^Types:.*/Types: deb-src/' "$file" >"$sources/list.d/${file##*/}"
done
from_source=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$sources/list.d"
  -o "Dir::State::Lists=$sources/lists")

apt-get -qq update
apt-get -qq -y install --no-install-recommends cmake dpkg-dev libgmp-dev libjansson-dev libmpfr-dev \
  libprotobuf-c-dev make nettle-dev protobuf-c-compiler zip zlib1g-dev
apt-get "${from_source[@]}" -qq update
(cd "$sources/libzip" && apt-get "${from_source[@]}" -o APT::Sandbox::User=root -qq source libzip)
cmake -S "$sources"/libzip/libzip-*/ -B "$sources/build" -DCMAKE_INSTALL_PREFIX="$prefix" \
  -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  -DENABLE_{COMMONCRYPTO,GNUTLS,MBEDTLS,OPENSSL,BZIP2,LZMA,ZSTD}=OFF \
  -DBUILD_{TOOLS,REGRESS,OSSFUZZ,EXAMPLES,DOC}=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 >/dev/null
cmake --build "$sources/build" --target install -- -j"$(nproc)" >/dev/null
