//! From nothing to a control plane that serves: free ports, processes, readiness.

use crate::servers::Layout;
use crate::ward::{Directory, Server};
use crate::{ControlPlane, Error, eventually, kubectl};
use muster_test_assets::{Assets, Binary, locate};
use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// A start takes about 4 s on an idle machine of two cores; this allows for one that is busy compiling.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// A port that was free can be taken before it is used; this often would be no accident.
const PORT_ATTEMPTS: usize = 5;

pub(crate) fn start(syncs: bool) -> Result<ControlPlane, Error> {
    start_on(syncs, free_ports)
}

/// Starts on the ports for etcd and kube-apiserver that are chosen for each attempt.
fn start_on(syncs: bool, mut choose: impl FnMut() -> Result<[u16; 2], Error>) -> Result<ControlPlane, Error> {
    let assets = locate()?;
    let mut attempt = 1;
    loop {
        match start_once(&assets, syncs, choose()?) {
            Err(error) if error.is_port_taken() && attempt < PORT_ATTEMPTS => attempt += 1,
            result => return result,
        }
    }
}

fn start_once(assets: &Assets, syncs: bool, [etcd_port, api_port]: [u16; 2]) -> Result<ControlPlane, Error> {
    let deadline = Instant::now() + READY_WITHIN;
    let secret = random_word()?;
    let directory = Directory::create(std::env::temp_dir().join(format!("muster-control-plane-{secret}")))?;
    let layout = Layout { directory: directory.path(), etcd_port, api_port, secret: &secret, syncs };
    layout.write_files()?;

    let spawn = |name, binary, arguments: Vec<String>| {
        let log = directory.path().join(format!("{name}.log"));
        Server::spawn(name, &assets.path(binary), &arguments, &log)
    };
    let mut etcd = spawn("etcd", Binary::Etcd, layout.etcd_arguments())?;
    wait_until(&mut [&mut etcd], deadline, || accepts(etcd_port))?;
    let mut apiserver = spawn("kube-apiserver", Binary::KubeApiserver, layout.apiserver_arguments())?;

    let (url, kubeconfig) = (layout.api_url(), layout.kubeconfig());
    let ask = |arguments: &[&str]| kubectl::succeeds(assets, &kubeconfig, arguments);
    let mut servers = [&mut apiserver, &mut etcd];
    wait_until(&mut servers, deadline, || accepts(api_port))?;
    wait_until(&mut servers, deadline, || ask(&["get", "--raw", "/readyz"]))?;
    // The API server creates this namespace after it has said that it is ready.
    wait_until(&mut servers, deadline, || ask(&["get", "namespace", "default"]))?;
    Ok(ControlPlane {
        assets: assets.clone(),
        url,
        kubeconfig,
        kubelet_client: layout.kubelet_client(),
        _apiserver: apiserver,
        _etcd: etcd,
        _directory: directory,
    })
}

/// Asks until the answer is yes, one of the servers ends, or the deadline passes. The first server is the one that
/// is waited for.
fn wait_until<const N: usize>(
    servers: &mut [&mut Server; N],
    deadline: Instant,
    mut ready: impl FnMut() -> Result<(), String>,
) -> Result<(), Error> {
    let outcome = eventually(deadline, || match servers.iter_mut().try_for_each(|server| server.check()) {
        Ok(()) => ready().map(Ok),
        Err(ended) => Ok(Err(ended)),
    });
    outcome.unwrap_or_else(|answer| {
        let (server, log) = (servers[0].name(), servers[0].log_tail());
        Err(Error::NotReady { server, seconds: READY_WITHIN.as_secs(), answer, log })
    })
}

fn accepts(port: u16) -> Result<(), String> {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map(drop).map_err(|e| e.to_string())
}

/// Ports that are free now, each different: all are held until all are chosen.
fn free_ports<const N: usize>() -> Result<[u16; N], Error> {
    let doing = "find a free port on 127.0.0.1";
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::io(doing))?;
        *port = listener.local_addr().map_err(Error::io(doing))?.port();
        held.push(listener);
    }
    Ok(ports)
}

/// 128 random bits, in hexadecimal.
pub(crate) fn random_word() -> Result<String, Error> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(Error::io("read /dev/urandom"))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts with the first choice of ports replaced by one that somebody holds; says how many choices it took.
    fn choices_when_taken(which: usize) -> usize {
        let holder = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut choices = 0;
        let plane = start_on(false, || {
            choices += 1;
            let mut ports = free_ports()?;
            if choices == 1 {
                ports[which] = holder.local_addr().unwrap().port();
            }
            Ok(ports)
        });
        plane.unwrap();
        choices
    }

    #[test]
    fn real_a_port_of_etcd_that_is_taken_is_replaced() {
        assert_eq!(choices_when_taken(0), 2);
    }

    #[test]
    fn real_a_port_of_the_api_server_that_is_taken_is_replaced() {
        assert_eq!(choices_when_taken(1), 2);
    }

    #[test]
    fn chosen_ports_differ() {
        let [a, b, c] = free_ports().unwrap();
        assert!(a != b && b != c && a != c);
    }
}
