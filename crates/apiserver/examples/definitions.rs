//! Reads the definitions of a real server from stdin, and prints how they differ from those of k8s-openapi.
fn main() {
    let real: serde_json::Map<String, serde_json::Value> = serde_json::from_reader(std::io::stdin()).unwrap();
    println!("{}", serde_json::to_string(&muster_apiserver::kind::built_in::differences(&real)).unwrap());
}
