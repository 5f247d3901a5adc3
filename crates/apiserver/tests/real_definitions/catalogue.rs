//! The built-in resources are those that the real server's discovery names.

use muster_apiserver::kind::built_in::catalogue;
use serde_json::{Value, json};

use crate::server;

#[tokio::test]
async fn names_verbs_and_subresources_are_the_same() {
    let client = server::client().await;
    for resource in catalogue::resources() {
        let root = if resource.group.is_empty() { "api" } else { "apis" };
        let real = server::get(&client, &format!("/{root}/{}", resource.api_version())).await;
        let all = real["resources"].as_array().unwrap();
        let find = |name: &str| all.iter().find(|one| one["name"] == name);
        let one = find(&resource.plural).unwrap_or_else(|| panic!("no {}", resource.plural));
        let texts = |field: &str| one.get(field).cloned().unwrap_or_else(|| json!([]));
        let found = json!([
            one["kind"],
            one["singularName"],
            one["namespaced"],
            texts("shortNames"),
            texts("categories"),
            texts("verbs")
        ]);
        let ours = json!([
            resource.kind_name,
            resource.singular,
            resource.traits.namespaced,
            resource.short_names,
            resource.categories,
            resource.verbs,
        ]);
        assert_eq!(found, ours, "{}", resource.plural);
        let has = |part: &str| find(&format!("{}/{part}", resource.plural)).is_some();
        assert_eq!(has("status"), resource.traits.status, "status of {}", resource.plural);
        assert_eq!(has("scale"), resource.scale.is_some(), "scale of {}", resource.plural);
    }
}

#[tokio::test]
async fn fields_that_cannot_be_selected_by_are_refused_alike() {
    use muster_apiserver::request::selector::Fields;
    let client = server::client().await;
    for resource in catalogue::resources() {
        let labels = [
            "metadata.name",
            "metadata.namespace",
            "spec.nonsense",
            "status.replicas",
            "spec.nodeName",
            "type",
            "name",
            "reason",
        ];
        let own = resource.selectable.iter().map(|field| field.label.as_str());
        for label in labels.into_iter().chain(own) {
            let selector = format!("{label}=x");
            let path = format!("{}?fieldSelector={selector}", server::path(&resource));
            let real = client.request::<Value>(http::Request::get(path).body(Vec::new()).unwrap()).await;
            let real = match real {
                Ok(_) => String::new(),
                Err(kube::Error::Api(status)) => status.message.clone(),
                Err(other) => panic!("{other}"),
            };
            let ours = Fields::parse(&selector, &resource.selectable)
                .err()
                .map_or_else(String::new, |error| error.to_string());
            // These two have words of their own.
            let usual = format!("field label not supported: {label}");
            let real = real.replace(&format!("field label {label:?} not supported for Job"), &usual);
            let real = real.replace(" for resource.k8s.io/v1, Kind=ResourceSlice", "");
            assert_eq!(real, ours, "{} by {label}", resource.plural);
        }
    }
}
