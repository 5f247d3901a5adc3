//! What kubectl deletes with the object it was told to delete, on our server with its controllers.

use crate::shell::{Ours, Shell};

/// An owner, what it owns, and what that owns.
const FAMILY: &str = r#"
make() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\n' "$1" "$NS"
  if [ -n "$2" ]; then uid=$(kubectl get -n "$NS" cm "$2" -o jsonpath='{.metadata.uid}')
    printf '  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s, blockOwnerDeletion: true}]\n' "$2" "$uid"
  fi; }
NS=default
for pair in one: two:one three:two; do
  make "${pair%:*}" "${pair#*:}" | kubectl create -f - >/dev/null || exit 1
done
"#;

fn said(shell: &Shell, commands: &str) -> String {
    let output = shell.run(commands);
    let (said, complained) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{commands}: {said}{complained}");
    said
}

fn server() -> (Ours, Shell) {
    let ours = Ours::start(&[]);
    let shell = Shell::new("cascades", ours.kubeconfig());
    (ours, shell)
}

#[test]
fn real_kubectl_deletes_what_is_owned_with_its_owner() {
    let (_ours, shell) = server();
    for cascade in ["background", "foreground"] {
        said(&shell, FAMILY);
        said(&shell, &format!("kubectl delete cm one --cascade={cascade} --timeout=30s"));
        said(&shell, "kubectl wait --for=delete cm/two cm/three --timeout=30s");
    }
}

#[test]
fn real_kubectl_leaves_what_is_owned_behind() {
    let (_ours, shell) = server();
    said(&shell, FAMILY);
    said(&shell, "kubectl delete cm one --cascade=orphan --timeout=30s");
    assert_eq!(said(&shell, "kubectl get cm two three -o name"), "configmap/two\nconfigmap/three\n");
    assert_eq!(said(&shell, "kubectl get cm two -o jsonpath='{.metadata.ownerReferences}'"), "");
}

#[test]
fn real_kubectl_deletes_a_namespace_and_all_that_is_in_it() {
    let (_ours, shell) = server();
    let manifest = "{apiVersion: v1, kind: Namespace, metadata: {name: a}}";
    said(&shell, &format!("echo '{manifest}' | kubectl create -f -"));
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: a}}";
    said(&shell, &format!("echo '{manifest}' | kubectl create -f -"));
    assert_eq!(said(&shell, "kubectl delete namespace a --timeout=30s"), "namespace \"a\" deleted\n");
    assert_eq!(said(&shell, "kubectl get cm -A --field-selector=metadata.namespace=a -o name"), "");
}
