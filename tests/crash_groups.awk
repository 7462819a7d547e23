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

# The runtime's own frames.
function is_runtime(name)
{
  return name ~ /^(abort|raise|gsignal|__GI_|pthread_kill|__pthread_kill|fuzzer::)/ ||
         name ~ /^(__sanitizer|__interceptor_|\()/
}

# "    #7 0x55d0c8a3 in finding_17 fuzz/frames.c:20:1"
/^ *#[0-9]+ 0x[0-9a-f]+ in / && taken < 3 && !is_runtime($4) {
  frames = frames (taken++ ? " " : "") $4
}

END {
  finish()
  for (key in count)
    print count[key] "\t" key
}
