//! The tests: one for each topic, and what must hold of the suite itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use futures::StreamExt;
use kube::Client;
use serde_json::json;

use crate::case::{self, Case};
use crate::compare::compare;
use crate::normal::normalise;
use crate::run::{Answer, run};
use crate::{pending, servers};

/// Cases that run at the same time: those that wait leave the machine to others.
const AT_ONCE: usize = 8;

/// The answers to each of several cases, or how the server broke down.
type Answers = Vec<Result<Vec<Answer>, String>>;

/// Answers of one server to the cases of a topic, with names in place of what must differ.
async fn answers(cases: &[Case], clients: impl Fn() -> Client) -> Answers {
    let told = futures::stream::iter(cases).map(|case| {
        let (case, client) = (case.clone(), clients());
        // A task of its own, so that what breaks down in one case does not take the others along.
        let task = tokio::task::spawn_local(async move {
            own_namespace(&case, &client).await;
            normalise(&run(&case, &client).await, &format!("{:?}", case.steps))
        });
        async move { task.await.map_err(|error| error.to_string()) }
    });
    told.buffered(AT_ONCE).collect().await
}

async fn own_namespace(case: &Case, client: &Client) {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": case.namespace()}});
    let request = http::Request::post("/api/v1/namespaces").header("content-type", "application/json");
    let request = request.body(namespace.to_string().into_bytes().into()).unwrap();
    let answer = client.send(request).await.unwrap();
    assert_eq!(answer.status().as_u16(), 201, "the namespace of {:?}", case.name);
}

/// What two servers differ in.
#[derive(Default)]
struct Differences {
    /// In words.
    said: String,
    /// Cases that differ, of all.
    wrong: usize,
    /// Cases that may differ for now.
    pending: usize,
    cases: usize,
    steps: usize,
}

/// What the real server answers to the cases of a topic: it is asked once, whoever wants to know.
fn real_answers(topic: &str) -> Arc<Answers> {
    type Once = Arc<OnceLock<Arc<Answers>>>;
    static ASKED: Mutex<BTreeMap<String, Once>> = Mutex::new(BTreeMap::new());
    let once = ASKED.lock().unwrap().entry(topic.to_owned()).or_default().clone();
    let ask = || {
        let real = servers::real();
        Arc::new(servers::block_on(async {
            let client = servers::client_of(real).await;
            answers(&case::read(topic), || client.clone()).await
        }))
    };
    once.get_or_init(ask).clone()
}

/// Compares the answers to the cases of a topic. With `known`, declared differences must be there.
fn differences(topic: &str, left: &Answers, right: &Answers, known: bool) -> Differences {
    let cases = case::read(topic);
    let mut found = Differences { cases: cases.len(), ..Differences::default() };
    for (case, (left, right)) in cases.iter().zip(left.iter().zip(right)) {
        let said = match (left, right) {
            (Ok(left), Ok(right)) => compare(case, left, right, known),
            (Err(error), _) => Some(format!("\n=== {topic}: {}\nreal: {error}\n", case.name)),
            (_, Err(error)) => Some(format!("\n=== {topic}: {}\nours: {error}\n", case.name)),
        };
        found.steps += case.steps.len();
        if said.is_some() && known {
            println!("differs: {}", pending::line(case));
        }
        if known && pending::is_pending(case) {
            found.pending += 1;
            if said.is_none() {
                found.wrong += 1;
                let name = &case.name;
                let equal = format!("\n=== {topic}: {name} is equal now: take it off pending.txt\n");
                found.said.push_str(&equal);
            }
            continue;
        }
        found.wrong += usize::from(said.is_some());
        found.said += &said.unwrap_or_default();
    }
    found
}

/// Says what two real servers differ in: cases that do are not told well.
#[test]
fn real_servers_agree_with_each_other() {
    let another = servers::another();
    let mut all = Differences::default();
    for topic in case::topics() {
        let theirs = servers::block_on(async {
            let client = servers::client_of(&another).await;
            answers(&case::read(&topic), || client.clone()).await
        });
        let found = differences(&topic, &real_answers(&topic), &theirs, false);
        all.said += &found.said;
        all.wrong += found.wrong;
        all.cases += found.cases;
        all.steps += found.steps;
    }
    println!("{} cases with {} steps", all.cases, all.steps);
    assert!(all.said.is_empty(), "{} cases differ\n{}", all.wrong, all.said);
}

fn agree_on(topic: &str) {
    let cases = case::read(topic);
    let ours = servers::block_on(async {
        let ours = servers::ours().await;
        answers(&cases, || servers::client_of_ours(&ours)).await
    });
    let found = differences(topic, &real_answers(topic), &ours, true);
    let Differences { said, wrong, pending, cases, steps } = found;
    println!("{topic}: {wrong} of {cases} cases differ, {steps} steps, {pending} pending");
    assert!(said.is_empty(), "{wrong} of {cases} cases differ\n{said}");
}

/// A test for each topic.
macro_rules! topics {
    ($($test:ident $topic:ident,)*) => {
        const TOPICS: &[&str] = &[$(stringify!($topic)),*];
        $(#[test] fn $test() { agree_on(stringify!($topic)); })*
    };
}

topics! {
    real_and_ours_apply apply,
    real_and_ours_read_bodies bodies,
    real_and_ours_serve_definitions crds,
    real_and_ours_create create,
    real_and_ours_delete delete,
    real_and_ours_delete_collections delete_collection,
    real_and_ours_are_discovered discovery,
    real_and_ours_keep_events events,
    real_and_ours_get get,
    real_and_ours_tell_their_health health,
    real_and_ours_keep_kinds_of_data kinds_data,
    real_and_ours_list list,
    real_and_ours_list_at_versions list_versions,
    real_and_ours_keep_namespaces namespaces,
    real_and_ours_patch_by_json patch_json,
    real_and_ours_patch_by_merge patch_merge,
    real_and_ours_patch_strategically patch_strategic,
    real_and_ours_know_paths paths,
    real_and_ours_keep_pods pods,
    real_and_ours_review reviews,
    real_and_ours_hold_schemas schema,
    real_and_ours_select selectors,
    real_and_ours_keep_services services,
    real_and_ours_keep_storage storage,
    real_and_ours_serve_subresources subresources,
    real_and_ours_print_tables tables,
    real_and_ours_update update,
    real_and_ours_watch watch,
    real_and_ours_keep_workloads workloads,
}

/// No file of cases is forgotten.
#[test]
fn every_topic_has_a_test() {
    assert_eq!(case::topics(), TOPICS);
}

/// Every declared difference is in the README, with its reason.
#[test]
fn known_differences_are_listed() {
    let readme = include_str!("README.md");
    for difference in case::all().into_iter().flat_map(|case| case.differs) {
        assert!(readme.contains(&difference.reason), "not in the README: {}", difference.reason);
        let checked = !difference.at.is_empty() || difference.ours.is_some();
        assert!(checked, "say which code is ours, where all of an answer differs: {}", difference.reason);
    }
}

/// Nobody takes them away without it being seen.
#[test]
fn there_are_at_least_200_cases() {
    if std::env::var("MUSTER_CASE").is_err() {
        assert!(case::all().len() >= 200, "{}", case::all().len());
    }
}

/// Cases are independent: each has a namespace that no other has.
#[test]
fn cases_keep_apart() {
    let cases = case::all();
    let mut namespaces: Vec<_> = cases.iter().map(Case::namespace).collect();
    namespaces.sort();
    namespaces.dedup();
    assert_eq!(namespaces.len(), cases.len());
}
