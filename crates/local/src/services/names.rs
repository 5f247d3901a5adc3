//! The addresses of endpoints. The API takes no address of the loopback network for one, so a Pod that has one is known by
//! its name in the cluster's DNS, from which the address is read back: `127-77-0-3.shop.pod.cluster.local`.

use std::net::{IpAddr, Ipv4Addr};

/// What the name of a Pod ends with.
const ENDING: &str = "pod.cluster.local";

/// The kind of address that an `EndpointSlice` has for a Pod, and how it is written there.
pub(super) fn written(address: &str, namespace: &str) -> (&'static str, String) {
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(it)) if it.is_loopback() => {
            let [a, b, c, d] = it.octets();
            ("FQDN", format!("{a}-{b}-{c}-{d}.{namespace}.{ENDING}"))
        }
        Ok(IpAddr::V6(_)) => ("IPv6", address.to_owned()),
        _ => ("IPv4", address.to_owned()),
    }
}

/// The address that is written so; None for other names: nobody resolves names here.
pub(super) fn read(address: &str) -> Option<IpAddr> {
    if let Ok(address) = address.parse() {
        return Some(address);
    }
    let (first, rest) = address.split_once('.')?;
    rest.ends_with(ENDING).then_some(())?;
    first.replace('-', ".").parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let (kind, name) = written("127.77.0.3", "shop");
        assert_eq!((kind, name.as_str()), ("FQDN", "127-77-0-3.shop.pod.cluster.local"));
        assert_eq!(read(&name), "127.77.0.3".parse().ok());
        assert_eq!(written("10.1.2.3", "shop"), ("IPv4", "10.1.2.3".to_owned()));
        assert_eq!(read("10.1.2.3"), "10.1.2.3".parse().ok());
        assert_eq!(read("db.example.org"), None);
        assert_eq!(read("1-2-3.shop.pod.cluster.local"), None);
    }
}
