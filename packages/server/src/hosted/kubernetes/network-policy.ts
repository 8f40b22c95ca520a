// The network policy of pods of jobs and builds. They reach DNS, the public internet, the ranges that the operator allows, and
// Millrace, but not each other or anything else in the cluster or on its nodes. Nothing can connect to them. The network
// plugin has to enforce policies, which policy-probe.ts checks.
import type { V1NetworkPolicy } from '@kubernetes/client-node'
import { label, labels } from '../labels.ts'
import { ignoreExisting, type Cluster } from './cluster.ts'

/** Private, shared, link-local (clouds serve credentials there) and special addresses. */
const privateRanges = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '198.18.0.0/15',
]
const privateRanges6 = ['fc00::/7', 'fe80::/10']

/** The label of the pods that serve `MILLRACE_HOSTED_ENDPOINT`, where that is in the same cluster. */
const endpointLabel = 'millrace.endpoint'

const nameOf = ({ installationId }: Cluster) => `millrace-${installationId}`

/** Creates the policy, and undoes changes to an existing one. */
export async function ensurePolicy(cluster: Cluster): Promise<void> {
  const { namespace } = cluster
  const policy = describePolicy(cluster)
  await cluster
    .ask((options) => cluster.networking.createNamespacedNetworkPolicy({ namespace, body: policy }, options))
    .catch(ignoreExisting)
  await cluster.ask((options) =>
    cluster.networking.replaceNamespacedNetworkPolicy(
      { namespace, name: nameOf(cluster), body: policy },
      options,
    ),
  )
}

function describePolicy(cluster: Cluster): V1NetworkPolicy {
  const everywhere = [
    { ipBlock: { cidr: '0.0.0.0/0', except: privateRanges } },
    { ipBlock: { cidr: '::/0', except: privateRanges6 } },
  ]
  const allowed = cluster.settings.outboundAllow.map((range) => ({ ipBlock: { cidr: asRange(range) } }))
  const millrace = {
    namespaceSelector: {},
    podSelector: { matchLabels: { [endpointLabel]: 'true' } },
  }
  return {
    metadata: { name: nameOf(cluster), labels: labels(cluster, 'policy', '', '') },
    spec: {
      podSelector: { matchLabels: { [label.installation]: cluster.installationId } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [
        { to: [...everywhere, ...allowed, millrace] },
        {
          ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 })),
          to: [{ namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }],
        },
      ],
    },
  }
}

const asRange = (range: string) =>
  range.includes('/') ? range : `${range}/${range.includes(':') ? 128 : 32}`
