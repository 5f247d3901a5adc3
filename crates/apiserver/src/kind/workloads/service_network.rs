//! The network that Services have their addresses from.

use std::fmt;
use std::net::Ipv4Addr;

/// A network of at most 65,536 addresses: its first address, and the number of bits that all have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceNetwork {
    address: Ipv4Addr,
    bits: u8,
}

/// The largest and the smallest network: more addresses than there are Services to have them, or none.
const BITS: std::ops::RangeInclusive<u8> = 16..=28;
/// How many addresses are given by chance only when there are no others, at least and at most, as on kube-apiserver.
const STATIC: std::ops::RangeInclusive<u32> = 16..=256;

impl Default for ServiceNetwork {
    /// 10.0.0.0/24, as kube-apiserver has it.
    fn default() -> Self {
        Self { address: Ipv4Addr::new(10, 0, 0, 0), bits: 24 }
    }
}

impl ServiceNetwork {
    /// A network; None if it is too large or too small, or the address is not its first.
    pub fn new(address: Ipv4Addr, bits: u8) -> Option<Self> {
        let network = Self { address, bits };
        let is_first = BITS.contains(&bits) && u32::from(address) % network.size() == 0;
        is_first.then_some(network)
    }

    fn size(self) -> u32 {
        1 << (32 - u32::from(self.bits))
    }

    /// Its first address, which nobody gets.
    pub(super) fn address(self) -> Ipv4Addr {
        self.address
    }

    /// The first number that is given out, the first that is given by chance, and the last.
    pub(super) fn numbers(self) -> (u32, u32, u32) {
        let first = u32::from(self.address);
        let by_request = (self.size() / 16).clamp(*STATIC.start(), *STATIC.end()).min(self.size() / 2);
        (first + 1, first + by_request, first + self.size() - 2)
    }

    /// Whether an address can be given out.
    pub(super) fn has(self, address: Ipv4Addr) -> bool {
        let (first, _, last) = self.numbers();
        (first..=last).contains(&u32::from(address))
    }
}

impl fmt::Display for ServiceNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_gives_out_all_but_its_first_and_last() {
        let network = ServiceNetwork::default();
        let at = |last: u8| Ipv4Addr::new(10, 0, 0, last);
        assert_eq!(network.numbers(), (at(1).into(), at(16).into(), at(254).into()));
        assert!(network.has(at(1)) && network.has(at(254)) && !network.has(at(0)) && !network.has(at(255)));
        assert_eq!(network.to_string(), "10.0.0.0/24");
        let loopback = ServiceNetwork::new(Ipv4Addr::new(127, 78, 0, 0), 16).unwrap();
        assert!(loopback.has(Ipv4Addr::new(127, 78, 255, 254)) && !loopback.has(at(1)));
        for (address, bits) in [(at(1), 24), (at(0), 8), (at(0), 30), (Ipv4Addr::new(10, 1, 0, 0), 15)] {
            assert_eq!(ServiceNetwork::new(address, bits), None);
        }
    }
}
