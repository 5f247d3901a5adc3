//! The counters in the text form of Prometheus.

use std::fmt::Write;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::histogram::Histogram;
use super::{Going, Labels, Metrics, Stock};

/// Writing to a `String` cannot fail, so results of `write!` are dropped here.
pub(super) fn write(metrics: &Metrics, stock: &Stock) -> String {
    let mut out = String::new();
    requests(&mut out, metrics);
    going(&mut out, metrics);
    stored(&mut out, stock);
    out
}

fn requests(out: &mut String, metrics: &Metrics) {
    let counted = metrics.0.counted.lock().unwrap_or_else(PoisonError::into_inner);
    let name = "apiserver_request_total";
    head(out, name, "counter", "Requests by verb, resource, scope and code of the answer.");
    for (labels, series) in &*counted {
        let labels = labels.text(true);
        for (code, count) in &series.codes {
            let _ = writeln!(out, "{name}{{code=\"{code}\",{labels}}} {count}");
        }
    }
    let (took, help) = ("apiserver_request_duration_seconds", "How long requests took, watches apart.");
    histograms(
        out,
        took,
        help,
        counted.iter().map(|(labels, series)| (labels.text(true), &series.durations)),
    );
    let (sizes, help) = ("apiserver_response_sizes", "The size of answers in bytes.");
    histograms(out, sizes, help, counted.iter().map(|(labels, series)| (labels.text(false), &series.sizes)));
}

fn going(out: &mut String, metrics: &Metrics) {
    let value = |going| metrics.gauge(going).load(Ordering::Relaxed);
    let name = "apiserver_current_inflight_requests";
    head(out, name, "gauge", "Requests that are being answered, watches apart.");
    let _ = writeln!(out, "{name}{{request_kind=\"mutating\"}} {}", value(Going::Writing));
    let _ = writeln!(out, "{name}{{request_kind=\"readOnly\"}} {}", value(Going::Reading));
    let name = "apiserver_longrunning_requests";
    head(out, name, "gauge", "Watches that are open.");
    let _ = writeln!(out, "{name}{{component=\"apiserver\",verb=\"WATCH\"}} {}", value(Going::Watching));
    let name = "apiserver_watch_events_total";
    head(out, name, "counter", "Events that were sent to watchers.");
    let _ = writeln!(out, "{name} {}", metrics.0.watch_events.load(Ordering::Relaxed));
}

fn stored(out: &mut String, stock: &Stock) {
    let name = "apiserver_resource_objects";
    head(out, name, "gauge", "Objects that are stored, by resource.");
    for ((group, resource), count) in &stock.objects {
        let (group, resource) = (escape(group), escape(resource));
        let _ = writeln!(out, "{name}{{group=\"{group}\",resource=\"{resource}\"}} {count}");
    }
    let name = "apiserver_storage_size_bytes";
    head(out, name, "gauge", "The size of what is stored.");
    let _ = writeln!(out, "{name}{{storage_cluster_id=\"muster\"}} {}", stock.bytes);
    let name = "muster_apiserver_revision";
    head(out, name, "gauge", "The newest revision: how many changes there were.");
    let _ = writeln!(out, "{name} {}", stock.revision);
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn histograms<'a>(
    out: &mut String,
    name: &str,
    help: &str,
    all: impl Iterator<Item = (String, &'a Histogram)>,
) {
    head(out, name, "histogram", help);
    for (labels, histogram) in all {
        let mut total = 0;
        for (bound, count) in histogram.cumulative() {
            let bound = bound.map_or_else(|| "+Inf".to_owned(), number);
            let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}");
            total = count;
        }
        let _ = writeln!(out, "{name}_sum{{{labels}}} {}", histogram.sum());
        let _ = writeln!(out, "{name}_count{{{labels}}} {total}");
    }
}

/// A bound as Prometheus' own libraries write it: large ones in powers of ten.
fn number(bound: f64) -> String {
    if bound >= 1e6 { format!("{bound:e}").replacen('e', "e+0", 1) } else { bound.to_string() }
}

impl Labels {
    fn text(&self, dry_run: bool) -> String {
        let component = if self.resource.is_empty() { "" } else { "apiserver" };
        let mut labels = vec![("component", component)];
        if dry_run {
            labels.push(("dry_run", &self.dry_run));
        }
        labels.extend([
            ("group", self.group.as_str()),
            ("resource", &self.resource),
            ("scope", &self.scope),
            ("subresource", &self.subresource),
            ("verb", &self.verb),
            ("version", &self.version),
        ]);
        let written: Vec<String> =
            labels.into_iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        written.join(",")
    }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
