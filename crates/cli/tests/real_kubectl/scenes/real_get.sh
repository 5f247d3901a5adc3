echo "{apiVersion: v1, kind: Namespace, metadata: {name: get}}" | kubectl create -f -

kubectl create -n get -f - <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: {app: x, tier: front}}
data: {one: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, labels: {app: w}}
data: {one: "1", two: "2"}
---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: x}}
spec: {containers: [{name: c, image: "a:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {selector: {app: x}, ports: [{port: 80, name: http}], clusterIP: None}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: t}
spec:
  serviceName: s
  selector: {matchLabels: {app: t}}
  template:
    metadata: {labels: {app: t}}
    spec: {containers: [{name: c, image: "a:1"}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: v}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: fast}
Y

kubectl get -n get configmaps

kubectl get -n get configmap a

# fails: one of them is not there
kubectl get -n get configmap a b nothing

kubectl get -n get cm,po,svc,sts,pvc

kubectl get -n get cm -o wide

kubectl get -n get po -o wide

kubectl get -n get svc,sts -o wide

kubectl get -n get cm -o name

kubectl get -n get cm a -o json

kubectl get -n get cm a -o yaml

kubectl get -n get cm a b -o yaml

kubectl get -n get cm -o jsonpath='{range .items[*]}{.metadata.name}={.data.one}{"\n"}{end}'

kubectl get -n get cm -o custom-columns=NAME:.metadata.name,ONE:.data.one,TWO:.data.two

kubectl get -n get cm -o go-template='{{range .items}}{{.metadata.name}}{{"\n"}}{{end}}'

kubectl get -n get cm -l app=x

kubectl get -n get cm -l 'app in (x,w),!tier'

kubectl get -n get cm --show-labels

kubectl get -n get cm -L app,tier

kubectl get -n get cm --sort-by=.metadata.name --no-headers

kubectl get -n get po --field-selector=metadata.name=p,status.phase=Pending

# fails: nothing is selected by that
kubectl get -n get po --field-selector=spec.nothing=x

kubectl get -n get cm --chunk-size=1

kubectl get -n get cm --show-kind

kubectl get -n get cm a --output-watch-events -w --request-timeout=1s

kubectl get -n nothing cm

# fails: there is no such namespace
kubectl get -n nothing cm a

kubectl get cm -A --field-selector=metadata.namespace=get

kubectl get namespace get

kubectl get namespace get -o yaml

kubectl describe -n get cm a

kubectl describe -n get pod p

kubectl describe -n get service s

kubectl describe -n get statefulset t

kubectl describe -n get pvc v

kubectl describe namespace get

# fails: it is not there
kubectl describe -n get cm nothing

kubectl events -n get

kubectl get events -n get

kubectl get -n get cm -w --output-watch-events > w & await w ADDED
kubectl label -n get cm a more=yes; await w MODIFIED
kubectl delete -n get cm b; await w DELETED
kill %1; cat w

kubectl get -n get cm a -w -o json > w & await w '"a"'
kubectl annotate -n get cm a more=yes; await w '"more": "yes"'
kill %1; cat w
