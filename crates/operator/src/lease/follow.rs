//! What one who does not lead does about what it sees of the Lease. Pure: time is what the sight says.

use std::time::Duration;

use tokio::time::Instant;

use super::options::Identity;
use super::record::Sight;

/// The next step of one who wants to lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There is none.
    Create,
    /// It is ours, but may be taken only from this time on: keep it.
    Keep(Instant),
    /// It is free, or ours.
    Take,
    /// It is held; it would be free at this time if it did not change.
    Wait(Instant),
}

/// What is remembered between two looks.
#[derive(Debug)]
pub(super) struct Memory {
    identity: Identity,
    /// How long to wait for others.
    duration: Duration,
    /// The Lease that names us, and from when on we may take it.
    ours: Option<Ours>,
    /// The version that others wrote, and since when we have seen no other.
    vigil: Option<Vigil>,
}

#[derive(Debug)]
struct Ours {
    uid: String,
    from: Instant,
}

#[derive(Debug)]
struct Vigil {
    uid: String,
    version: String,
    since: Instant,
}

impl Memory {
    pub(super) fn new(identity: Identity, duration: Duration) -> Self {
        Self { identity, duration, ours: None, vigil: None }
    }

    /// We wrote our name into this Lease, or tried to, and may take it from then on.
    pub(super) fn claim(&mut self, sight: &Sight, from: Instant) {
        self.ours = Some(Ours { uid: sight.uid().to_owned(), from });
    }

    /// What to do about what is seen.
    pub(super) fn judge(&mut self, seen: Option<&Sight>) -> Step {
        let Some(sight) = seen else {
            self.vigil = None;
            return Step::Create;
        };
        if sight.is_held_by(&self.identity) {
            self.vigil = None;
            let from = self.ours_from(sight);
            return if sight.at >= from { Step::Take } else { Step::Keep(from) };
        }
        self.ours = None;
        if sight.is_released() { Step::Take } else { self.wait_for(sight) }
    }

    /// From when on this Lease, which names us, may be taken. One that we do not know is what a lost answer created, or
    /// what a person put back: then others may have led since.
    fn ours_from(&mut self, sight: &Sight) -> Instant {
        match &self.ours {
            Some(ours) if ours.uid == sight.uid() => ours.from,
            _ => {
                let from = sight.at + self.duration;
                self.claim(sight, from);
                from
            }
        }
    }

    fn wait_for(&mut self, sight: &Sight) -> Step {
        let wait = self.duration.max(sight.stated_duration());
        let is_same = |vigil: &Vigil| vigil.uid == sight.uid() && vigil.version == sight.version();
        let vigil = self.vigil.take().filter(is_same).unwrap_or_else(|| Vigil {
            uid: sight.uid().to_owned(),
            version: sight.version().to_owned(),
            since: sight.at,
        });
        let since = self.vigil.insert(vigil).since;
        if sight.at.duration_since(since) >= wait { Step::Take } else { Step::Wait(since + wait) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Options;
    use super::super::record;
    use super::*;
    use jiff::Timestamp;
    use k8s_openapi::api::coordination::v1::Lease;

    const DURATION: Duration = Duration::from_secs(15);

    struct Scene {
        began: Instant,
        me: Options,
        memory: Memory,
    }

    fn options() -> Options {
        Options::new(None, Identity::fresh("x", &mut rand::rng()))
    }

    impl Scene {
        fn new() -> Self {
            let me = options();
            Self { began: Instant::now(), memory: Memory::new(me.identity.clone(), DURATION), me }
        }

        fn at(&self, seconds: u64) -> Instant {
            self.began + Duration::from_secs(seconds)
        }

        fn sees(&mut self, lease: &Lease, uid: &str, version: u64, at: u64) -> Step {
            let sight = self.sight(lease, uid, version, at);
            self.memory.judge(Some(&sight))
        }

        fn sight(&self, lease: &Lease, uid: &str, version: u64, at: u64) -> Sight {
            let mut lease = lease.clone();
            lease.metadata.uid = Some(uid.to_owned());
            lease.metadata.resource_version = Some(version.to_string());
            Sight { lease, at: self.at(at) }
        }
    }

    fn lease_of(options: &Options) -> Lease {
        record::created(options, 7, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_held_lease_is_taken_when_the_same_version_was_seen_for_its_duration() {
        let (mut scene, lease) = (Scene::new(), lease_of(&options()));
        assert_eq!(scene.sees(&lease, "a", 1, 0), Step::Wait(scene.at(15)));
        assert_eq!(scene.sees(&lease, "a", 2, 10), Step::Wait(scene.at(25)), "it was renewed");
        assert_eq!(scene.sees(&lease, "a", 2, 24), Step::Wait(scene.at(25)));
        assert_eq!(scene.sees(&lease, "a", 1, 24), Step::Wait(scene.at(39)), "a stale read delays");
        assert_eq!(scene.sees(&lease, "b", 1, 30), Step::Wait(scene.at(45)), "another Lease of that name");
        assert_eq!(scene.sees(&lease, "b", 1, 45), Step::Take);
    }

    #[test]
    fn a_longer_duration_of_its_holder_is_respected() {
        let (mut scene, mut lease) = (Scene::new(), lease_of(&options()));
        lease.spec.as_mut().unwrap().lease_duration_seconds = Some(60);
        assert_eq!(scene.sees(&lease, "a", 1, 0), Step::Wait(scene.at(60)));
        lease.spec.as_mut().unwrap().lease_duration_seconds = Some(3);
        assert_eq!(scene.sees(&lease, "a", 2, 0), Step::Wait(scene.at(15)), "a shorter one is not");
    }

    #[test]
    fn a_released_lease_is_taken_at_once_and_an_emptied_one_is_not() {
        let (mut scene, lease) = (Scene::new(), lease_of(&options()));
        let released = record::released(&lease, Timestamp::UNIX_EPOCH);
        assert_eq!(scene.sees(&released, "a", 1, 0), Step::Take);
        let mut emptied = lease;
        emptied.spec.as_mut().unwrap().holder_identity = None;
        assert_eq!(scene.sees(&emptied, "a", 2, 0), Step::Wait(scene.at(15)));
        emptied.spec = None;
        assert_eq!(scene.sees(&emptied, "a", 3, 0), Step::Wait(scene.at(15)));
    }

    #[test]
    fn what_names_us_is_taken_when_it_may_be() {
        let mut scene = Scene::new();
        assert_eq!(scene.memory.judge(None), Step::Create);
        let lease = lease_of(&scene.me);
        let created = scene.sight(&lease, "a", 1, 0);
        scene.memory.claim(&created, scene.at(15));
        assert_eq!(scene.sees(&lease, "a", 1, 2), Step::Keep(scene.at(15)));
        assert_eq!(scene.sees(&lease, "a", 9, 15), Step::Take);
        let put_back = scene.sees(&lease, "b", 20, 16);
        assert_eq!(put_back, Step::Keep(scene.at(31)), "created by a lost answer, or put back");
        assert_eq!(scene.sees(&lease, "b", 21, 31), Step::Take);
    }

    #[test]
    fn what_another_held_is_not_ours_when_a_person_writes_our_name_into_it() {
        let mut scene = Scene::new();
        let (ours, theirs) = (lease_of(&scene.me), lease_of(&options()));
        let led = scene.sight(&ours, "a", 1, 0);
        scene.memory.claim(&led, scene.at(0));
        assert_eq!(scene.sees(&theirs, "a", 2, 1), Step::Wait(scene.at(16)));
        assert_eq!(scene.sees(&ours, "a", 3, 2), Step::Keep(scene.at(17)));
    }
}
