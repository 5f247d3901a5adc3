//! The tests: one for each topic, and what must hold of the suite itself.

use futures::StreamExt;
use kube::Client;
use serde_json::json;

use crate::case::{self, Case};
use crate::compare::compare;
use crate::normal::normalise;
use crate::run::{Answer, run};
use crate::servers;

/// Cases that run at the same time: those that wait leave the machine to others.
const AT_ONCE: usize = 8;

/// Answers of one server to the cases of a topic, with names in place of what must differ.
async fn answers(cases: &[Case], client: &Client) -> Vec<Vec<Answer>> {
    let told = futures::stream::iter(cases).map(|case| async move {
        own_namespace(case, client).await;
        normalise(&run(case, client).await, &format!("{:?}", case.steps))
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

/// Compares two servers on all cases of a topic; says what is wrong, and how much was compared.
async fn differences(topic: &str, left: &Client, right: &Client, known: bool) -> (String, usize, usize) {
    let cases = case::read(topic);
    let (left, right) = tokio::join!(answers(&cases, left), answers(&cases, right));
    let wrong = cases.iter().zip(left.iter().zip(&right));
    let wrong: String = wrong.filter_map(|(case, (left, right))| compare(case, left, right, known)).collect();
    (wrong, cases.len(), cases.iter().map(|case| case.steps.len()).sum())
}

/// Says what two real servers differ in: cases that do are not told well.
#[test]
fn real_servers_agree_with_each_other() {
    let (one, other) = (servers::real(), servers::another());
    let mut all = String::new();
    let (mut cases, mut steps) = (0, 0);
    servers::block_on(async {
        let (one, other) = (servers::client_of(one).await, servers::client_of(&other).await);
        for topic in case::topics() {
            let (wrong, told, asked) = differences(&topic, &one, &other, false).await;
            all += &wrong;
            cases += told;
            steps += asked;
        }
    });
    println!("{cases} cases with {steps} steps");
    assert!(all.is_empty(), "{all}");
}

/// Every declared difference is in the README, with its reason.
#[test]
fn known_differences_are_listed() {
    let readme = include_str!("README.md");
    let cases = case::topics().into_iter().flat_map(|topic| case::read(&topic));
    for difference in cases.flat_map(|case| case.differs) {
        assert!(readme.contains(&difference.reason), "not in the README: {}", difference.reason);
    }
}

/// Cases are independent: each has a namespace that no other has.
#[test]
fn cases_keep_apart() {
    let cases: Vec<_> = case::topics().into_iter().flat_map(|topic| case::read(&topic)).collect();
    let mut namespaces: Vec<_> = cases.iter().map(Case::namespace).collect();
    namespaces.sort();
    namespaces.dedup();
    assert_eq!(namespaces.len(), cases.len());
}
