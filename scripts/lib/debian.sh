# shellcheck shell=bash
# Debian packages, from the lists in scripts/packages.

is_debian() { [ -r /etc/os-release ] && grep -qE '^(ID|ID_LIKE)=.*(debian|ubuntu)' /etc/os-release; }

package_is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing_packages() {
  local name
  for name in "$@"; do
    package_is_installed "$name" || echo "$name"
  done
}

# install_debian_packages LIST...: what is there already costs neither root nor the network.
install_debian_packages() {
  local lists=("$@") names missing
  mapfile -t names < <(for list in "${lists[@]}"; do list_names "scripts/packages/debian-$list.txt"; done)
  if ! is_debian; then
    echo "    not a Debian: nothing installed; needed are what Debian calls ${names[*]}"
    return
  fi
  mapfile -t missing < <(missing_packages "${names[@]}")
  if [ ${#missing[@]} = 0 ]; then
    echo "    all ${#names[@]} are there"
    return
  fi
  echo "    installing ${missing[*]}"
  apt_get update
  apt_get install --yes --no-install-recommends "${missing[@]}"
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 "$@" \
    </dev/null >build/apt.log 2>&1 || {
    tail -n 30 build/apt.log >&2
    die "apt-get $1 failed"
  }
}
