echo "{apiVersion: v1, kind: Namespace, metadata: {name: apply}}" | kubectl create -f -

cat > a.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: apply, labels: {app: x}}
data: {one: "1", two: "2"}
Y
kubectl apply -f a.yaml

kubectl apply -f a.yaml

kubectl get -n apply configmap a -o yaml

# fails: there is a difference
sed -i 's/two: "2"/three: "3"/' a.yaml && kubectl diff -f a.yaml

kubectl apply -f a.yaml && kubectl get -n apply configmap a -o json

kubectl apply view-last-applied -n apply configmap a

kubectl apply -f a.yaml --dry-run=client

kubectl apply -f a.yaml --dry-run=server -o yaml

kubectl apply --server-side -f a.yaml

kubectl apply --server-side -f a.yaml --field-manager=other

# fails: another owns the field
sed -i 's/three: "3"/three: "4"/' a.yaml && kubectl apply --server-side -f a.yaml --field-manager=other

kubectl apply --server-side --force-conflicts -f a.yaml --field-manager=other -o yaml --show-managed-fields

kubectl diff --server-side --force-conflicts -f a.yaml --field-manager=third

# fails: there is no such field
cat > bad.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: bad, namespace: apply}
dota: {one: "1"}
Y
kubectl apply -f bad.yaml

kubectl apply --validate=warn -f bad.yaml

# fails: an apply knows only fields that there are
kubectl apply --validate=ignore --server-side -f bad.yaml

cat > d.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: apply}
spec:
  replicas: 2
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: "a:1", ports: [{containerPort: 80}]}, {name: e, image: "b:1"}]}
Y
kubectl apply -f d.yaml

kubectl get -n apply deployment d -o yaml

# fails: there is a difference
sed -i 's/a:1/a:2/; s/replicas: 2/replicas: 3/' d.yaml && kubectl diff -f d.yaml

kubectl apply -f d.yaml && kubectl get -n apply deployment d -o yaml

echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: z, namespace: apply, labels: {app: x}}}' | kubectl apply -f -

kubectl apply -f a.yaml --prune --prune-allowlist=core/v1/ConfigMap -l app=x -n apply

kubectl apply -n apply -f - <<'Y'
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {selector: {app: d}, ports: [{port: 80}], clusterIP: None}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {password: secret}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: s}
Y

kubectl get -n apply service,secret,serviceaccount s -o yaml

# fails: it is there already
kubectl create -n apply -f a.yaml

sed 's/name: d,/name: e,/' d.yaml | kubectl create -f -

kubectl create configmap b -n apply --from-literal=x=y --from-literal=z=w

kubectl create secret generic b -n apply --from-literal=x=y -o yaml

kubectl create deployment f -n apply --image=a:1 --replicas=2

kubectl create service clusterip e -n apply --tcp=80:8080 --dry-run=server

kubectl create serviceaccount b -n apply

kubectl create role r -n apply --verb=get --resource=pods

kubectl create rolebinding r -n apply --role=r --serviceaccount=apply:b

kubectl create job j -n apply --image=a:1

kubectl create cronjob c -n apply --image=a:1 --schedule='*/5 * * * *'

kubectl create quota q -n apply --hard=pods=1

kubectl replace -f a.yaml

kubectl replace --force -f a.yaml

kubectl set image -n apply deployment/d c=a:3

kubectl set env -n apply deployment/d A=b

kubectl set resources -n apply deployment/d -c c --limits=cpu=200m,memory=512Mi

kubectl set serviceaccount -n apply deployment/d s

kubectl set selector -n apply service/s app=other

kubectl get -n apply deployment d -o yaml

# fails: nobody rolls it out
kubectl rollout status -n apply deployment/d --timeout=1s

kubectl rollout restart -n apply deployment/e

kubectl rollout pause -n apply deployment/e

kubectl rollout resume -n apply deployment/e

kubectl autoscale deployment e -n apply --max=3

kubectl expose deployment e -n apply --port=80
