echo '{apiVersion: v1, kind: Namespace, metadata: {name: custom}}' | kubectl create -f -

cat > crd.yaml <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.sea.example.org}
spec:
  group: sea.example.org
  scope: Namespaced
  names: {plural: ships, singular: ship, kind: Ship, shortNames: [sh], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.crew, statusReplicasPath: .status.crew}}
    additionalPrinterColumns:
    - {name: Crew, type: integer, jsonPath: .spec.crew}
    - {name: Port, type: string, jsonPath: .spec.port, priority: 1}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: A ship at sea.
        properties:
          spec:
            type: object
            required: [port]
            properties:
              port: {type: string, maxLength: 8, description: Where it is at home.}
              crew: {type: integer, default: 3, minimum: 1}
            x-kubernetes-validations:
            - {rule: "self.crew < 100", message: "too many"}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
Y
kubectl apply -f crd.yaml

kubectl wait --for=condition=Established crd/ships.sea.example.org --timeout=20s

kubectl get crd ships.sea.example.org | cut -d' ' -f1

cat > s.yaml <<'Y'
apiVersion: sea.example.org/v1
kind: Ship
metadata: {name: argo, namespace: custom}
spec: {port: Iolcus}
Y
for try in $(seq 100); do kubectl get ships -n custom >/dev/null 2>&1 && break; sleep 0.1; done
kubectl apply -f s.yaml

kubectl get -n custom ships

kubectl get -n custom sh argo -o wide

kubectl get -n custom ship argo -o yaml

kubectl get -n custom all

kubectl apply -f s.yaml

sed -i 's/Iolcus/Corinth, the old/' s.yaml; kubectl apply -f s.yaml

# fails: the crew is too large
sed -i 's/Corinth, the old/Corinth, crew: 300/' s.yaml; kubectl apply -f s.yaml

# fails: there is a difference
sed -i 's/crew: 300/crew: 30/' s.yaml; kubectl diff -f s.yaml

kubectl apply -f s.yaml

kubectl apply --server-side -f s.yaml --field-manager=x

kubectl scale -n custom ship argo --replicas=7 && kubectl get -n custom ships

kubectl patch -n custom ship argo --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}' && kubectl get -n custom ships

kubectl wait -n custom --for=condition=Ready ship/argo --timeout=5s

# fails: custom resources take no such patch
kubectl patch -n custom ship argo -p '{"spec":{"crew":8}}'

# fails: a text is no number
kubectl patch -n custom ship argo --type=merge -p '{"spec":{"crew":"many"}}'

kubectl label -n custom ship argo a=b

EDITOR="sed -i s/crew:.*/crew:\ 9/" kubectl edit -n custom ship argo && kubectl get -n custom ship argo -o jsonpath='{.spec.crew}'

kubectl describe -n custom ship argo

kubectl explain ship.spec

kubectl api-resources --api-group=sea.example.org -o wide

kubectl get -n custom ships -o custom-columns=N:.metadata.name,C:.spec.crew

kubectl delete -n custom ship argo

kubectl delete crd ships.sea.example.org

# fails: they are not served any more
for try in $(seq 100); do kubectl get ships -n custom >/dev/null 2>&1 || break; sleep 0.1; done
kubectl get ships -n custom
