//! One story, told to both servers step by step; after each part of it both have the same objects.

use muster_test_control_plane::{differences, eventually};
use serde_json::{Value, json};

use crate::kubelet;
use crate::normal::normal;
use crate::plane::{Plane, deadline};
use crate::world::World;

/// Both servers, and a namespace on each that is the story's own.
pub(crate) struct Both {
    planes: [&'static Plane; 2],
    namespace: String,
}

/// The path of a collection in a namespace, by the name that kubectl knows it by.
pub(crate) fn path(namespace: &str, short: &str) -> String {
    let (resource, rest) = short
        .split_once('/')
        .map_or((short, String::new()), |(resource, rest)| (resource, format!("/{rest}")));
    let group = match resource {
        "deployments" | "replicasets" | "statefulsets" | "daemonsets" | "controllerrevisions" => {
            "apis/apps/v1"
        }
        "jobs" | "cronjobs" => "apis/batch/v1",
        "poddisruptionbudgets" => "apis/policy/v1",
        "endpointslices" => "apis/discovery.k8s.io/v1",
        _ => "api/v1",
    };
    if matches!(resource, "namespaces" | "nodes") {
        return format!("/{group}/{resource}{rest}");
    }
    format!("/{group}/namespaces/{namespace}/{resource}{rest}")
}

impl Both {
    /// Begins a story in a new namespace.
    pub(crate) fn begin(namespace: &str) -> Self {
        let both = Self { planes: [Plane::real(), Plane::ours()], namespace: namespace.to_owned() };
        both.create("namespaces", &json!({"metadata": {"name": namespace}}));
        both
    }

    fn path(&self, short: &str) -> String {
        path(&self.namespace, short)
    }

    /// Creates an object on both.
    pub(crate) fn create(&self, short: &str, object: &Value) {
        for plane in self.planes {
            plane.create(&self.path(short), object);
        }
    }

    /// Changes an object on both.
    pub(crate) fn patch(&self, short: &str, patch: &Value) {
        for plane in self.planes {
            let answer = plane.send("PATCH", &self.path(short), patch);
            assert_ne!(answer["kind"], "Status", "{answer}");
        }
    }

    /// Deletes an object on both.
    pub(crate) fn delete(&self, short: &str, policy: &str) {
        for plane in self.planes {
            let answer = plane.delete(&self.path(short), policy);
            assert_ne!(answer["status"], "Failure", "{answer}");
        }
    }

    /// Changes the status of those Pods that are so, on both.
    pub(crate) fn on_pods(&self, is_so: &dyn Fn(&Value) -> bool, patch: &Value) {
        for plane in self.planes {
            let list = plane.get(&self.path("pods"));
            for pod in list["items"].as_array().into_iter().flatten().filter(|pod| is_so(pod)) {
                let name = pod["metadata"]["name"].as_str().unwrap_or_default();
                plane.send("PATCH", &self.path(&format!("pods/{name}/status")), patch);
            }
        }
    }

    /// Waits until an object is so on both. Meanwhile kubelets run Pods, if they are to.
    pub(crate) fn until(&self, short: &str, kubelet: bool, is_so: &dyn Fn(&Value) -> bool) {
        let mut is_so_on_both = || {
            for plane in self.planes {
                if kubelet {
                    kubelet::run(plane, &self.namespace);
                }
            }
            for (plane, name) in self.planes.iter().zip(["real", "ours"]) {
                let seen = plane.get(&self.path(short));
                if !is_so(&seen) {
                    return Err(json!({"server": name, "seen": seen, "pods": plane.get(&self.path("pods"))}));
                }
            }
            Ok(())
        };
        if let Err(last) = eventually(deadline(), &mut is_so_on_both) {
            panic!("{short} never came to this: {last:#}\n{}", self.logs());
        }
    }

    /// Waits until an object is gone on both.
    pub(crate) fn until_gone(&self, short: &str) {
        self.until(short, true, &|seen| seen["reason"] == "NotFound");
    }

    /// Waits until these collections hold the same on both.
    pub(crate) fn same(&self, milestone: &str, collections: &[&str]) {
        let mut are_same = || {
            let [real, ours] = self.planes.map(|plane| {
                let lists: Vec<_> = collections.iter().map(|short| plane.get(&self.path(short))).collect();
                normal(&lists)
            });
            let found = differences(&real, &ours);
            if found.is_empty() { Ok(()) } else { Err(found) }
        };
        if let Err(found) = eventually(deadline(), &mut are_same) {
            panic!("{milestone}: real and ours differ:\n{}", found.join("\n"));
        }
    }

    /// Ends the story: the namespace goes with everything in it.
    pub(crate) fn end(self) {
        let namespace = format!("namespaces/{}", self.namespace);
        self.delete(&namespace, "Background");
        self.until_gone(&namespace);
    }

    fn logs(&self) -> String {
        self.planes.map(Plane::log_tail).join("\n\n")
    }
}
