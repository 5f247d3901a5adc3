//! What kube-controller-manager does with any object, done by the server itself: garbage collection, the end of
//! namespaces, the protection of volumes in use, the account that every namespace has, and the certificate of the server.
//!
//! One loop drives them all: changes are told to each, then each does what follows from them, until nothing is left to
//! do. Nothing is asked for by the clock, so that a test in paused time takes no time at all.

mod accounts;
mod astray;
mod authority;
mod feed;
mod garbage;
mod namespaces;
mod owners;
mod protection;
mod queue;

use std::time::Duration;

use self::accounts::Accounts;
use self::authority::Authority;
use self::feed::{Feed, News, Seen};
use self::garbage::Garbage;
use self::namespaces::Namespaces;
use self::protection::Protection;
use crate::server::Server;

/// After how long what could not be done is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// What the controllers cannot find out by themselves.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The certificate (PEM) by which the server is known: every namespace gets it, in `kube-root-ca.crt`. None: none does.
    pub authority: Option<String>,
}

/// Runs the controllers of this server for as long as it is polled.
pub async fn run(server: Server) {
    run_with(server, Settings::default()).await;
}

/// The same with settings.
pub async fn run_with(server: Server, settings: Settings) {
    let mut feed = Feed::new(&server);
    let mut all = All::new(&settings);
    loop {
        let seen = match feed.news() {
            News::Everything(seen) => {
                all = All::new(&settings);
                seen
            }
            News::Changes(seen) => seen,
        };
        for one in &seen {
            all.observe(&server, one);
        }
        let failed = all.work(&server).await;
        // What was just done is news too: the feed waits only when there is none.
        feed.wait(failed.then_some(RETRY)).await;
    }
}

/// The controllers.
struct All {
    garbage: Garbage,
    namespaces: Namespaces,
    protection: Protection,
    accounts: Accounts,
    authority: Authority,
}

impl All {
    fn new(settings: &Settings) -> Self {
        Self {
            garbage: Garbage::default(),
            namespaces: Namespaces::default(),
            protection: Protection::default(),
            accounts: Accounts::default(),
            authority: Authority::new(settings.authority.clone()),
        }
    }

    fn observe(&mut self, server: &Server, seen: &Seen) {
        self.garbage.observe(server, seen);
        self.namespaces.observe(seen);
        self.protection.observe(seen);
        self.accounts.observe(seen);
        self.authority.observe(seen);
    }

    /// Does what is to be done now; whether something failed, and has to be tried again.
    async fn work(&mut self, server: &Server) -> bool {
        let garbage = self.garbage.work(server).await;
        let namespaces = self.namespaces.work(server).await;
        let protection = self.protection.work(server).await;
        let accounts = self.accounts.work(server).await;
        let authority = self.authority.work(server).await;
        garbage || namespaces || protection || accounts || authority
    }
}
