echo '{apiVersion: v1, kind: Namespace, metadata: {name: change}}' | kubectl create -f -

cat > all.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: change, labels: {app: x}}
data: {one: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: change, labels: {app: x}}
data: {one: "1"}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: change}
spec:
  replicas: 1
  serviceName: s
  selector: {matchLabels: {app: s}}
  template:
    metadata: {labels: {app: s}}
    spec: {containers: [{name: c, image: "a:1"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: change}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: "a:1"}]}
Y
kubectl create -f all.yaml

kubectl patch -n change cm a -p '{"data":{"two":"2"}}'

kubectl patch -n change cm a --type=merge -p '{"data":{"one":null}}' -o yaml

kubectl patch -n change cm a --type=json -p '[{"op":"add","path":"/data/three","value":"3"}]' -o json

# fails: it is not so
kubectl patch -n change cm a --type=json -p '[{"op":"test","path":"/data/three","value":"4"}]'

# fails: there is nothing to remove
kubectl patch -n change cm a --type=json -p '[{"op":"remove","path":"/data/nothing"}]'

kubectl patch -n change cm a -p '{"data":{"two":"2"}}'

# fails: a number is no text
kubectl patch -n change cm a -p '{"data":{"two":3}}'

# fails: it is no patch
kubectl patch -n change cm a -p 'nonsense'

kubectl patch -n change deployment d -p '{"spec":{"template":{"spec":{"containers":[{"name":"e","image":"b:1"}]}}}}' && kubectl get -n change deployment d -o jsonpath='{.spec.template.spec.containers[*].name}'

kubectl patch -n change deployment d --type=merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"e","image":"b:1"}]}}}}' && kubectl get -n change deployment d -o jsonpath='{.spec.template.spec.containers[*].name}'

kubectl patch -n change deployment d --subresource=status --type=merge -p '{"status":{"replicas":3}}' -o jsonpath='{.status}'

# fails: it cannot change
kubectl patch -n change statefulset s -p '{"spec":{"serviceName":"other"}}'

kubectl patch -n change cm a -p '{"data":{"dry":"run"}}' --dry-run=server -o yaml

kubectl label -n change cm a more=yes

# fails: it has another value
kubectl label -n change cm a more=no

kubectl label -n change cm a more=no --overwrite

kubectl label -n change cm a more-

kubectl label -n change cm a missing-

kubectl label -n change cm --all every=one

kubectl label -n change cm -l app=x sel=ected

# fails: it is no label
kubectl label -n change cm a 'bad label=x'

# fails: it is no value
kubectl label -n change cm a x='not valid!'

kubectl label -n change cm a --list | sort

kubectl annotate -n change cm a note='any text at all!'

# fails: it has another value
kubectl annotate -n change cm a note=other

kubectl annotate -n change cm a note-

kubectl get -n change cm a b -o yaml

kubectl scale -n change statefulset s --replicas=3

# fails: there are others than that
kubectl scale -n change statefulset s --replicas=5 --current-replicas=2

kubectl scale -n change statefulset s --replicas=5 --current-replicas=3 && kubectl get -n change sts s -o jsonpath='{.spec.replicas} {.metadata.generation}'

kubectl scale -n change deployment/d statefulset/s --replicas=2

# fails: it has no scale
kubectl scale -n change cm a --replicas=2

kubectl get -n change deployment d --subresource=scale

kubectl get -n change deployment d --subresource=scale -o yaml

kubectl get -n change deployment d --subresource=status -o jsonpath='{.metadata.name}'

EDITOR="sed -i s/three:/four:/" kubectl edit -n change cm a && kubectl get -n change cm a -o jsonpath='{.data}'

EDITOR=true kubectl edit -n change cm a

EDITOR="sed -i s/replicas:.*/replicas:\ 4/" kubectl edit -n change deployment d && kubectl get -n change deployment d -o jsonpath='{.spec.replicas}'

EDITOR="sed -i s/four:.*/four:\ {}/" kubectl edit -n change cm a 2>&1 | grep -v -e 'Edit cancelled' -e 'tmp'

EDITOR="sed -i s/one:/uno:/" kubectl edit -n change cm b -o yaml --output-patch 2>&1 | head -1

kubectl wait -n change --for=jsonpath='{.data.four}'=3 cm/a --timeout=5s

# fails: it is not available
kubectl wait -n change --for=condition=Available deployment/d --timeout=1s

kubectl patch -n change deployment d --subresource=status --type=merge -p '{"status":{"observedGeneration":99,"conditions":[{"type":"Available","status":"True","reason":"a","message":"b"}]}}'; kubectl wait -n change --for=condition=Available deployment/d --timeout=5s

kubectl wait -n change --for=create cm/later --timeout=20s > w 2>&1 & echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: later, namespace: change}}' | kubectl create -f -
await w met; cat w

# differs: whether it is gone before it is waited for
kubectl wait -n change --for=delete cm/later --timeout=20s & wait=$!; kubectl delete -n change cm later
wait $wait

kubectl wait -n change --for=delete cm/nothing --timeout=5s

# fails: it is not there
kubectl delete -n change cm nothing

kubectl delete -n change cm nothing --ignore-not-found

kubectl delete -n change cm a --dry-run=server

kubectl delete -n change cm a

kubectl delete -n change cm -l app=x

kubectl delete -n change cm --all

kubectl delete -n change statefulset s --cascade=orphan --wait=false && kubectl get -n change sts s -o jsonpath='{.metadata.finalizers}'

kubectl delete -n change deployment d --cascade=foreground --wait=false && kubectl get -n change deployment d -o jsonpath='{.metadata.finalizers}'

kubectl create -n change -f - <<'Y'
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: "a:1"}], nodeName: "n"}
---
apiVersion: v1
kind: Pod
metadata: {name: q}
spec: {containers: [{name: c, image: "a:1"}], nodeName: "n"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: f, finalizers: [example.org/hold]}
Y

kubectl delete -n change pod p --wait=false && kubectl get -n change pod p -o jsonpath='{.metadata.deletionGracePeriodSeconds}'

kubectl delete -n change pod p --grace-period=0 --force

kubectl delete -n change pod q --now --wait=false && kubectl get -n change pod q -o jsonpath='{.metadata.deletionGracePeriodSeconds}'

kubectl delete -n change cm f --wait=false && kubectl get -n change cm f -o jsonpath='{.metadata.finalizers}'

# fails: it is gone
kubectl patch -n change cm f --type=merge -p '{"metadata":{"finalizers":null}}'; kubectl get -n change cm f

kubectl delete -n change cm,secret --all

kubectl get -n change all

kubectl delete namespace change --wait=false && kubectl get namespace change -o jsonpath='{.status.phase}'

# fails: the namespace ends
echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: change}}' | kubectl create -f -
