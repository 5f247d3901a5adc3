//! Whether a container has started, is ready, and lives: asked as its probes say.

use std::time::Duration;

use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::{Container, HTTPGetAction, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Which question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Started,
    Ready,
    Alive,
}

/// An answer: of which container's which run, to which question, and whether it is yes. `why` says why not.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) container: usize,
    pub(super) run: u32,
    pub(super) question: Question,
    pub(super) yes: bool,
    pub(super) why: String,
}

/// How to ask.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    pub(super) container: usize,
    pub(super) run: u32,
    pub(super) address: String,
    /// When the container was started: delays are counted from there, whichever question is asked when.
    pub(super) since: Instant,
    /// How a command is run in the container; the command of the probe follows.
    pub(super) exec: Vec<String>,
}

impl Asker {
    /// Asks one question again and again, and tells each change of the answer; the first one too.
    pub(super) async fn ask(self, question: Question, spec: Container, tell: mpsc::Sender<Answer>) {
        let probe = match question {
            Question::Started => &spec.startup_probe,
            Question::Ready => &spec.readiness_probe,
            Question::Alive => &spec.liveness_probe,
        };
        let Some(probe) = probe.clone() else { return };
        let seconds = |value: Option<i32>, default: i32| {
            Duration::from_secs(value.unwrap_or(default).max(0).unsigned_abs().into())
        };
        tokio::time::sleep_until(self.since + seconds(probe.initial_delay_seconds, 0)).await;
        let (period, patience) = (seconds(probe.period_seconds, 10), seconds(probe.timeout_seconds, 1));
        let (successes, failures) =
            (probe.success_threshold.unwrap_or(1), probe.failure_threshold.unwrap_or(3));
        let (mut in_a_row, mut last, mut said) = (0, None, None);
        loop {
            let asked = tokio::time::timeout(patience, self.once(&probe, &spec)).await;
            let answer = asked.unwrap_or_else(|_| Err(format!("no answer within {} s", patience.as_secs())));
            let yes = answer.is_ok();
            in_a_row = if last == Some(yes) { in_a_row + 1 } else { 1 };
            last = Some(yes);
            let enough = in_a_row >= if yes { successes } else { failures };
            if enough && said != Some(yes) {
                said = Some(yes);
                let why = answer.err().unwrap_or_default();
                let Self { container, run, .. } = self;
                if tell.send(Answer { container, run, question, yes, why }).await.is_err() {
                    return;
                }
                if question == Question::Started && yes {
                    return;
                }
            }
            tokio::time::sleep(period).await;
        }
    }

    async fn once(&self, probe: &Probe, spec: &Container) -> Result<(), String> {
        if let Some(http) = &probe.http_get {
            return self.http(http, spec).await;
        }
        if let Some(tcp) = &probe.tcp_socket {
            let host = tcp.host.as_deref().unwrap_or(&self.address);
            return connect(host, port(&tcp.port, spec)?).await.map(drop);
        }
        if let Some(exec) = &probe.exec {
            return self.run_command(exec.command.as_deref().unwrap_or_default()).await;
        }
        Err("a probe of this kind is not supported here".into())
    }

    async fn http(&self, get: &HTTPGetAction, spec: &Container) -> Result<(), String> {
        if get.scheme.as_deref().is_some_and(|scheme| scheme != "HTTP") {
            return Err("a probe by HTTPS is not supported here".into());
        }
        let host = get.host.as_deref().unwrap_or(&self.address);
        let stream = connect(host, port(&get.port, spec)?).await?;
        let words = |error: hyper::Error| error.to_string();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(words)?;
        let path = get.path.as_deref().unwrap_or("/");
        let mut request =
            hyper::Request::get(path).header("Host", host).header("User-Agent", "kube-probe/muster");
        for header in get.http_headers.iter().flatten() {
            request = request.header(&header.name, &header.value);
        }
        let request = request.body(Empty::<hyper::body::Bytes>::new()).map_err(|error| error.to_string())?;
        let answer = async move { sender.send_request(request).await };
        let (answer, ()) = tokio::join!(answer, async {
            // Its end is the answer's end.
            drop(connection.await);
        });
        let status = answer.map_err(words)?.status().as_u16();
        if (200..400).contains(&status) { Ok(()) } else { Err(format!("HTTP status {status}")) }
    }

    async fn run_command(&self, command: &[String]) -> Result<(), String> {
        let words: Vec<&String> = self.exec.iter().chain(command).collect();
        let Some((program, arguments)) = words.split_first() else { return Err("an empty command".into()) };
        let mut command = tokio::process::Command::new(program);
        let output =
            command.args(arguments).kill_on_drop(true).stdin(std::process::Stdio::null()).output().await;
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(format!("the command ended with {}", output.status))
        }
    }
}

async fn connect(host: &str, port: u16) -> Result<TcpStream, String> {
    TcpStream::connect((host, port)).await.map_err(|error| format!("{host}:{port}: {error}"))
}

fn port(port: &IntOrString, spec: &Container) -> Result<u16, String> {
    let number = match port {
        IntOrString::Int(number) => Some(*number),
        IntOrString::String(name) => {
            let mut ports = spec.ports.iter().flatten();
            ports.find(|port| port.name.as_ref() == Some(name)).map(|port| port.container_port)
        }
    };
    number.and_then(|number| u16::try_from(number).ok()).ok_or_else(|| format!("there is no port {port:?}"))
}
