#!/bin/bash
# Opens a page in headless Chromium at a width in pixels, and says what a reader would meet there.
#
#   page_shot.sh PAGE WIDTH light|dark [PNG]
#
# Prints JSON: width and height of the document, the width of the window, what sticks out of it, what is
# empty, and what the page tried to load.  PNG gets a picture of the whole page, at most MOST_HEIGHT
# (12000) pixels high.  CHROMIUM names the browser; exit status 4 if there is none, 3 if it fails.
set -euo pipefail
page=$(realpath "$1") width=$2 scheme=$3 png=${4:-}
most_height=${MOST_HEIGHT:-12000}
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$browser" ] || { echo 'page_shot: no Chromium is installed' >&2; exit 4; }

work=$(mktemp -d)
# Processes of the browser's own write for a moment after it has ended.
clean()
{
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  for _ in $(seq 50); do
    rm -rf "$work" 2>/dev/null && return
    sleep 0.1
  done
  echo "page_shot: $work is left" >&2
}
trap clean EXIT
mkfifo "$work/to" "$work/from"
sandbox=()
[ "$(id -u)" != 0 ] || sandbox=(--no-sandbox)
# It reads commands from descriptor 3 and answers on 4, each message ended by a zero byte.
"$browser" --headless "${sandbox[@]}" --disable-gpu --no-first-run --disable-dev-shm-usage \
  --user-data-dir="$work/profile" --remote-debugging-pipe \
  3<"$work/to" 4>"$work/from" >/dev/null 2>"$work/said" &
pid=$!
exec {to}>"$work/to" {from}<"$work/from"

number=0 session=
call() # method parameters: sets answer
{
  number=$((number + 1))
  jq -cn --argjson id $number --arg method "$1" --argjson params "${2:-{\}}" --arg session "$session" \
    '{$id, $method, $params} + if $session == "" then {} else {sessionId: $session} end' |
    tr '\n' '\0' >&"$to"
  while IFS= read -r -d '' -t 120 answer <&"$from"; do
    if [[ $answer = "{\"id\":$number,"* ]]; then
      [[ $answer != *'"error":{'* ]] || { echo "page_shot: $1: $answer" | cut -c 1-300 >&2; exit 3; }
      return
    fi
    [[ $answer != *Page.loadEventFired* ]] || loaded=1
  done
  echo "page_shot: $1: no answer" >&2
  cat "$work/said" >&2
  exit 3
}
evaluate() # expression: its value as JSON
{
  call Runtime.evaluate "$(jq -cn --arg e "$1" '{expression: $e, returnByValue: true}')"
  jq -c '.result.result.value' <<<"$answer"
}

call Target.createTarget '{"url": "about:blank"}'
call Target.attachToTarget "$(jq -c '{targetId: .result.targetId, flatten: true}' <<<"$answer")"
session=$(jq -r '.result.sessionId' <<<"$answer")
call Page.enable
call Emulation.setDeviceMetricsOverride \
  "{\"width\": $width, \"height\": 900, \"deviceScaleFactor\": 1, \"mobile\": $([ "$width" -lt 600 ] && echo true || echo false)}"
call Emulation.setEmulatedMedia \
  "{\"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \"$scheme\"}]}"
loaded=0
call Page.navigate "$(jq -cn --arg url "file://$(jq -rn --arg p "$page" '$p | @uri | gsub("%2F"; "/")')" '{$url}')"
for _ in $(seq 100); do
  [ "$(evaluate 'document.readyState')" != '"complete"' ] || break
  sleep 0.1
done

# What lies in a box that scrolls by itself may be wider.
found=$(evaluate '(() => {
  const root = document.documentElement, shown = e => e.getClientRects().length > 0;
  const name = e => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.className && e.className.baseVal === undefined ? "." + e.className : "");
  const all = [...document.querySelectorAll("body *")].filter(e => shown(e) && !e.closest("svg *"));
  return {
    width: root.scrollWidth, window: innerWidth, height: root.scrollHeight,
    paper: getComputedStyle(document.body).backgroundColor,
    wide: all.filter(e => !e.parentElement.closest(".scroll") && e.getBoundingClientRect().right > innerWidth + 0.5).map(name),
    empty: [...document.querySelectorAll("section, article, .card, h1, h2, h3, svg, th, td, li, dd, caption, title")]
      .filter(e => !e.closest("thead") && !(e.tagName === "svg" ? e.querySelector("path, use, rect") : e.textContent.trim())).map(name),
    flat: [...document.querySelectorAll("svg")].filter(e => shown(e) && e.getBoundingClientRect().height < 80).map(name),
    unpainted: [...document.querySelectorAll("svg path[stroke]")].filter(e => getComputedStyle(e).stroke === "none" && e.getAttribute("stroke") !== "none").length,
    ids: [...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, ids) => ids.indexOf(id) !== i),
    broken: [...document.querySelectorAll("[href^=\"#\"]")].map(e => e.getAttribute("href").slice(1)).filter(id => !document.getElementById(id)),
    loaded: performance.getEntriesByType("resource").map(e => e.name),
    svgs: document.querySelectorAll("svg").length
  };
})()')
echo "$found"
if [ -n "$png" ]; then
  height=$(jq --argjson most "$most_height" '[.height, $most] | min' <<<"$found")
  call Page.captureScreenshot \
    "{\"format\": \"png\", \"captureBeyondViewport\": true, \"clip\": {\"x\": 0, \"y\": 0, \"width\": $width, \"height\": $height, \"scale\": 1}}"
  jq -r '.result.data' <<<"$answer" | base64 -d >"$png"
fi
