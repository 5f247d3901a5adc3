//! What a test can make go wrong, and that it is what a client then sees.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use kube::api::{
    DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::{Api, Error, ResourceExt};
use muster_apiserver::error::{ApiError, Reason};
use muster_apiserver::server::faults::{EventFault, Fault, Faults, Seen};
use muster_apiserver::watch::Event;

use crate::widgets::{server_with, widget, widgets};

/// Does once what it is told, to the next request for widgets or to the next event.
#[derive(Default)]
struct Next {
    request: Mutex<Option<Fault>>,
    event: Mutex<Option<EventFault>>,
}

impl Faults for Next {
    fn request(&self, request: &Seen) -> Fault {
        if request.resource != "example.org/widgets" {
            return Fault::None;
        }
        self.request.lock().unwrap().take().unwrap_or(Fault::None)
    }

    fn event(&self, _: &Seen, _: &Event) -> EventFault {
        self.event.lock().unwrap().take().unwrap_or(EventFault::None)
    }
}

impl Next {
    fn fails(&self, fault: Fault) {
        *self.request.lock().unwrap() = Some(fault);
    }

    fn spoils(&self, fault: EventFault) {
        *self.event.lock().unwrap() = Some(fault);
    }
}

fn code(error: &Error) -> Option<u16> {
    match error {
        Error::Api(status) => Some(status.code),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_fails_before_or_after_its_effect() {
    let next = Arc::new(Next::default());
    let (_server, client) = server_with(next.clone()).await;
    let widgets = widgets(&client);
    let create = |name: &str| {
        let (widgets, object) = (widgets.clone(), widget(name, 1));
        async move { widgets.create(&PostParams::default(), &object).await.unwrap_err() }
    };
    let broken = ApiError::new(Reason::InternalError, "broken");
    for (name, fault, answer, happened) in [
        ("before", Fault::Before(broken.clone()), Some(500), false),
        ("after", Fault::After(broken), Some(500), true),
        ("lost-before", Fault::LostBefore, None, false),
        ("lost-after", Fault::LostAfter, None, true),
        ("conflict", Fault::Conflict, Some(409), false),
    ] {
        next.fails(fault);
        assert_eq!(code(&create(name).await), answer, "{name}");
        assert_eq!(widgets.get_opt(name).await.unwrap().is_some(), happened, "{name}");
    }
}

/// The ways to write to a widget that is there. Each makes it of size 2, or takes it away.
#[derive(Clone, Copy, Debug)]
enum Change {
    Update,
    Patch,
    Apply,
    Delete,
}

impl Change {
    const ALL: [Self; 4] = [Self::Update, Self::Patch, Self::Apply, Self::Delete];

    async fn make(self, widgets: &Api<DynamicObject>, old: &DynamicObject) -> Result<(), Error> {
        let name = &*old.name_any();
        match self {
            Self::Update => {
                let mut wanted = old.clone();
                wanted.data["spec"]["size"] = 2.into();
                widgets.replace(name, &PostParams::default(), &wanted).await.map(drop)
            }
            Self::Patch => {
                let patch = Patch::Merge(serde_json::json!({"spec": {"size": 2}}));
                widgets.patch(name, &PatchParams::default(), &patch).await.map(drop)
            }
            Self::Apply => {
                let params = PatchParams::apply("tests").force();
                widgets.patch(name, &params, &Patch::Apply(widget(name, 2))).await.map(drop)
            }
            Self::Delete => widgets.delete(name, &DeleteParams::default()).await.map(drop),
        }
    }

    /// Whether it took effect.
    async fn happened(self, widgets: &Api<DynamicObject>, name: &str) -> bool {
        match (self, widgets.get_opt(name).await.unwrap()) {
            (Self::Delete, found) => found.is_none(),
            (_, Some(found)) => found.data["spec"]["size"] == 2,
            (_, None) => panic!("{self:?} took the widget away"),
        }
    }
}

/// A new widget of size 1.
async fn made(widgets: &Api<DynamicObject>, name: &str) -> DynamicObject {
    widgets.create(&PostParams::default(), &widget(name, 1)).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_change_fails_before_or_after_its_effect() {
    let next = Arc::new(Next::default());
    let (_server, client) = server_with(next.clone()).await;
    let widgets = widgets(&client);
    let broken = ApiError::new(Reason::InternalError, "broken");
    for change in Change::ALL {
        for (place, (fault, answer, happened)) in [
            (Fault::Before(broken.clone()), Some(500), false),
            (Fault::After(broken.clone()), Some(500), true),
            (Fault::LostBefore, None, false),
            (Fault::LostAfter, None, true),
            (Fault::Conflict, Some(409), false),
        ]
        .into_iter()
        .enumerate()
        {
            let (name, what) =
                (format!("{change:?}-{place}").to_lowercase(), format!("{change:?} {fault:?}"));
            let old = made(&widgets, &name).await;
            next.fails(fault);
            assert_eq!(code(&change.make(&widgets, &old).await.unwrap_err()), answer, "{what}");
            assert_eq!(change.happened(&widgets, &name).await, happened, "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_may_be_late() {
    let late = Duration::from_secs(5);
    let next = Arc::new(Next::default());
    let (_server, client) = server_with(next.clone()).await;
    let widgets = widgets(&client);
    let began = tokio::time::Instant::now();
    next.fails(Fault::Delay(late));
    made(&widgets, "created").await;
    assert_eq!(began.elapsed(), late, "a creation");
    for change in Change::ALL {
        let name = format!("{change:?}").to_lowercase();
        let old = made(&widgets, &name).await;
        let began = tokio::time::Instant::now();
        next.fails(Fault::Delay(late));
        {
            let making = change.make(&widgets, &old);
            tokio::pin!(making);
            // Nothing has happened a moment before.
            let early = tokio::time::timeout(late.saturating_sub(Duration::from_secs(1)), &mut making).await;
            assert!(early.is_err() && !change.happened(&widgets, &name).await, "{change:?} was early");
            making.await.unwrap();
        }
        assert_eq!(began.elapsed(), late, "{change:?}");
        assert!(change.happened(&widgets, &name).await, "{change:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_may_be_late_or_stale() {
    let next = Arc::new(Next::default());
    let (_server, client) = server_with(next.clone()).await;
    let widgets = widgets(&client);
    widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    widgets.create(&PostParams::default(), &widget("b", 1)).await.unwrap();
    next.fails(Fault::Stale(1));
    assert_eq!(widgets.list(&ListParams::default()).await.unwrap().items.len(), 1);
    next.fails(Fault::Stale(1));
    assert!(widgets.get_opt("b").await.unwrap().is_none());
    let began = tokio::time::Instant::now();
    next.fails(Fault::Delay(Duration::from_secs(5)));
    widgets.get("b").await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_watch_may_begin_in_the_past_and_catches_up() {
    let next = Arc::new(Next::default());
    let (_server, client) = server_with(next.clone()).await;
    let widgets = widgets(&client);
    let old = widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    let mut new = old.clone();
    new.data["spec"]["size"] = 2.into();
    let new = widgets.replace("a", &PostParams::default(), &new).await.unwrap();
    next.fails(Fault::Stale(1));
    let mut events = widgets.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    assert!(matches!(events.try_next().await, Ok(Some(WatchEvent::Added(a))) if a == old));
    assert!(matches!(events.try_next().await, Ok(Some(WatchEvent::Modified(a))) if a == new));
}

#[tokio::test(start_paused = true)]
async fn events_are_dropped_delayed_or_cut_off() {
    let next = Arc::new(Next::default());
    let (_server, client) = server_with(next.clone()).await;
    let widgets = widgets(&client);
    let version = widgets.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    widgets.create(&PostParams::default(), &widget("b", 1)).await.unwrap();

    next.spoils(EventFault::Drop);
    let mut events = widgets.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    assert!(matches!(events.try_next().await, Ok(Some(WatchEvent::Added(b))) if b.name_any() == "b"));

    next.spoils(EventFault::Delay(Duration::from_secs(3)));
    let began = tokio::time::Instant::now();
    let mut events = widgets.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    assert!(matches!(events.try_next().await, Ok(Some(WatchEvent::Added(a))) if a.name_any() == "a"));
    assert_eq!(began.elapsed(), Duration::from_secs(3));

    next.spoils(EventFault::End);
    let mut events = widgets.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    assert!(matches!(events.try_next().await, Ok(None)));

    next.spoils(EventFault::Expire);
    let mut events = widgets.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    assert!(matches!(events.try_next().await, Ok(Some(WatchEvent::Error(status))) if status.code == 410));

    next.spoils(EventFault::Lost);
    let mut events = widgets.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    assert!(events.try_next().await.is_err());
}
