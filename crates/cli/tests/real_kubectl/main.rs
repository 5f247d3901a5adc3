//! The real kubectl says the same to our server and to a real kube-apiserver.
//!
//! Each scene is a file of commands, which run one after the other against both servers. What kubectl prints, what it
//! complains about and how it exits must be equal, but for what must differ: uids, times, versions, addresses.

#![cfg(test)]

mod cascades;
mod mask;
mod scene;
mod shell;

use crate::scene::play;

macro_rules! scenes {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            play(stringify!($name), include_str!(concat!("scenes/", stringify!($name), ".sh")));
        }
    )*};
}

scenes!(real_apply, real_change, real_custom, real_discovery, real_events, real_get, real_unknown);
