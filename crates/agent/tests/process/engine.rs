//! An engine for tests: a shell script that keeps a few files, and does as files tell it to.
//!
//! | file in `control` | what it does |
//! |---|---|
//! | `log` | every action that ran, a line each |
//! | `role` | the role that the application has |
//! | `status` | what `status` prints, and `exit` how it exits, instead of what follows from the role |
//! | `<action>.fails` | that action says so and exits with 3 |
//! | `<action>.hangs` | that action does not end by itself |

use std::path::Path;

use serde_json::{Value, json};

const SCRIPT: &str = r#"#!/bin/sh
control=@CONTROL@
echo "$MUSTER_ACTION" >>"$control/log"
env | grep ^MUSTER_ | sort >"$control/env.$MUSTER_ACTION"
if [ -e "$control/$MUSTER_ACTION.fails" ]; then echo "it was told to fail" >&2; exit 3; fi
if [ -e "$control/$MUSTER_ACTION.hangs" ]; then exec sleep 1000; fi
case "$MUSTER_ACTION" in
sequence)
  if [ -e "$MUSTER_DATA/history" ]; then
    printf '{"history":"%s","sequence":%s,"position":"p","empty":false}' "$(cat "$MUSTER_DATA/history")" "$(cat "$MUSTER_DATA/sequence")"
  else
    printf '{"history":"","sequence":0,"position":"","empty":true}'
  fi ;;
seed|primary|secondary)
  rm -f "$control/role"
  if [ ! -e "$MUSTER_DATA/history" ]; then
    printf '%s' "$MUSTER_HISTORY" >"$MUSTER_DATA/history"
    printf 0 >"$MUSTER_DATA/sequence"
  fi
  echo "the application runs"
  if [ -e "$control/detached" ]; then setsid sleep 1000 & echo $! >"$control/detached.pid"; fi
  echo $$ >"$control/pid"
  printf '%s' "$MUSTER_ROLE" >"$control/role.new"
  mv "$control/role.new" "$control/role"
  exec sleep 1000 ;;
status)
  if [ -e "$control/status" ]; then cat "$control/status"; exit "$(cat "$control/exit")"; fi
  if [ ! -e "$control/role" ]; then exit 7; fi
  printf '{"state":"serving","history":"%s","sequence":%s,"synced":true}' "$(cat "$MUSTER_DATA/history")" "$(cat "$MUSTER_DATA/sequence")"
  if [ "$(cat "$control/role")" = primary ]; then exit 8; fi
  exit 0 ;;
devices) cat "$control/devices" ;;
addDevice)
  if [ "$MUSTER_DEVICE" != data ]; then exit 1; fi
  sed s/'"pooled":false'/'"pooled":true'/ "$control/devices" >"$control/devices.new" && mv "$control/devices.new" "$control/devices" ;;
freeStorage) echo 12345 ;;
promote) printf primary >"$control/role" ;;
demote) printf secondary >"$control/role" ;;
stop) kill "$(cat "$control/pid")" ;;
esac
"#;

/// Writes the script and `engine.json`. `optional` names the actions that the engine has beside those it must have.
pub(crate) fn write(config: &Path, control: &Path, optional: &[&str]) {
    let script = config.join("engine.sh");
    let text = SCRIPT.replace("@CONTROL@", &control.display().to_string());
    std::fs::write(&script, text).unwrap();
    let command = || json!({"command": ["/bin/sh", script.display().to_string()], "timeoutSeconds": 5});
    let mut actions = serde_json::Map::new();
    for action in ["sequence", "seed", "primary", "secondary", "status"].iter().chain(optional) {
        actions.insert((*action).to_owned(), command());
    }
    let engine = json!({"actions": Value::Object(actions), "topology": {"acknowledgedCopies": "Majority"}, "other": 1});
    std::fs::write(config.join("engine.json"), engine.to_string()).unwrap();
}
