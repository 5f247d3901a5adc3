# What kubectl says of kinds that there are not, for which it reads the whole description.

# fails: there is no such kind
cat > typo.yaml <<'Y'
apiVersion: apps/v1
kind: Deploymnt
metadata: {name: a, namespace: default}
Y
kubectl apply -f typo.yaml

# fails: there is no such kind
kubectl create -f typo.yaml

# fails: there is no such kind
kubectl apply --server-side -f typo.yaml

# fails: there is no such kind
kubectl apply --validate=false -f typo.yaml

# fails: there is no such kind
kubectl delete -f typo.yaml

# fails: there is no such kind
cat > none.yaml <<'Y'
apiVersion: none.com/v1
kind: None
metadata: {name: a}
Y
kubectl apply -f none.yaml

# fails: there is no such kind
kubectl create -f none.yaml

# fails: there is no such kind
kubectl diff -f none.yaml

# fails: its kind is not known before it is defined
cat > both.yaml <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: moons.unknown.example.org}
spec:
  group: unknown.example.org
  scope: Namespaced
  names: {plural: moons, singular: moon, kind: Moon}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}
---
apiVersion: unknown.example.org/v1
kind: Moon
metadata: {name: io, namespace: default}
spec: {size: 1}
Y
kubectl apply -f both.yaml

kubectl wait --for=condition=Established crd/moons.unknown.example.org --timeout=30s && for try in $(seq 100); do kubectl apply -f both.yaml >said 2>&1 && break; sleep 0.1; done; cat said

kubectl get moons

# fails: there is no such kind
kubectl get deploymnt

# fails: there is no such kind
kubectl explain deploymnt

kubectl delete moon io && kubectl delete crd moons.unknown.example.org
