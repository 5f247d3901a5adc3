//! Whether the operator runs, and so how old all that status says is: by its Lease.
//!
//! Time is that of the server's answer, not of this machine, whose clock nobody has set.

use std::time::Duration;

use http::Request;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use k8s_openapi::api::coordination::v1::Lease;
use kube::client::Body;
use muster_api::names::{LEASE_NAME, OPERATOR_NAMESPACE};
use serde::Serialize;

use super::Access;
use crate::print::age;

/// What a Lease without a duration is taken for: the usual one.
const USUAL_DURATION: i32 = 15;

/// How old the knowledge in status is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Knowledge {
    /// The operator runs: it looked this long ago.
    #[serde(rename_all = "camelCase")]
    Current {
        /// Seconds since its Lease was renewed.
        age_seconds: u64,
    },
    /// The operator does not run.
    #[serde(rename_all = "camelCase")]
    Stale {
        /// Seconds since its Lease was renewed; none where it never was.
        age_seconds: Option<u64>,
    },
    /// There is no Lease.
    None,
    /// The Lease cannot be read.
    #[serde(rename_all = "camelCase")]
    Unknown {
        /// Why.
        why: String,
    },
}

/// The operator that looks after a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operator {
    /// The namespace of its Lease.
    pub namespace: String,
    /// Who holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// How old what it wrote is.
    pub knowledge: Knowledge,
    /// The present time, by the server's clock.
    #[serde(skip)]
    pub now: Timestamp,
}

impl Operator {
    /// Whether it runs; what cannot be known is taken for yes, as there is nothing to warn of.
    pub fn runs(&self) -> bool {
        matches!(self.knowledge, Knowledge::Current { .. } | Knowledge::Unknown { .. })
    }

    /// In one sentence, for a person.
    pub fn sentence(&self) -> String {
        let ago = |seconds: u64| age::short(Duration::from_secs(seconds));
        match &self.knowledge {
            Knowledge::Current { age_seconds } => {
                let holder = self.holder.as_deref().unwrap_or("nobody");
                format!("running ({holder}, seen {} ago)", ago(*age_seconds))
            }
            Knowledge::Stale { age_seconds: Some(seconds) } => format!(
                "operator not running: what follows is as of {} ago or older (Lease {LEASE_NAME} in namespace {})",
                ago(*seconds),
                self.namespace
            ),
            Knowledge::Stale { age_seconds: None } => format!(
                "operator not running: Lease {LEASE_NAME} in namespace {} is held by nobody",
                self.namespace
            ),
            Knowledge::None => format!(
                "operator not running: there is no Lease {LEASE_NAME} in this namespace or in {OPERATOR_NAMESPACE}; \
                 start one (muster operator)"
            ),
            Knowledge::Unknown { why } => format!("not known whether it runs, nor how old this is: {why}"),
        }
    }
}

/// What a Lease says at a time.
fn judge(lease: &Lease, now: Timestamp) -> Knowledge {
    let spec = lease.spec.as_ref();
    let held = spec.and_then(|spec| spec.holder_identity.as_deref()).is_some_and(|holder| !holder.is_empty());
    let Some(renewed) = spec.and_then(|spec| spec.renew_time.as_ref()) else {
        return Knowledge::Stale { age_seconds: None };
    };
    let age = age::since(renewed.0, now);
    let lasts = spec.and_then(|spec| spec.lease_duration_seconds).unwrap_or(USUAL_DURATION);
    let lasts = Duration::from_secs(u64::try_from(lasts).unwrap_or(0));
    if held && age <= lasts {
        Knowledge::Current { age_seconds: age.as_secs() }
    } else {
        Knowledge::Stale { age_seconds: Some(age.as_secs()) }
    }
}

impl Access {
    /// The operator of the namespace: one that watches it alone goes before the one for all.
    pub(crate) async fn operator(&self) -> Operator {
        let mut now = Timestamp::now();
        for namespace in [self.namespace.as_str(), OPERATOR_NAMESPACE] {
            let holder = |lease: &Lease| lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone());
            match self.lease(namespace).await {
                Ok((at, Some(lease))) => {
                    let knowledge = judge(&lease, at);
                    return Operator {
                        namespace: namespace.to_owned(),
                        holder: holder(&lease),
                        knowledge,
                        now: at,
                    };
                }
                Ok((at, None)) => now = at,
                Err(why) => {
                    let knowledge = Knowledge::Unknown { why };
                    return Operator { namespace: namespace.to_owned(), holder: None, knowledge, now };
                }
            }
        }
        Operator { namespace: self.namespace.clone(), holder: None, knowledge: Knowledge::None, now }
    }

    /// A Lease, if there is one, and the time of the answer.
    async fn lease(&self, namespace: &str) -> Result<(Timestamp, Option<Lease>), String> {
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{LEASE_NAME}");
        let request = Request::get(path).body(Body::empty()).map_err(|error| error.to_string())?;
        let doing = format!("read Lease {LEASE_NAME} in namespace {namespace}");
        let answer = async {
            let answer = self.client.send(request).await?;
            let status = answer.status();
            let now = answer.headers().get(http::header::DATE).and_then(|date| date.to_str().ok());
            let now = now.and_then(|date| rfc2822::parse(date).ok()).map(|date| date.timestamp());
            let body = answer.into_body().collect_bytes().await?;
            Ok((status, now, body))
        };
        let (status, now, body) = self.call(&doing, answer).await.map_err(|failure| failure.to_string())?;
        let now = now.unwrap_or_else(Timestamp::now);
        match status.as_u16() {
            200 => {
                let lease =
                    serde_json::from_slice(&body).map_err(|error| format!("cannot {doing}: {error}"))?;
                Ok((now, Some(lease)))
            }
            404 => Ok((now, None)),
            403 => Err(format!("you may not {doing}")),
            code => Err(format!("cannot {doing}: the server answers {code}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::coordination::v1::LeaseSpec;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

    fn lease(holder: &str, renewed: Option<i64>) -> Lease {
        let spec = LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            renew_time: renewed.map(|second| MicroTime(Timestamp::from_second(second).unwrap())),
            ..LeaseSpec::default()
        };
        Lease { spec: Some(spec), ..Lease::default() }
    }

    #[test]
    fn a_lease_counts_for_as_long_as_it_says() {
        let now = Timestamp::from_second(1000).unwrap();
        assert_eq!(judge(&lease("a", Some(990)), now), Knowledge::Current { age_seconds: 10 });
        assert_eq!(judge(&lease("a", Some(985)), now), Knowledge::Current { age_seconds: 15 });
        assert_eq!(judge(&lease("a", Some(984)), now), Knowledge::Stale { age_seconds: Some(16) });
    }

    #[test]
    fn a_lease_that_nobody_holds_or_renewed_is_stale() {
        let now = Timestamp::from_second(1000).unwrap();
        assert_eq!(judge(&lease("", Some(999)), now), Knowledge::Stale { age_seconds: Some(1) });
        assert_eq!(judge(&lease("a", None), now), Knowledge::Stale { age_seconds: None });
        assert_eq!(judge(&Lease::default(), now), Knowledge::Stale { age_seconds: None });
    }

    #[test]
    fn a_clock_ahead_of_ours_is_no_age() {
        let now = Timestamp::from_second(1000).unwrap();
        assert_eq!(judge(&lease("a", Some(1003)), now), Knowledge::Current { age_seconds: 0 });
    }
}
