//! `kubectl logs`, as an API server asks the node: what a container says now, said before, and in the run before.

use futures::StreamExt as _;
use muster_local::logs::Refusal;
use muster_local::pods::Isolation;
use serde_json::json;

use crate::bench::{Bench, shell};

/// Says something and ends; the second time it stays until a file is there.
const TWICE: &str = "echo run $(ls | grep -c ran); mktemp ranXXXXXX >/dev/null; echo oops >&2; \
                     if [ $(ls | grep -c ran) = 1 ]; then exit 1; fi; while [ ! -e /enough ] && [ ! -e enough ]; do sleep 0.05; done; echo bye";

async fn read(bench: &Bench, container: &str, query: &str) -> Result<String, Refusal> {
    let mut said = bench.logs_of().read("default", "talker", container, query).await?;
    let mut all = Vec::new();
    while let Some(piece) = said.next().await {
        all.extend(piece);
    }
    Ok(String::from_utf8(all).unwrap())
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_run_has_a_log_and_who_follows_hears_the_end() {
    let bench = Bench::new("logs", Isolation::Paths).await;
    let shared = bench.directory.join("talk");
    std::fs::create_dir_all(&shared).unwrap();
    let mut talker = shell("main", &format!("cd {}; {TWICE}", shared.display()));
    talker["volumeMounts"] = json!([]);
    let never = json!({"name": "never", "image": "none", "command": ["no-such-command-anywhere"]});
    bench.create("talker", json!({"containers": [talker, never]})).await;
    let restarted = |pod: &serde_json::Value| {
        let all = pod["status"]["containerStatuses"].as_array();
        let main = all.and_then(|all| all.iter().find(|one| one["name"] == "main"));
        main.is_some_and(|main| main["restartCount"] == 1 && !main["state"]["running"].is_null())
    };
    bench.until("talker", "to run again", restarted).await;
    // Its output arrives by and by.
    while sorted(&read(&bench, "main", "").await.unwrap()).len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(sorted(&read(&bench, "main", "").await.unwrap()), ["oops", "run 1"]);
    assert_eq!(sorted(&read(&bench, "main", "previous=true").await.unwrap()), ["oops", "run 0"]);
    assert_eq!(read(&bench, "main", "tailLines=1").await.unwrap().lines().count(), 1);
    let timed = read(&bench, "main", "timestamps=true&sinceSeconds=3600").await.unwrap();
    let time = timed.lines().next().unwrap().split(' ').next().unwrap();
    assert!(time.parse::<jiff::Timestamp>().is_ok(), "{timed}");

    let wrong = |refusal: Refusal| (refusal.code, refusal.message);
    let waiting = wrong(read(&bench, "never", "").await.unwrap_err());
    assert_eq!(
        waiting,
        (400, "container \"never\" in pod \"talker\" is waiting to start: CommandNotFound".to_owned())
    );
    let before = wrong(read(&bench, "never", "previous=true").await.unwrap_err());
    assert_eq!(
        before,
        (400, "previous terminated container \"never\" in pod \"talker\" not found".to_owned())
    );
    assert_eq!(read(&bench, "nobody", "").await.unwrap_err().code, 400);
    assert_eq!(bench.logs_of().read("default", "nobody", "main", "").await.err().unwrap().code, 404);

    let follow = read(&bench, "main", "follow=true");
    let end = async {
        tokio::task::yield_now().await;
        std::fs::write(shared.join("enough"), "").unwrap();
    };
    let (said, ()) = tokio::join!(follow, end);
    assert_eq!(sorted(&said.unwrap()), ["bye", "oops", "run 1"]);
}
