//! Rules on new objects: what they see, and what a refusal says.

use serde_json::json;

use crate::server::{Differences, Server, compiled, definition, object_of, our_answer, path_of};
use crate::{generate, probes, rule_probes};

/// Objects with several probes at once.
const COMBINATIONS: usize = 100;

#[test]
fn real_rules_give_the_same_answers() {
    let server = Server::new();
    let probes = rule_probes::all();
    let mut schema = probes::schema(&probes);
    schema["x-kubernetes-validations"] = json!([
        {"rule": "self.metadata.name == 'probe' && self.kind == 'Ruled'"}, {"rule": "!has(self.metadata.generateName)"},
    ]);
    let definition = definition("Ruled", &schema);
    server.install(&definition);
    let schema = compiled(&definition);
    let path = path_of(&definition);
    let mut differences = Differences::default();
    let single = probes.iter().flat_map(|probe| {
        probe.values.as_array().unwrap().iter().map(|value| json!({probe.name: value})).collect::<Vec<_>>()
    });
    for spec in single.chain(generate::specs(&probes, COMBINATIONS)) {
        let object = object_of(&definition, &spec);
        differences.compare(&spec, &our_answer(&schema, &object, None), &server.create(&path, &object, true));
    }
    differences.assert_none(200);
}
