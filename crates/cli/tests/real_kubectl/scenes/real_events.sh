# Events of both groups, as kubectl shows them.

echo "{apiVersion: v1, kind: Namespace, metadata: {name: events}}" | kubectl create -f -

kubectl create -n events -f - <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: "a:1"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
Y

uid=$(kubectl get -n events pod p -o jsonpath='{.metadata.uid}')
kubectl create -n events -f - <<Y
apiVersion: v1
kind: Event
metadata: {name: old}
involvedObject: {apiVersion: v1, kind: Pod, name: p, namespace: events, uid: $uid}
reason: Pulled
message: Container image "a:1" already present on machine
type: Normal
count: 3
firstTimestamp: "2001-01-01T00:00:00Z"
lastTimestamp: "2001-01-01T01:00:00Z"
source: {component: kubelet, host: "n"}
---
apiVersion: v1
kind: Event
metadata: {name: warned}
involvedObject: {apiVersion: v1, kind: Pod, name: p, namespace: events, uid: $uid, fieldPath: "spec.containers{c}"}
reason: BackOff
message: Back-off restarting failed container
type: Warning
count: 1
firstTimestamp: "2002-01-01T00:00:00Z"
lastTimestamp: "2002-01-01T00:00:00Z"
source: {component: kubelet}
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: new}
eventTime: "2003-01-01T00:00:00.000000Z"
regarding: {apiVersion: v1, kind: Pod, name: p, namespace: events, uid: $uid}
reportingController: example.org/controller
reportingInstance: controller-1
action: Binding
reason: Scheduled
note: Successfully assigned events/p to n
type: Normal
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: series}
eventTime: "2004-01-01T00:00:00.000000Z"
series: {count: 5, lastObservedTime: "2004-01-01T02:00:00.000000Z"}
regarding: {apiVersion: v1, kind: ConfigMap, name: c, namespace: events}
reportingController: example.org/controller
reportingInstance: controller-1
action: Reading
reason: Read
note: It was read
type: Warning
Y

kubectl get events -n events

kubectl get events -n events -o wide

kubectl get events -n events --sort-by=.metadata.name -o custom-columns=NAME:.metadata.name,REASON:.reason,COUNT:.count,TYPE:.type

kubectl get events.events.k8s.io -n events

kubectl get events.events.k8s.io -n events new series -o yaml

kubectl get events -n events new old -o yaml

kubectl get events -n events --field-selector type=Warning -o name

kubectl get events -n events --field-selector involvedObject.kind=ConfigMap,reason=Read -o name

kubectl get events.events.k8s.io -n events --field-selector regarding.name=p -o name

kubectl events -n events

kubectl events -n events --for pod/p

kubectl events -n events --types=Warning

kubectl events -n events -o name

kubectl events -n events --no-headers -A | grep -e Read -e Pulled

kubectl describe -n events pod p

kubectl describe -n events event old

kubectl describe -n events cm c

kubectl delete -n events event old warned new series

kubectl events -n events
