# shellcheck shell=bash disable=SC2154
# Room: what the run takes stays below --max-disk, and a full disk is waited for.

crowded=0 used=0 waiting='' waited_since=0 looked_at=-100
say() { printf '%s  %s\n' "$(date +%T)" "$1" >&2; }

free_space() { df -P -BM "$home" | awk 'NR == 2 { print $4 + 0 }'; }

# What must be free before anything is started, in MB: a slice's new files.
reserve() { echo $((max_disk / 32 < 8 ? 8 : max_disk / 32 > 64 ? 64 : max_disk / 32)); }

look_at_disk()
{
  local free
  [ $((SECONDS - looked_at)) -ge 5 ] || return 0
  looked_at=$SECONDS
  used=$(du -sm "$home" 2>/dev/null | cut -f 1)
  used=${used:-0} crowded=$((used * 5 > max_disk * 4))
  [ "$used" -le "$max_disk" ] || shrink
  free=$(free_space)
  if [ "${free:-0}" -lt "$(reserve)" ]; then
    [ -n "$waiting" ] || stop_all
    shrink
    free=$(free_space)
  fi
  if [ "${free:-0}" -ge "$(reserve)" ]; then
    [ -z "$waiting" ] || say 'there is room again: it goes on'
    waiting=''
  elif [ -z "$waiting" ] || [ $((SECONDS - waited_since)) -ge 60 ]; then
    waiting=yes waited_since=$SECONDS
    say "the disk is full: $free MB are free at $home, $(reserve) are needed; nothing runs until then"
  fi
}

may_start() { [ -z "$waiting" ]; }

# Something could not be written: the disk is looked at soon.
pause_start() { looked_at=-100; sleep 1; }

# What can be spared, least dear first, until a tenth is free of what may be taken: crash files that
# have a bundle or show nothing, then inputs that were found, the largest first.
shrink()
{
  local spare=$((used - max_disk * 9 / 10))
  say "$used MB of $max_disk are taken: crash files that are triaged, then large inputs go"
  find "$crashes" -path "$crashes/new" -prune -o -type f -name '*-*' -print0 | xargs -0 rm -f
  [ $spare -gt 0 ] || spare=$(($(reserve) * 2))
  find "$corpus" -type f -printf '%b\t%p\n' | sort -k 1,1nr | awk -F '\t' -v most=$((spare * 2048)) '
    sum < most { sum += $1; print $2 }' | xargs -r -d '\n' rm -f
  used=$(du -sm "$home" 2>/dev/null | cut -f 1)
}
