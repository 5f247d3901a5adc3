//! What an engine says that does not hold together: names within it that lead nowhere, patterns that are
//! none.

use muster_api::engine::{Container, ReplicationEngineSpec, Template};
use muster_api::names::{DATA_VOLUME, MAIN_CONTAINER};
use regex::RegexBuilder;

use super::{Path, Violation, labels};

/// Largest compiled pattern, in bytes: an engine's author must not be able to make the operator compute for
/// long.
const PATTERN_SIZE_MAX: usize = 1 << 20;

/// Whether the whole of `value` matches `pattern`; a pattern that is none matches nothing.
pub(super) fn matches(pattern: &str, value: &str) -> bool {
    let whole = format!("^(?:{pattern})$");
    RegexBuilder::new(&whole).size_limit(PATTERN_SIZE_MAX).build().is_ok_and(|regex| regex.is_match(value))
}

/// Everything that does not hold together.
pub(super) fn violations(engine: &ReplicationEngineSpec) -> Vec<Violation> {
    let mut found = Found { engine, violations: Vec::new() };
    let spec = Path::root("spec");
    found.versions(&spec);
    found.template(&engine.template, &spec.field("template"), Of::Member);
    found.parameters(&spec);
    for (index, driver) in engine.drivers.iter().enumerate() {
        let path = spec.field("drivers").index(index).field("template");
        found.template(&driver.template, &path, Of::Driver);
    }
    found.selector(&spec);
    found.violations.extend(super::template::violations(engine));
    found.violations
}

/// Whose Pod a template describes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Member,
    Driver,
}

struct Found<'a> {
    engine: &'a ReplicationEngineSpec,
    violations: Vec<Violation>,
}

impl Found<'_> {
    fn refuse(&mut self, path: &Path, message: impl Into<String>) {
        self.violations.push(Violation { path: path.to_string(), message: message.into() });
    }

    fn versions(&mut self, spec: &Path) {
        for (index, version) in self.engine.versions.iter().enumerate() {
            let path = spec.field("versions").index(index).field("images");
            for name in version.images.keys() {
                if !self.engine.template.containers.iter().any(|c| c.name == *name) {
                    self.refuse(&path.key(name), "the template has no such container");
                }
            }
        }
    }

    fn parameters(&mut self, spec: &Path) {
        for (index, parameter) in self.engine.parameters.iter().enumerate() {
            let Some(pattern) = &parameter.pattern else { continue };
            let path = spec.field("parameters").index(index);
            let compiled = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE_MAX).build();
            if compiled.is_err() {
                self.refuse(&path.field("pattern"), "is not a regular expression, or too large a one");
            } else if let Some(value) = parameter.default.as_deref().filter(|value| !matches(pattern, value))
            {
                self.refuse(&path.field("default"), format!("{value:?} does not match {pattern:?}"));
            }
        }
    }

    fn template(&mut self, template: &Template, path: &Path, of: Of) {
        for (index, container) in template.containers.iter().enumerate() {
            let path = path.field("containers").index(index);
            self.container(container, template, &path, of);
            if of == Of::Member && container.name == MAIN_CONTAINER {
                self.main(container, &path);
            }
        }
    }

    fn container(&mut self, container: &Container, template: &Template, path: &Path, of: Of) {
        if let Some(resources) = &container.resources {
            self.violations.extend(super::pod::resources(resources, &path.field("resources")));
        }
        for (index, mount) in container.mounts.iter().enumerate() {
            let own = of == Of::Member && mount.name == DATA_VOLUME;
            if !own && !template.volumes.iter().any(|volume| volume.name == mount.name) {
                let path = path.field("mounts").index(index).field("name");
                self.refuse(&path, format!("the template has no volume {:?}", mount.name));
            }
        }
        for (index, variable) in container.env.iter().enumerate() {
            let Some(wanted) = &variable.secret_key else { continue };
            let path = path.field("env").index(index).field("secretKey");
            match self.engine.secrets.iter().find(|secret| secret.name == wanted.name) {
                None => {
                    self.refuse(&path.field("name"), format!("the engine has no secret {:?}", wanted.name));
                }
                Some(secret) if !secret.keys.iter().any(|key| key.name == wanted.key) => {
                    let text = format!("the secret {:?} has no key {:?}", wanted.name, wanted.key);
                    self.refuse(&path.field("key"), text);
                }
                Some(_) => {}
            }
        }
    }

    /// `main` runs under the agent, which starts, stops and watches it.
    fn main(&mut self, main: &Container, path: &Path) {
        let given = [
            ("command", !main.command.is_empty()),
            ("args", !main.args.is_empty()),
            ("livenessProbe", main.liveness_probe.is_some()),
            ("readinessProbe", main.readiness_probe.is_some()),
            ("startupProbe", main.startup_probe.is_some()),
        ];
        for (field, _) in given.into_iter().filter(|(_, given)| *given) {
            self.refuse(&path.field(field), "is not for main, which the agent starts and watches");
        }
    }

    fn selector(&mut self, spec: &Path) {
        let Some(selector) = &self.engine.namespace_selector else { return };
        let path = spec.field("namespaceSelector");
        for (key, value) in selector.match_labels.iter().flatten() {
            let path = path.field("matchLabels").key(key);
            for wrong in [labels::key(key), labels::value(value)].into_iter().flatten() {
                self.refuse(&path, wrong);
            }
        }
        for (index, expression) in selector.match_expressions.iter().flatten().enumerate() {
            let path = path.field("matchExpressions").index(index);
            let values = expression.values.as_deref().unwrap_or_default();
            match expression.operator.as_str() {
                "In" | "NotIn" if values.is_empty() => {
                    self.refuse(&path.field("values"), "In and NotIn need at least one value");
                }
                "Exists" | "DoesNotExist" if !values.is_empty() => {
                    self.refuse(&path.field("values"), "Exists and DoesNotExist take no values");
                }
                "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
                _ => self.refuse(&path.field("operator"), "must be In, NotIn, Exists or DoesNotExist"),
            }
            if let Some(wrong) = labels::key(&expression.key) {
                self.refuse(&path.field("key"), wrong);
            }
        }
    }
}
