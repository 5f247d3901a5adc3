//! The same objects in our tables and in those of the real server.

use jiff::Timestamp;
use muster_apiserver::table::{self, Include, Print, Style};
use serde_json::{Value, json};

use crate::server::Server;

pub(crate) const AS_TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Compares the table of a collection with ours of the same objects: columns, cells, and what is included.
pub(crate) fn compare(server: &Server, printer: &dyn Print, path: &str) {
    for (parameter, include) in
        [("None", Include::None), ("Metadata", Include::Metadata), ("Object", Include::Object)]
    {
        let separator = if path.contains('?') { '&' } else { '?' };
        let list = server.get(path);
        // Of the same moment: other tests make objects, too.
        let version =
            list["metadata"]["resourceVersion"].as_str().unwrap_or_else(|| panic!("{path}: {list}"));
        let moment = format!("resourceVersion={version}&resourceVersionMatch=Exact");
        let before = Timestamp::now();
        let real = server.get_as(&format!("{path}{separator}includeObject={parameter}&{moment}"), AS_TABLE);
        let after = Timestamp::now();
        let kind = list["kind"].as_str().unwrap_or_else(|| panic!("{path}: {list}")).trim_end_matches("List");
        let mut objects = list["items"].as_array().unwrap().clone();
        for object in &mut objects {
            // Items of a built-in list do not say what they are, but in a table they do.
            object["apiVersion"] = list["apiVersion"].clone();
            object["kind"] = kind.into();
        }
        let ours = |now| {
            let style = Style { version: "v1", include, headers: true, now };
            table::table(printer, &objects, &list["metadata"], style)
        };
        same(&real, &ours(before), &ours(after), path);
    }
}

/// The real table is ours, at one or the other end of the time in which it was made.
fn same(real: &Value, early: &Value, late: &Value, path: &str) {
    let columns = |table: &Value| table["columnDefinitions"].as_array().unwrap().clone();
    for (real, ours) in columns(real).iter().zip(&columns(early)) {
        assert_eq!(real, ours, "{path}");
    }
    assert_eq!(without_cells(real), without_cells(early), "{path}");
    let mut differences = Vec::new();
    for (place, row) in real["rows"].as_array().unwrap().iter().enumerate() {
        let cells = |table: &Value| table["rows"][place]["cells"].as_array().unwrap().clone();
        let (early, late) = (cells(early), cells(late));
        for (column, cell) in row["cells"].as_array().unwrap().iter().enumerate() {
            let ours = [&early[column], &late[column]];
            let name = &real["columnDefinitions"][column]["name"];
            if !ours.contains(&cell) {
                differences.push(format!("{} {name}: {cell} is not {ours:?}", row["cells"][0]));
            }
        }
        assert_eq!(early.len(), row["cells"].as_array().unwrap().len());
    }
    assert!(differences.is_empty(), "{path}: {differences:#?}");
}

/// The list's own version moves with everything that happens on the server.
fn without_cells(table: &Value) -> Value {
    let mut table = table.clone();
    table["metadata"] = Value::Null;
    for row in table["rows"].as_array_mut().unwrap() {
        row["cells"] = json!(null);
    }
    table
}
