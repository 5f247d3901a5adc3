//! Reading one object.

use super::Server;
use super::answer::{Answer, Content};
use super::call::Call;
use super::list::{at_least, parse_version};
use super::objects;
use crate::error::{ApiError, Reason};
use crate::store::Revision;

impl Server {
    /// `get`: the object, or one of its parts that are read like it. `past`: a revision to answer from instead of the
    /// present.
    pub(super) fn get(&self, call: &Call, past: Option<Revision>) -> Result<Answer, ApiError> {
        let asked = parse_version(call.query.get("resourceVersion"));
        if let Some(asked) = asked.map_err(|why| ApiError::new(Reason::Unknown, why))? {
            at_least(asked, self.store().revision())?;
        }
        let key = call.key();
        let found = match past {
            Some(revision) => self.store().get_at(&key, revision).unwrap_or_else(|_| self.store().get(&key)),
            None => self.store().get(&key),
        };
        let stored = found.ok_or_else(|| ApiError::not_found(call.subject()))?;
        let text = objects::text(&call.resource, &stored.object, stored.revision, true);
        Ok(Answer::ok(Content::ObjectText(call.resource.clone(), text)))
    }
}
