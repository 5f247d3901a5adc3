//! `/livez`, `/readyz` and `/healthz`, as a whole or check by check.

/// One thing that is looked at, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name, as in `/readyz/NAME`.
    pub name: &'static str,
    /// What is wrong; none: it is well.
    pub wrong: Option<String>,
}

/// Which of the three is asked, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe<'a> {
    /// `livez`, `readyz` or `healthz`.
    pub endpoint: &'a str,
    /// One check only: what follows the endpoint in the path.
    pub only: Option<&'a str>,
    /// Whether to name every check (`?verbose`).
    pub verbose: bool,
    /// The checks that do not count (`?exclude=NAME`).
    pub exclude: Vec<&'a str>,
}

/// The answer, as plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The HTTP status.
    pub code: u16,
    /// The text.
    pub body: String,
}

impl Health {
    fn new(code: u16, body: impl Into<String>) -> Self {
        Self { code, body: body.into() }
    }
}

/// What is looked at, under the names that kube-apiserver has for it; what is wrong with the store is given.
pub fn checks(endpoint: &str, store: Option<String>) -> Vec<Check> {
    let mut checks = vec![Check { name: "ping", wrong: None }, Check { name: "etcd", wrong: store.clone() }];
    if endpoint == "readyz" {
        checks.push(Check { name: "etcd-readiness", wrong: store });
    }
    checks
}

/// Answers a probe from the checks there are.
pub fn health(probe: &Probe<'_>, checks: &[Check]) -> Health {
    match probe.only {
        Some(name) => match checks.iter().find(|check| check.name == name) {
            None => Health::new(404, "404 page not found\n"),
            Some(Check { wrong: None, .. }) => Health::new(200, "ok"),
            Some(Check { wrong: Some(why), .. }) => {
                Health::new(500, format!("internal server error: {why}\n"))
            }
        },
        None => all(probe, checks),
    }
}

fn all(probe: &Probe<'_>, checks: &[Check]) -> Health {
    let mut lines = String::new();
    let mut well = true;
    for check in checks {
        let line = match &check.wrong {
            _ if probe.exclude.contains(&check.name) => format!("[+]{} excluded: ok\n", check.name),
            None => format!("[+]{} ok\n", check.name),
            Some(_) => {
                well = false;
                // The reason is not told to everybody who may ask.
                format!("[-]{} failed: reason withheld\n", check.name)
            }
        };
        lines.push_str(&line);
    }
    let unknown: Vec<String> = probe
        .exclude
        .iter()
        .filter(|name| !checks.iter().any(|check| check.name == **name))
        .map(|name| format!("{name:?}"))
        .collect();
    if !unknown.is_empty() {
        let names = unknown.join(",");
        lines.extend(["warn: some health checks cannot be excluded: no matches for ", &names, "\n"]);
    }
    let endpoint = probe.endpoint;
    match (well, probe.verbose) {
        (false, _) => Health::new(500, format!("{lines}{endpoint} check failed\n")),
        (true, true) => Health::new(200, format!("{lines}{endpoint} check passed\n")),
        (true, false) => Health::new(200, "ok"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: Check = Check { name: "ping", wrong: None };

    fn ill() -> Check {
        Check { name: "store", wrong: Some("disk full".into()) }
    }

    #[test]
    fn one_line_unless_more_is_asked_for_or_wrong() {
        let plain = Probe { endpoint: "livez", ..Probe::default() };
        assert_eq!(health(&plain, &[WELL]), Health::new(200, "ok"));
        let verbose = Probe { verbose: true, ..plain.clone() };
        assert_eq!(health(&verbose, &[WELL]).body, "[+]ping ok\nlivez check passed\n");
        let body = "[+]ping ok\n[-]store failed: reason withheld\nlivez check failed\n";
        assert_eq!(health(&plain, &[WELL, ill()]), Health::new(500, body));
    }

    #[test]
    fn the_store_is_asked_under_the_name_that_clients_know() {
        let names = |endpoint| checks(endpoint, None).into_iter().map(|check| check.name).collect::<Vec<_>>();
        assert_eq!(names("livez"), ["ping", "etcd"]);
        assert_eq!(names("readyz"), ["ping", "etcd", "etcd-readiness"]);
        let probe = Probe { endpoint: "livez", exclude: vec!["etcd"], ..Probe::default() };
        assert_eq!(health(&probe, &checks("livez", Some("full".into()))).code, 200);
        assert_eq!(
            health(&Probe { exclude: vec![], ..probe }, &checks("livez", Some("full".into()))).code,
            500
        );
    }

    #[test]
    fn a_check_can_be_excluded_or_asked_for_alone() {
        let probe =
            Probe { endpoint: "readyz", verbose: true, exclude: vec!["store", "zzz"], ..Probe::default() };
        let warning = "warn: some health checks cannot be excluded: no matches for \"zzz\"\n";
        let body = format!("[+]ping ok\n[+]store excluded: ok\n{warning}readyz check passed\n");
        assert_eq!(health(&probe, &[WELL, ill()]), Health::new(200, body));
        let only = |name| Probe { endpoint: "readyz", only: Some(name), ..Probe::default() };
        assert_eq!(health(&only("ping"), &[WELL]), Health::new(200, "ok"));
        assert_eq!(health(&only("store"), &[ill()]).code, 500);
        assert_eq!(health(&only("nope"), &[WELL]).code, 404);
    }
}
