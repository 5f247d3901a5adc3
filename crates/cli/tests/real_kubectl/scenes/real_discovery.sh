kubectl version -o yaml | sed s/+muster// | grep -v -e buildDate -e goVersion -e gitCommit -e gitTreeState -e compiler

kubectl version | sed s/+muster//

kubectl api-versions | grep -e ^v1 -e apps -e batch -e coordination -e discovery -e events -e policy -e rbac -e storage.k8s.io/v1$ -e apiextensions

kubectl api-resources --no-headers -o name | grep -x -e configmaps -e secrets -e pods -e services -e namespaces -e nodes -e events -e 'events.events.k8s.io' -e 'leases.*' -e serviceaccounts -e persistentvolumes -e persistentvolumeclaims -e endpoints -e '.*\.apps' -e '.*\.batch' -e '.*\.rbac.*' -e 'storageclasses.*' -e 'poddisruptionbudgets.*' -e 'endpointslices.*' -e 'custom.*' | sort

kubectl api-resources --no-headers | grep -e '^configmaps ' -e '^pods ' -e '^services ' -e '^namespaces ' -e '^statefulsets' -e '^deployments' -e '^jobs' -e '^custom' -e '^leases' -e '^storageclasses' | sort

kubectl api-resources --no-headers -o wide | grep -e '^configmaps ' -e '^pods ' -e '^services ' -e '^namespaces ' -e '^statefulsets' -e '^deployments' -e '^jobs' -e '^custom' -e '^leases' -e '^storageclasses' | sort

kubectl api-resources --api-group=apps

kubectl api-resources --namespaced=false --api-group='' | grep -v componentstatuses

kubectl cluster-info

kubectl explain configmap

kubectl explain pod.spec.containers.livenessProbe

kubectl explain statefulset.spec --recursive

# fails: there is no such thing
kubectl explain nothing.such

# fails: there is no such thing
kubectl explain pod.nothing

kubectl explain crd.spec.versions.schema

kubectl auth whoami | grep -v -e '^Extra' -e '^UID'

kubectl auth whoami --as=bob --as-group=a --as-group=system:masters --as-uid=17

kubectl auth can-i create pods

kubectl auth can-i '*' '*'

kubectl get --raw /livez

kubectl get --raw /readyz

# fails: there is no such thing
kubectl get --raw /nothing/here

# fails: there is no such thing
kubectl get nothings

# fails: there is no such thing
kubectl get nothings.example.org

kubectl auth can-i list pods --as=bob --as-group=system:masters

kubectl auth can-i --list --as=bob --as-group=system:masters | head -3
