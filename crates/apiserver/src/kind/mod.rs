//! What the objects of a resource are: how they are read, completed, checked, and shared by those who write them.
//!
//! Every write goes the same way, whatever the kind: [`Kind::read`], [`Kind::default`], [`Kind::prepare`],
//! [`Kind::check`]. A kind says what is particular to it at each of these steps and nothing else.

pub mod built_in;
mod custom;
pub mod metadata;
pub mod objects;
mod particular;
mod scaled;
pub mod workloads;

pub use custom::Custom;
pub use particular::{Particular, Plain};
pub use workloads::ServiceNetwork;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use serde_json::Value;

use crate::apply::{FieldSet, MergeKeys, Typings};
use crate::error::ApiError;
use crate::lifecycle::Part;
use crate::schema::FieldError;

/// What the objects of one version of a resource are.
pub trait Kind: Debug + Send + Sync {
    /// Reads an object through its type: takes away what the type does not know and what says nothing (for built-in
    /// kinds nulls, empty lists and maps), and gives the paths of what it did not know, as `unknown field "spec.foo"`.
    /// The error is what a value of another type is refused with: 400 `BadRequest`.
    fn read(&self, object: &mut Value) -> Result<Vec<String>, String>;

    /// The same of what a strategic merge patch has made: that was never text, and errors have other words.
    fn read_merged(&self, object: &mut Value) -> Result<Vec<String>, String> {
        self.read(object)
    }

    /// Fills in what was left open.
    fn default(&self, object: &mut Value);

    /// Fills in what an apply left open. Of a custom resource it does not take away nulls first, as for other writes: a list
    /// whose last item nobody applies any more is then null, and refused.
    fn default_applied(&self, object: &mut Value) {
        self.default(object);
    }

    /// The server's own part in an object before it is checked: what clients cannot set, what is allocated, what
    /// admission adds. `old` is what it replaces; its metadata has been taken care of.
    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        around: &dyn Around,
    ) -> Result<(), ApiError> {
        let _ = (object, old, part, around);
        Ok(())
    }

    /// What a new object gets in the end because its client left it open: `sent` is what the client said of it.
    fn complete(&self, object: &mut Value, sent: &Value) {
        let _ = (object, sent);
    }

    /// Whether [`Self::prepare`] gives out what no two objects may have: then only one is prepared at a time.
    fn allocates(&self) -> bool {
        false
    }

    /// Everything that is wrong with an object; `old` is what it replaces.
    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError>;

    /// What is worth a `Warning` header although it is accepted.
    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let _ = (object, old);
        Vec::new()
    }

    /// What every request is warned with, where the kind should not be used any more.
    fn deprecation(&self) -> Option<&str> {
        None
    }

    /// Turns an object as it is stored into this version as it is today; the stored form has neither `apiVersion` nor
    /// `kind`, and this has not to set them. `outdated`: it was stored before the type got its present form.
    fn revive(&self, object: &mut Value, outdated: bool) {
        let _ = (object, outdated);
    }

    /// Turns an object of this version into the form in which it is stored.
    fn to_stored(&self, object: &mut Value) {
        let _ = object;
    }

    /// Whether [`Self::revive`] changes what is not outdated: then its text cannot be passed on as it is.
    fn is_converted(&self) -> bool {
        false
    }

    /// How its writers share an object.
    fn sharing(&self) -> &Sharing;

    /// For how many seconds an object goes on living after its deletion was asked for: `asked` is what the client
    /// said. None: it does not, as with all but Pods; 0: it is seen marked, and goes at once.
    fn grace(&self, object: &Value, asked: Option<i64>) -> Option<i64> {
        let _ = (object, asked);
        None
    }

    /// The object as it is when its deletion has begun, where that is different from what it is with most kinds: a namespace
    /// is then `Terminating`.
    fn marked(&self, object: &Value, now: &str) -> Option<Value> {
        let _ = (object, now);
        None
    }

    /// Why it cannot be deleted at all, as the first namespaces cannot.
    fn refuse_end(&self, object: &Value) -> Result<(), ApiError> {
        let _ = object;
        Ok(())
    }

    /// Whether a definition made it: the items of its lists then have `apiVersion` and `kind`.
    fn is_custom(&self) -> bool {
        false
    }

    /// Whether an object has to be marked and stay for a reason of its own when it is deleted, besides its finalizers:
    /// a namespace has `spec.finalizers`.
    fn is_held(&self, object: &Value) -> bool {
        let _ = object;
        false
    }

    /// Whether what an object owns stays when nothing is said about it, as with Jobs, where it once was so.
    fn orphans(&self) -> bool {
        false
    }
}

/// How the writers of an object share it: what ownership and patches need to know of its type.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// The types in all versions, by `apiVersion`.
    pub typings: Typings,
    /// An object with nothing set.
    pub empty: Value,
    /// How a strategic merge patch merges lists; none where the kind does not take such patches.
    pub merge_keys: Option<MergeKeys>,
    /// What a write to the object itself cannot change.
    pub reset_by_whole: FieldSet,
    /// What a write to its status cannot change.
    pub reset_by_status: FieldSet,
}

/// What is given to one Service at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Addresses, as numbers.
    pub addresses: BTreeSet<u32>,
    /// Ports of the nodes.
    pub ports: BTreeSet<u32>,
}

/// What a kind may look at besides the object.
pub trait Around {
    /// An object of another resource (`group/plural`); "" is the namespace of what has none.
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>>;
    /// All objects of a resource.
    fn list(&self, resource: &str) -> Vec<Arc<Value>>;
    /// What all Services hold that no two may have.
    fn given(&self) -> Given {
        Given::default()
    }
    /// The network that Services have their addresses from.
    fn service_network(&self) -> ServiceNetwork {
        ServiceNetwork::default()
    }
    /// The present time, as Kubernetes writes it.
    fn now(&self) -> String;
    /// A random number, for what is allocated by chance.
    fn random(&self) -> u64;
    /// Whether nothing will be stored: then nothing is given out either.
    fn is_dry_run(&self) -> bool {
        false
    }
}
