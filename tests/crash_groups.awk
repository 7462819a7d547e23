# Groups logs of crashed fuzz targets as ClusterFuzz does: by the line of the assertion and the top
# three frames of the crashing thread's stack, without those of the runtime that aborts, and without
# numbers.  Prints each group's key with the number of its logs in front.
#
#   awk -f crash_groups.awk LOG...
function finish()
{
  if (log_name != "")
    count[assertion " | " frames]++
}

FNR == 1 {
  finish()
  log_name = FILENAME
  assertion = frames = ""
  taken = 0
}

/^ASSERTION FAILED: / && assertion == "" { assertion = $0 }

# "    #7 0x55d0c8a3 in finding_17 fuzz/frames.c:20:1"; a second stack begins at 0 again
/^ *#[0-9]+ 0x[0-9a-f]+ in / {
  if ($1 == "#0" && seen_stack == log_name)
    taken = 3
  seen_stack = log_name
  ignored = $4 ~ /^(abort|raise|gsignal|__GI_|pthread_kill|__pthread_kill|fuzzer::|__sanitizer|__interceptor_|\(|.*[Ss]tack[Tt]race)/ ||
            $0 ~ /\/lib[^ ]*\/libc/
  if (!ignored && taken < 3) {
    frames = frames (taken++ ? " " : "") $4
  }
}

END {
  finish()
  for (key in count)
    print count[key] "\t" key
}
