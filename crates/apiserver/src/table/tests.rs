//! Tables as a whole; what their cells say is held against the real server.

use super::*;

fn style(include: Include) -> Style<'static> {
    let now = "2026-01-01T00:00:05Z".parse().unwrap();
    Style { version: "v1", include, headers: true, now }
}

fn widget() -> Value {
    json!({
        "apiVersion": "example.org/v1", "kind": "Widget",
        "metadata": {"name": "a", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"n": 1},
    })
}

#[test]
fn a_table_has_columns_rows_and_what_is_asked_for_of_the_objects() {
    let printer = Custom::new(&[]);
    let table = of_one(&printer, &widget(), style(Include::Metadata));
    assert_eq!(table["metadata"], json!({"resourceVersion": "7"}));
    assert_eq!(table["columnDefinitions"][1]["name"], "Age");
    assert_eq!(table["rows"][0]["cells"], json!(["a", "5s"]));
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(table["rows"][0]["object"]["spec"], Value::Null);
    let whole = of_one(&printer, &widget(), style(Include::Object));
    assert_eq!(whole["rows"][0]["object"], widget());
    let none = of_one(&printer, &widget(), Style { headers: false, ..style(Include::None) });
    assert_eq!((&none["rows"][0]["object"], &none["columnDefinitions"]), (&Value::Null, &Value::Null));
}

#[test]
fn what_to_include_is_one_of_three() {
    assert_eq!(Include::parse(None), Ok(Include::Metadata));
    assert_eq!(Include::parse(Some("Object")), Ok(Include::Object));
    let error = Include::parse(Some("Bad")).unwrap_err();
    assert!(error.message.ends_with("\"Bad\": must be 'Metadata', 'Object', 'None', or empty"), "{error}");
}

#[test]
fn every_column_of_every_kind_has_a_description_and_a_cell() {
    let ids =
        ["/pods", "/services", "/nodes", "/events", "apps/deployments", "batch/jobs", "/persistentvolumes"];
    for id in ids {
        let printer = built_in::printer(id).unwrap();
        let columns = printer.columns();
        for column in columns.iter() {
            assert_ne!(column["description"], "", "{id} {column}");
        }
        assert_eq!(printer.row(&json!({}), style(Include::None).now).cells.len(), columns.len(), "{id}");
    }
}
