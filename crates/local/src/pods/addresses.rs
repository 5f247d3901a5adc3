//! The addresses of Pods: each has one of its own on this machine's loopback network.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

/// The first two numbers of every Pod's address. All of 127.0.0.0/8 is loopback on Linux; few programs use more than 127.0.0.1.
const NETWORK: [u8; 2] = [127, 77];
/// Where a node listens to nobody, on the last address of its part: whoever could listen there too would be another node.
const CLAIM: u16 = 7077;

/// The addresses of one node: a part of the network that no other node of this machine has. One that was given back is the last
/// to be given again: whoever still calls it reaches nobody, rather than someone else.
#[derive(Debug)]
pub(super) struct Addresses {
    part: u8,
    used: BTreeSet<u8>,
    last: u8,
    /// Says to others that the part is taken, for as long as this lives.
    _claim: Option<TcpListener>,
}

impl Addresses {
    /// A part that is free; for the same directory the same one, unless another node took it meanwhile. None: all are taken.
    pub(super) fn claim(directory: &Path) -> Option<Self> {
        let bytes = directory.as_os_str().as_encoded_bytes();
        let favourite = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte));
        (0..=u8::MAX).find_map(|step| {
            let part = favourite.wrapping_add(step);
            let listener = TcpListener::bind((address(part, u8::MAX - 1), CLAIM)).ok()?;
            Some(Self { part, used: BTreeSet::new(), last: 0, _claim: Some(listener) })
        })
    }

    /// An address that nobody has: the wanted one, if it can be had. None: there is none left.
    pub(super) fn take(&mut self, wanted: Option<String>) -> Option<String> {
        let wanted = wanted.and_then(|text| self.number(&text)).filter(|number| !self.used.contains(number));
        let number = wanted.or_else(|| {
            let mut others = (1..=u8::MAX).map(|step| self.last.wrapping_add(step));
            others.find(|number| is_given(*number) && !self.used.contains(number))
        })?;
        self.used.insert(number);
        if wanted.is_none() {
            self.last = number;
        }
        Some(address(self.part, number).to_string())
    }

    pub(super) fn give_back(&mut self, address: &str) {
        if let Some(number) = self.number(address) {
            self.used.remove(&number);
        }
    }

    fn number(&self, address: &str) -> Option<u8> {
        let [a, b, part, number] = address.parse::<Ipv4Addr>().ok()?.octets();
        ([a, b] == NETWORK && part == self.part && is_given(number)).then_some(number)
    }
}

/// The first and the last address of a network are nobody's by custom, and the one before is the claim's.
const fn is_given(number: u8) -> bool {
    !matches!(number, 0 | 254 | 255)
}

fn address(part: u8, number: u8) -> Ipv4Addr {
    Ipv4Addr::new(NETWORK[0], NETWORK[1], part, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> Addresses {
        Addresses { part: 5, used: BTreeSet::new(), last: 0, _claim: None }
    }

    #[test]
    fn everyone_has_an_address_of_their_own_and_keeps_it() {
        let mut addresses = addresses();
        assert_eq!(addresses.take(Some("127.77.5.2".into())).as_deref(), Some("127.77.5.2"));
        assert_eq!(addresses.take(None).as_deref(), Some("127.77.5.1"));
        assert_eq!(addresses.take(Some("127.77.5.2".into())).as_deref(), Some("127.77.5.3"), "it is taken");
        addresses.give_back("127.77.5.1");
        assert_eq!(
            addresses.take(Some("127.77.6.1".into())).as_deref(),
            Some("127.77.5.4"),
            "another node's"
        );
    }

    #[test]
    fn they_can_run_out() {
        let mut addresses = addresses();
        assert_eq!(std::iter::from_fn(|| addresses.take(None)).count(), 253);
    }

    #[test]
    fn two_nodes_have_different_parts() {
        let (one, other) =
            (Addresses::claim(Path::new("/a")).unwrap(), Addresses::claim(Path::new("/a")).unwrap());
        assert_ne!(one.part, other.part);
        let part = one.part;
        drop(one);
        assert_eq!(Addresses::claim(Path::new("/a")).unwrap().part, part);
    }
}
