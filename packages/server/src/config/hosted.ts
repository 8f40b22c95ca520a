// Clusters whose agents the server starts itself, in containers or pods.
import {
  flag,
  httpUrl,
  integer,
  ranges,
  Refused,
  subject,
  text,
  type Reader,
  type Setting,
} from './settings.ts'

export type HostedSettings = NonNullable<ReturnType<typeof readHosted>['hosted']>

type EngineAddress = { kind: 'docker'; socketPath: string } | { kind: 'kubernetes'; namespace: string }

/** `docker:///var/run/docker.sock` (also for Podman), or `kubernetes:NAMESPACE`. */
const engineAddress: Setting<EngineAddress | null> = {
  absent: null,
  shown: 'none',
  description:
    '`docker:///var/run/docker.sock`: the container engine that runs [hosted clusters](#hosted-clusters). `kubernetes:NAMESPACE`: see [hosted-kubernetes.md](hosted-kubernetes.md)',
  parse(given) {
    const [, socketPath] = /^(?:docker|unix):\/\/(\/[^?#]+)$/.exec(given) ?? []
    if (socketPath !== undefined) return { kind: 'docker', socketPath }
    const [, namespace] = /^kubernetes:([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$/.exec(given) ?? []
    if (namespace !== undefined) return { kind: 'kubernetes', namespace }
    throw new Refused(
      'must look like docker:///var/run/docker.sock or kubernetes:NAMESPACE (or be absent: no hosted clusters).',
    )
  },
}

export const engineSettings = subject('The engine of hosted clusters', { MILLRACE_HOSTED: engineAddress })

/** `host:port,…`; null: everything. */
const allowedAddresses: Setting<readonly string[] | null> = {
  absent: [],
  shown: 'none',
  description:
    "`host:port,…` on the engine's machine that containers may reach besides the server. `*`: everything, without firewall rules",
  parse(given) {
    if (given === '*') return null
    const named = given
      .split(',')
      .map((address) => address.trim())
      .filter(Boolean)
    const wrong = named.filter((address) => !/^[\w.-]+:\d{1,5}$/.test(address))
    if (wrong.length === 0) return named
    throw new Refused(
      `must list addresses like 10.0.0.5:443, or be * for no fence; it has "${wrong.join(', ')}".`,
    )
  },
}

const image = (absent: string, description: string) =>
  text(absent, description, { must: ['be the name of an image', /^[\w.:/@-]+$/] })

export const hostedSettings = subject('Containers and images of hosted clusters', {
  MILLRACE_HOSTED_ENDPOINT: httpUrl(
    null,
    'The agent API, as containers reach it',
    '`MILLRACE_URL` and `/v3`',
  ),
  MILLRACE_HOSTED_CPUS: integer(
    { absent: 64, from: 2, to: 1_000_000 },
    'vCPUs of all containers together. Further jobs wait, in order',
  ),
  MILLRACE_HOSTED_WARM_AGENTS: integer(
    { absent: 1, from: 0, to: 100 },
    'Warm containers per queue that had a job within the last hour. They are stopped when a job needs the room',
  ),
  MILLRACE_HOSTED_CACHE_GB: integer(
    { absent: 100, from: 1, to: 1_000_000 },
    'Limit of all cache volumes of one cluster',
  ),
  MILLRACE_HOSTED_ALLOW: allowedAddresses,
  MILLRACE_HOSTED_BASE_IMAGE: image(
    'docker.io/library/buildpack-deps:bookworm-scm',
    'The base of every agent image. It needs a shell, `chroot`, `cp`, `du`, git and certificates',
  ),
  MILLRACE_HOSTED_REGISTRY: text(
    'localhost/millrace',
    'Prefix of the names of built images. Kubernetes requires one that its nodes can pull from',
    {
      must: [
        'look like registry.example.com/millrace',
        /^[a-z0-9][a-z0-9.-]*(:\d+)?(\/[a-z0-9]+([._-][a-z0-9]+)*)*$/,
      ],
    },
  ),
  MILLRACE_HOSTED_IMAGE_BUILDS: integer(
    { absent: 2, from: 1, to: 100 },
    'How many images are built at once, by all workers together',
  ),
  MILLRACE_HOSTED_IMAGE_BUILD_MINUTES: integer(
    { absent: 30, from: 1, to: 1440 },
    'How long the build of an image may take',
  ),
})

const kubernetesName = (description: string, shown = 'none') =>
  text(null, description, {
    shown,
    must: ['be the name of something in Kubernetes', /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/],
  })

export const kubernetesSettings = subject('Hosted clusters on Kubernetes', {
  KUBECONFIG: text(null, 'A file with the address of the API server and credentials', {
    shown: "the pod's own account",
  }),
  MILLRACE_HOSTED_REGISTRY_SECRET: kubernetesName(
    'A secret of type `kubernetes.io/dockerconfigjson` in the namespace. Nodes pull with it, builds push with it, Millrace deletes images with it',
  ),
  MILLRACE_HOSTED_REGISTRY_INSECURE: flag('off', '`on`: connect to the registry without TLS'),
  MILLRACE_HOSTED_BUILDKIT_IMAGE: image(
    'docker.io/moby/buildkit:rootless',
    'The image that builds images; it needs `buildctl-daemonless.sh` and a user 1000. Pin a version, or use your own copy',
  ),
  MILLRACE_HOSTED_STORAGE_CLASS: kubernetesName(
    'Storage class of cache volumes. Its driver must support clones or snapshots',
    "the cluster's default",
  ),
  MILLRACE_HOSTED_SNAPSHOT_CLASS: kubernetesName(
    'A `VolumeSnapshotClass`: caches are stored as snapshots. Without it they are stored as claims, and cloned',
  ),
  MILLRACE_HOSTED_SHARED_STORAGE_CLASS: kubernetesName(
    'Storage class of the git mirror, which pods on many nodes mount at once (`ReadWriteMany`). Without it `hosted_git_mirror_enabled` and `hosted_container_cache_enabled` are refused with 422',
  ),
  MILLRACE_HOSTED_SHARED_GB: integer({ absent: 50, from: 1, to: 1_000_000 }, 'The size of each of those'),
  MILLRACE_HOSTED_RUNTIME_CLASS: kubernetesName(
    'A `RuntimeClass` for jobs, such as gVisor or Kata',
    "the cluster's default",
  ),
  MILLRACE_HOSTED_OUTBOUND_ALLOW: ranges(
    'Private address ranges that pods may reach, such as `10.20.0.0/16`',
  ),
  MILLRACE_HOSTED_OPEN_NETWORK: flag(
    'off',
    "`on`: jobs run although the cluster's network ignores policies; see [hosted-kubernetes.md](hosted-kubernetes.md#what-a-pod-may-do)",
  ),
})

/** null: no hosted clusters, whatever else is set. */
export function readHosted(reader: Reader, url: string) {
  const { MILLRACE_HOSTED: address } = reader.read(engineSettings)
  if (address === null) return { hosted: null }
  const values = reader.read(hostedSettings)
  const { MILLRACE_HOSTED_REGISTRY: registry, MILLRACE_HOSTED_ALLOW: allowed } = values
  if (address.kind === 'kubernetes' && registry.startsWith('localhost/')) {
    reader.problems.push(
      'MILLRACE_HOSTED_REGISTRY must name a registry that the nodes of the cluster can pull from, such as registry.example.com/millrace.',
    )
  }
  const endpoint = values.MILLRACE_HOSTED_ENDPOINT ?? `${url}/v3`
  const hosted = {
    engine: address.kind === 'docker' ? address : readKubernetes(reader, address),
    /** The URL of the agent API for containers. */
    endpoint,
    /** The base of every agent image, and the image of queues that name none. */
    baseImage: values.MILLRACE_HOSTED_BASE_IMAGE,
    registry,
    imageBuilds: values.MILLRACE_HOSTED_IMAGE_BUILDS,
    imageBuildMinutes: values.MILLRACE_HOSTED_IMAGE_BUILD_MINUTES,
    warmAgents: values.MILLRACE_HOSTED_WARM_AGENTS,
    mostCpus: values.MILLRACE_HOSTED_CPUS,
    cacheLimitMb: values.MILLRACE_HOSTED_CACHE_GB * 1024,
    /** `host:port` on the engine's machine that containers may reach, the server included; null: all. */
    allowed: allowed === null ? null : [...new Set([...[endpoint, url].map(hostAndPort), ...allowed])],
  }
  return { hosted }
}

function readKubernetes(reader: Reader, address: { kind: 'kubernetes'; namespace: string }) {
  const values = reader.read(kubernetesSettings)
  return {
    ...address,
    kubeconfig: values.KUBECONFIG,
    registrySecret: values.MILLRACE_HOSTED_REGISTRY_SECRET,
    isRegistryInsecure: values.MILLRACE_HOSTED_REGISTRY_INSECURE,
    buildkitImage: values.MILLRACE_HOSTED_BUILDKIT_IMAGE,
    /** The class of cache volumes; null: the cluster's default. */
    storageClass: values.MILLRACE_HOSTED_STORAGE_CLASS,
    /** null: cache volumes are cloned, not restored from snapshots. */
    snapshotClass: values.MILLRACE_HOSTED_SNAPSHOT_CLASS,
    /** The class of volumes that the jobs of a cluster share; null: no shared volumes. */
    sharedStorageClass: values.MILLRACE_HOSTED_SHARED_STORAGE_CLASS,
    sharedMb: values.MILLRACE_HOSTED_SHARED_GB * 1024,
    /** null: the cluster's default. */
    runtimeClass: values.MILLRACE_HOSTED_RUNTIME_CLASS,
    outboundAllow: values.MILLRACE_HOSTED_OUTBOUND_ALLOW,
    isNetworkOpen: values.MILLRACE_HOSTED_OPEN_NETWORK,
  }
}

function hostAndPort(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}
