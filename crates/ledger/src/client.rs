//! A client: what people and tests append and read with.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// How long the ledger may take to answer: longer than it waits itself for enough copies.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many entries are read at once.
const PAGE: usize = 1000;

/// What became of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Appended {
    /// Enough members have it on disk, under this number.
    Acknowledged(u64),
    /// It is nowhere, and why.
    Refused(String),
    /// It may stay or be lost, and why that is not known.
    Unknown(String),
}

/// A connection to a ledger.
pub struct Client {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
}

impl Client {
    /// Connects.
    pub fn connect(address: &str) -> io::Result<Self> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{address}: no such address"));
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    return Ok(Self { lines: BufReader::new(stream.try_clone()?), stream });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Appends a line. An error of the connection leaves its fate unknown as well.
    pub fn append(&mut self, entry: &str) -> io::Result<Appended> {
        if entry.contains('\n') {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an entry is one line"));
        }
        writeln!(self.stream, "append {entry}")?;
        let answer = self.line()?;
        let (word, rest) = answer.split_once(' ').unwrap_or((&answer, ""));
        match (word, rest.parse()) {
            ("ok", Ok(sequence)) => Ok(Appended::Acknowledged(sequence)),
            ("error", _) => Ok(Appended::Refused(rest.to_owned())),
            ("unknown", _) => Ok(Appended::Unknown(rest.to_owned())),
            _ => Err(io::Error::other(format!("the ledger said {answer:?}"))),
        }
    }

    /// The entries from this one on, with their numbers; at most so many.
    pub fn read(&mut self, from: u64, mut count: usize) -> io::Result<Vec<(u64, String)>> {
        let (mut entries, mut next) = (Vec::new(), from);
        while count > 0 {
            let page = count.min(PAGE);
            writeln!(self.stream, "read {next} {page}")?;
            let before = entries.len();
            loop {
                let line = self.line()?;
                if line == "end" {
                    break;
                }
                let entry =
                    line.split_once(' ').and_then(|(at, text)| Some((at.parse().ok()?, text.to_owned())));
                entries.push(entry.ok_or_else(|| io::Error::other(format!("the ledger said {line:?}")))?);
            }
            let got = entries.len() - before;
            next += got as u64;
            count -= got.min(count);
            if got < page {
                break;
            }
        }
        Ok(entries)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.pop();
        Ok(line)
    }
}
