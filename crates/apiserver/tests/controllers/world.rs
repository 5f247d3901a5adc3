//! A server with controllers, whichever it is.

use serde_json::{Value, json};

/// A server with controllers.
pub(crate) trait World {
    /// Sends a request; an error is an answer too.
    fn send(&self, method: &str, path: &str, body: &Value) -> Value;
    /// Lets time pass until this is so; it fails if it never is.
    fn until(&self, is_so: &mut dyn FnMut() -> Result<(), Value>);
    /// Lets everything happen that is going to.
    fn settle(&self);

    fn get(&self, path: &str) -> Value {
        self.send("GET", path, &Value::Null)
    }

    fn create(&self, path: &str, object: &Value) -> Value {
        let made = self.send("POST", path, object);
        assert!(made["metadata"]["uid"].is_string(), "{path}: {made}");
        made
    }

    fn delete(&self, path: &str, policy: &str) -> Value {
        self.send("DELETE", path, &json!({"propagationPolicy": policy}))
    }

    fn is_there(&self, path: &str) -> bool {
        self.get(path)["metadata"]["uid"].is_string()
    }

    fn until_gone(&self, path: &str) {
        self.until(&mut || {
            let answer = self.get(path);
            if answer["reason"] == "NotFound" { Ok(()) } else { Err(answer) }
        });
    }

    fn until_so(&self, path: &str, is_so: &dyn Fn(&Value) -> bool) {
        self.until(&mut || {
            let answer = self.get(path);
            if is_so(&answer) { Ok(()) } else { Err(answer) }
        });
    }
}
