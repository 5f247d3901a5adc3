//! The query of a request, each parameter with its meaning.

use std::num::IntErrorKind;

use super::path::decode;

/// The most parameters that are read.
pub const MAX_PARAMETERS: usize = 64;

/// The parameters of a request as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

/// What to do with fields that nobody knows, or that are there twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drop them silently.
    Ignore,
    /// Drop them, and say so in a warning.
    #[default]
    Warn,
    /// Refuse the request.
    Strict,
}

impl Query {
    /// Understands `a=b&c=d`; none for bad escapes or too many of them.
    pub fn parse(text: &str) -> Option<Self> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let unescape = |text: &str| decode(&text.replace('+', " "));
        let parsed: Option<Vec<(String, String)>> = pairs
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                Some((unescape(name)?, unescape(value)?))
            })
            .collect();
        parsed.filter(|parsed| parsed.len() <= MAX_PARAMETERS).map(Self)
    }

    /// The query of a watch at one of the old paths, of all objects or of one; the error says why it is none.
    pub fn watching(mut self, name: Option<&str>) -> Result<Self, String> {
        if let Some(name) = name {
            let alone = format!("metadata.name={name}");
            if self.get("fieldSelector").is_some_and(|selector| selector != alone) {
                return Err("fieldSelector metadata.name doesn't match requested name".to_owned());
            }
            self.0.insert(0, ("fieldSelector".to_owned(), alone));
        }
        self.0.insert(0, ("watch".to_owned(), "true".to_owned()));
        Ok(self)
    }

    /// The first value of this parameter, unless it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let first = self.0.iter().find(|(known, _)| known == name);
        first.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// All values of this parameter.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether this parameter is there, with or without a value.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// Whether this switch is on; off if it is not there.
    pub fn flag(&self, name: &str) -> bool {
        self.switch(name).unwrap_or(false)
    }

    /// What this switch says, if it is there. As on kube-apiserver only two words say no: what is there without a value says
    /// yes, and so does what was meant as no in any other way.
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.all(name).next().map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// Whether an answer is to be easy to read. Unlike other switches this one is on only if it says so in one of the words
    /// that Go's `ParseBool` knows.
    pub fn pretty(&self) -> bool {
        matches!(self.get("pretty"), Some("1" | "t" | "T" | "true" | "True" | "TRUE"))
    }

    /// A number; what is below 0 counts as 0.
    pub fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let parse = |text: &str| match text.parse::<i64>() {
            Ok(number) => Ok(u64::try_from(number).unwrap_or(0)),
            Err(error) => {
                let large = matches!(error.kind(), IntErrorKind::PosOverflow | IntErrorKind::NegOverflow);
                let why = if large { "value out of range" } else { "invalid syntax" };
                Err(format!("strconv.ParseInt: parsing {text:?}: {why}"))
            }
        };
        self.all(name).next().map(parse).transpose()
    }

    /// Whether nothing shall be written.
    pub fn dry_run(&self) -> Result<bool, String> {
        match self.get("dryRun") {
            None => Ok(false),
            Some("All") => Ok(true),
            Some(other) => Err(format!("dryRun: Unsupported value: {other:?}: supported values: \"All\"")),
        }
    }

    /// What to do with unknown fields.
    pub fn field_validation(&self) -> Result<FieldValidation, String> {
        match self.get("fieldValidation") {
            None => Ok(FieldValidation::default()),
            Some("Ignore") => Ok(FieldValidation::Ignore),
            Some("Warn") => Ok(FieldValidation::Warn),
            Some("Strict") => Ok(FieldValidation::Strict),
            Some(other) => {
                let supported = r#"supported values: "Ignore", "Strict", "Warn""#;
                Err(format!("fieldValidation: Unsupported value: {other:?}: {supported}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_unescaped() {
        let query = Query::parse("labelSelector=a%3Db&watch=true&x=1+2&limit=").unwrap();
        assert_eq!(query.get("labelSelector"), Some("a=b"));
        assert_eq!(query.get("x"), Some("1 2"));
        assert_eq!(query.get("limit"), None);
        assert!(Query::parse("a=%").is_none());
        assert!(Query::parse(&"a=b&".repeat(MAX_PARAMETERS)).is_some());
        assert!(Query::parse(&"a=b&".repeat(MAX_PARAMETERS + 1)).is_none());
    }

    #[test]
    fn old_watches_of_one_object_select_it() {
        let query = Query::parse("watch=false").unwrap().watching(Some("a")).unwrap();
        assert_eq!((query.flag("watch"), query.get("fieldSelector")), (true, Some("metadata.name=a")));
        assert!(Query::parse("fieldSelector=metadata.name=b").unwrap().watching(Some("a")).is_err());
    }

    #[test]
    fn only_two_words_switch_off() {
        for off in ["s=0", "s=false", "s=False", "s=FALSE", "s=fAlSe", "s=0&s=1"] {
            assert_eq!(Query::parse(off).unwrap().switch("s"), Some(false), "{off}");
        }
        for on in ["s", "s=", "s=1", "s=true", "s=f", "s=F", "s=no", "s=00", "s=off", "s=1&s=0"] {
            assert_eq!(Query::parse(on).unwrap().switch("s"), Some(true), "{on}");
        }
        assert_eq!(Query::default().switch("s"), None);
    }

    #[test]
    fn only_a_clear_yes_is_pretty() {
        for yes in ["1", "t", "T", "true", "True", "TRUE"] {
            assert!(Query::parse(&format!("pretty={yes}")).unwrap().pretty(), "{yes}");
        }
        for no in ["", "pretty", "pretty=", "pretty=0", "pretty=false", "pretty=yes", "pretty=tRUE"] {
            assert!(!Query::parse(no).unwrap().pretty(), "{no}");
        }
    }

    #[test]
    fn switches_numbers_and_choices() {
        let query =
            Query::parse("watch=1&off=false&limit=5&bad=x&dryRun=All&fieldValidation=Strict").unwrap();
        assert!(query.flag("watch") && !query.flag("off") && !query.flag("absent"));
        assert_eq!(query.number("limit"), Ok(Some(5)));
        assert!(query.number("bad").is_err());
        assert_eq!(Query::parse("limit=-1").unwrap().number("limit"), Ok(Some(0)));
        assert!(Query::parse("limit=").unwrap().number("limit").is_err());
        assert_eq!(query.dry_run(), Ok(true));
        assert_eq!(query.field_validation(), Ok(FieldValidation::Strict));
        let wrong = Query::parse("dryRun=x&fieldValidation=y").unwrap();
        assert!(wrong.dry_run().is_err() && wrong.field_validation().is_err());
        assert_eq!(Query::default().field_validation(), Ok(FieldValidation::Warn));
    }
}
