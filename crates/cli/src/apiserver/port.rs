//! Where the server listens: on the port it is told, else where it listened last, so that the kubeconfigs that were handed out
//! go on to lead to it. One that somebody else has taken meanwhile does not keep it from starting: it takes another, says so,
//! and stays there.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

use super::place::Place;

/// Any that is free.
const ANY: u16 = 0;

pub(crate) fn listen(place: &Place, asked: Option<u16>) -> Result<TcpListener> {
    let last = place.last_port();
    let listener = match (asked, last) {
        (Some(port), _) => bind(port).with_context(|| wrong(port))?,
        (None, Some(port)) => match bind(port) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                eprintln!("muster: port {port}, where it listened last, is taken; it takes another");
                bind(ANY).with_context(|| wrong(ANY))?
            }
            bound => bound.with_context(|| wrong(port))?,
        },
        (None, None) => bind(ANY).with_context(|| wrong(ANY))?,
    };
    let port = listener.local_addr().context("cannot find out where it listens")?.port();
    place.keep_port(port)?;
    Ok(listener)
}

fn bind(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

fn wrong(port: u16) -> String {
    format!("cannot listen on 127.0.0.1:{port}")
}
