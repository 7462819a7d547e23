# shellcheck shell=bash disable=SC2034,SC2154
# Room: what the run takes stays below --max-disk, and a full disk is waited for.

crowded=0 used=0 waiting='' waited_since=0 looked_at=-100 measured_at=-100
say() { printf '%s  %s\n' "$(date +%T)" "$1" >&2; }

free_space() { df -P -BM "$home" | awk 'NR == 2 { print $4 + 0 }'; }

# What must be free before anything is started, in MB: a slice's new files.
reserve() { echo $((max_disk / 32 < 8 ? 8 : max_disk / 32 > 64 ? 64 : max_disk / 32)); }

look_at_disk()
{
  [ $((SECONDS - looked_at)) -ge 5 ] || return 0
  looked_at=$SECONDS
  if [ $((SECONDS - measured_at)) -ge 30 ]; then
    measure
    measured_at=$SECONDS
    [ "$used" -le "$max_disk" ] || shrink
  fi
  wait_for_room
}

# A corpus is merged sooner where room gets short.
measure()
{
  used=$(du -sm "$home" 2>/dev/null | cut -f 1)
  used=${used:-0} crowded=$((used * 5 > max_disk * 4))
}

wait_for_room()
{
  local free
  free=$(free_space)
  if [ "${free:-0}" -ge "$(reserve)" ]; then
    [ -z "$waiting" ] || say 'there is room again: it goes on'
    waiting=''
  elif [ -z "$waiting" ] || [ $((SECONDS - waited_since)) -ge 60 ]; then
    [ -n "$waiting" ] || stop_all
    waiting=yes waited_since=$SECONDS
    say "the disk is full: ${free:-0} MB are free at $home, $(reserve) are needed; nothing runs until then"
  fi
}

may_start() { [ -z "$waiting" ]; }

# Something could not be written: the disk is looked at soon.
pause_start() { looked_at=-100; sleep 1; }

# What can be spared, least dear first, until a tenth is free of what may be taken: crash files that
# have a bundle or show nothing, then inputs that were found, the largest first.
shrink()
{
  say "$used MB of $max_disk are taken: crash files that are triaged go, then large inputs"
  find "$crashes" -path "$crashes/new" -prune -o -type f -name '*-*' -print0 | xargs -0 -r rm -f
  measure
  find "$corpus" -type f -printf '%b\t%p\n' | sort -k 1,1nr |
    awk -F '\t' -v most=$(((used - max_disk * 9 / 10) * 2048)) '
      sum < most { sum += $1; print $2 }' | xargs -r -d '\n' rm -f
  measure
}
