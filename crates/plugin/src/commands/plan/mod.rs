//! `kubectl muster plan NAME|-f FILE`: what the operator would do now, or for a changed spec, without doing any of it.
//!
//! It calls the functions that the operator calls, on what is stored. What only the operator knows (reports of this
//! moment, the contents of Secrets as it last saw them) is taken as status has it, and the notes say so.

mod live;
mod members;
mod objects;
mod outline;
mod page;
mod sizing;
mod subject;

use std::path::PathBuf;

use muster_core::pause::Pause;
use muster_core::validation::{self, schema};
use outline::Outline;
use subject::Subject;

use crate::access::Access;
use crate::commands::validate::files::{self, Document};
use crate::commands::validate::lookup::Sources;
use crate::error::{EXIT_CODES, Failure};
use crate::print::document;
use crate::session::Session;

/// Show what the operator would do, without doing it
///
/// For a cluster as it is, or as a manifest would make it: which members come, go or are rolled, and in which order; which
/// objects are created or changed, and where. Exit code 4: the spec is not valid, so nothing would be done.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES, group = clap::ArgGroup::new("of").required(true).args(["name", "filename"]))]
pub struct Options {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// A manifest with the cluster as it is to be, or - for standard input
    #[arg(short, long, value_name = "FILE")]
    filename: Option<PathBuf>,
}

/// Shows it.
pub async fn run(options: &Options, session: &Session) -> Result<(), Failure> {
    let access = session.access().await?;
    let documents = match &options.filename {
        Some(path) => files::read(std::slice::from_ref(path))?,
        None => Vec::new(),
    };
    let subject = match &options.name {
        Some(name) => Subject::live(access.cluster(name).await?),
        None => subject::from_file(&access, &documents).await?,
    };
    let access = access.within(&subject.namespace(&access.namespace));
    let outline = outline(&access, &subject, &documents).await?;
    match document(&outline, session.output())? {
        Some(text) => session.console.show(&text),
        None => session.console.show(&page::text(&outline, session.console.paint)),
    }
    match outline.violations.len() {
        0 => Ok(()),
        _ => Err(Failure::No(format!("the spec of {} is not valid: nothing would be done", outline.cluster))),
    }
}

async fn outline(access: &Access, subject: &Subject, documents: &[Document]) -> Result<Outline, Failure> {
    let mut outline = Outline::new(subject);
    outline.violations.extend(refusals(subject));
    if !outline.violations.is_empty() {
        return Ok(outline);
    }
    let sources = Sources::of(access, documents);
    let references = sources.of_cluster(&subject.wanted, &access.namespace).await;
    let report = validation::check_cluster(&subject.wanted, &references);
    outline.violations.extend(report.violations.iter().map(ToString::to_string));
    outline.notes.extend(report.unreadable.iter().map(|why| format!("not checked: {why}")));
    let validation::references::Lookup::Found(engine) = &references.engine else {
        return Ok(outline);
    };
    if !outline.violations.is_empty() {
        return Ok(outline);
    }
    pauses(subject, &mut outline);
    let seen = live::Live::gather(access, subject).await?;
    sizing::plan(subject, &seen, &mut outline);
    objects::plan(access, subject, engine, &seen, &mut outline).await?;
    Ok(outline)
}

/// What the API server would refuse of the change.
fn refusals(subject: &Subject) -> Vec<String> {
    let value = |cluster| serde_json::to_value(cluster).unwrap_or_default();
    let old = subject.before.as_ref().map(value);
    let new = subject.written.clone().unwrap_or_else(|| value(&subject.wanted));
    schema::refusals("ReplicatedCluster", &new, old.as_ref()).iter().map(ToString::to_string).collect()
}

/// What stands in the way of all that follows.
fn pauses(subject: &Subject, outline: &mut Outline) {
    let wanted = &subject.wanted;
    let pause = Pause::from_annotations(wanted.metadata.annotations.as_ref());
    if wanted.metadata.deletion_timestamp.is_some() {
        outline
            .notes
            .push("it is being deleted: its members are stopped, and nothing below is done".to_owned());
    }
    if pause.reconciliation {
        outline
            .notes
            .push("reconciliation is stopped: nothing below is done until it is started again".to_owned());
    }
    if pause.clustering {
        outline.notes.push(
            "clustering is stopped: what would restart or remove a running member is held until it is started again"
                .to_owned(),
        );
    }
    if wanted.status.as_ref().is_some_and(|status| status.recovery.is_some()) {
        outline
            .notes
            .push("replication is being recovered: no member is removed until a primary serves".to_owned());
    }
}
