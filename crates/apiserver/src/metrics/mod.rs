//! What the server has done so far, as Prometheus reads it. Names are those of kube-apiserver where the meaning is.

mod histogram;
mod text;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use self::histogram::Histogram;

/// The `Content-Type` of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The most different requests that are counted apart: the labels come from paths, and so from clients. Those
/// above it are counted together, under no labels.
const MAX_SERIES: usize = 2_000;

/// What requests are counted by.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Labels {
    /// `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `APPLY`, `DELETE` or `DELETECOLLECTION`.
    pub verb: String,
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The resource; "" for paths that lead to none.
    pub resource: String,
    /// The part of it, or the path that leads to no resource.
    pub subresource: String,
    /// `resource` for one object, `namespace` or `cluster` for many.
    pub scope: String,
    /// `All` for a dry run.
    pub dry_run: String,
}

/// What is looked up when the text is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stock {
    /// How many objects there are, by group and resource.
    pub objects: BTreeMap<(String, String), u64>,
    /// How much is stored.
    pub bytes: u64,
    /// The newest revision.
    pub revision: u64,
}

/// The requests that share their labels.
struct Series {
    /// How many got each code.
    codes: BTreeMap<u16, u64>,
    durations: Histogram,
    sizes: Histogram,
}

impl Default for Series {
    fn default() -> Self {
        let (durations, sizes) = (Histogram::of_seconds(), Histogram::of_bytes());
        Self { codes: BTreeMap::new(), durations, sizes }
    }
}

#[derive(Default)]
struct Inner {
    counted: Mutex<BTreeMap<Labels, Series>>,
    reading: AtomicI64,
    writing: AtomicI64,
    watches: AtomicI64,
    watch_events: AtomicU64,
}

/// The counters. Cloning gives another handle to the same ones.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Inner>);

/// Which requests are counted as going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// Reads.
    Reading,
    /// Writes.
    Writing,
    /// Watches.
    Watching,
}

/// Something that goes on until this is dropped.
pub struct Guard(Metrics, Going);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.gauge(self.1).fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// Counts a request that has begun, as long as the guard lives.
    pub fn begin(&self, going: Going) -> Guard {
        self.gauge(going).fetch_add(1, Ordering::Relaxed);
        Guard(self.clone(), going)
    }

    /// Counts a request that was answered.
    pub fn answered(&self, labels: Labels, code: u16, took: Duration, bytes: u64) {
        let mut counted = self.0.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let full = counted.len() >= MAX_SERIES;
        let labels = if full && !counted.contains_key(&labels) { Labels::default() } else { labels };
        let series = counted.entry(labels).or_default();
        *series.codes.entry(code).or_default() += 1;
        series.durations.observe(took.as_secs_f64());
        #[allow(clippy::cast_precision_loss)] // sizes far below 2^52
        series.sizes.observe(bytes as f64);
    }

    /// Counts events that were sent to watchers.
    pub fn sent(&self, events: u64) {
        self.0.watch_events.fetch_add(events, Ordering::Relaxed);
    }

    /// The text.
    pub fn text(&self, stock: &Stock) -> String {
        text::write(self, stock)
    }

    fn gauge(&self, going: Going) -> &AtomicI64 {
        match going {
            Going::Reading => &self.0.reading,
            Going::Writing => &self.0.writing,
            Going::Watching => &self.0.watches,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> Labels {
        Labels {
            verb: "LIST".into(),
            resource: "widgets".into(),
            scope: "cluster".into(),
            ..Labels::default()
        }
    }

    #[test]
    fn requests_are_counted_by_what_they_were() {
        let metrics = Metrics::default();
        metrics.answered(list(), 200, Duration::from_millis(10), 5_000);
        metrics.answered(list(), 200, Duration::from_secs(100), 5);
        let text = metrics.text(&Stock::default());
        let labels = "component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"widgets\",scope=\"cluster\",\
                      subresource=\"\",verb=\"LIST\",version=\"\"";
        let sized = labels.replace("dry_run=\"\",", "");
        for line in [
            format!("apiserver_request_total{{code=\"200\",{labels}}} 2"),
            format!("apiserver_request_duration_seconds_bucket{{{labels},le=\"0.005\"}} 0"),
            format!("apiserver_request_duration_seconds_bucket{{{labels},le=\"0.025\"}} 1"),
            format!("apiserver_request_duration_seconds_bucket{{{labels},le=\"+Inf\"}} 2"),
            format!("apiserver_request_duration_seconds_count{{{labels}}} 2"),
            format!("apiserver_response_sizes_bucket{{{sized},le=\"10000\"}} 2"),
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\nin\n{text}");
        }
    }

    #[test]
    fn what_goes_on_is_counted_until_it_ends() {
        let metrics = Metrics::default();
        let guard = metrics.begin(Going::Writing);
        let shown = |text: &str| metrics.text(&Stock::default()).lines().any(|line| line == text);
        assert!(shown("apiserver_current_inflight_requests{request_kind=\"mutating\"} 1"));
        drop(guard);
        assert!(shown("apiserver_current_inflight_requests{request_kind=\"mutating\"} 0"));
    }

    #[test]
    fn clients_cannot_make_it_grow_without_end() {
        let metrics = Metrics::default();
        for number in 0..=MAX_SERIES {
            let labels = Labels { subresource: number.to_string(), ..list() };
            metrics.answered(labels, 404, Duration::ZERO, 0);
        }
        let counted = metrics.0.counted.lock().unwrap();
        assert_eq!(counted.len(), MAX_SERIES + 1);
        assert!(counted.contains_key(&Labels::default()));
    }

    #[test]
    fn labels_are_escaped_and_the_stock_is_told() {
        let metrics = Metrics::default();
        metrics.answered(Labels { subresource: "a\"\\\n".into(), ..list() }, 404, Duration::ZERO, 0);
        let objects = BTreeMap::from([((String::new(), "pods".to_owned()), 3)]);
        let text = metrics.text(&Stock { objects, bytes: 7, revision: 9 });
        assert!(text.contains(r#"subresource="a\"\\\n""#), "{text}");
        for line in [
            "apiserver_resource_objects{group=\"\",resource=\"pods\"} 3",
            "apiserver_storage_size_bytes{storage_cluster_id=\"muster\"} 7",
            "muster_apiserver_revision 9",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\nin\n{text}");
        }
    }
}
