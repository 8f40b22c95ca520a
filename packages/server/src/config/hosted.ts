// The settings of hosted clusters, as config.ts reads them.

export interface HostedSettings {
  readonly engine: HostedEngine
  /** The URL of the agent API for containers. */
  readonly endpoint: string
  /** The base of every agent image, and the image of queues that name none. */
  readonly baseImage: string
  /** The prefix of the names of built images. */
  readonly registry: string
  /** The number of images that one worker builds at once, and the limit of each build. */
  readonly imageBuilds: number
  readonly imageBuildMinutes: number
  /** The number of containers that wait for jobs, for each hosted queue with recent jobs. */
  readonly warmAgents: number
  /** The limit of vCPUs of all containers together. */
  readonly mostCpus: number
  /** The limit of all cache volumes of one cluster. */
  readonly cacheLimitMb: number
  /** `host:port` on the engine's machine that containers may reach; null: all. */
  readonly allowed: readonly string[] | null
}

export type HostedEngine = { readonly kind: 'docker'; readonly socketPath: string } | KubernetesEngine

export interface KubernetesEngine {
  readonly kind: 'kubernetes'
  readonly namespace: string
  /** A path; null: the service account of this process's pod. */
  readonly kubeconfig: string | null
  /** A Secret of type kubernetes.io/dockerconfigjson in the namespace; null: the registry needs no credentials. */
  readonly registrySecret: string | null
  /** The registry has no TLS. */
  readonly isRegistryInsecure: boolean
  readonly buildkitImage: string
  /** The class of cache volumes; null: the cluster's default. */
  readonly storageClass: string | null
  /** null: cache volumes are cloned, not restored from snapshots. */
  readonly snapshotClass: string | null
  /** The class of volumes that the jobs of a cluster share; null: no shared volumes. */
  readonly sharedStorageClass: string | null
  readonly sharedMb: number
  /** null: the cluster's default. */
  readonly runtimeClass: string | null
  /** Private ranges that pods may reach. */
  readonly outboundAllow: readonly string[]
  /** Jobs run even if the network ignores policies. */
  readonly isNetworkOpen: boolean
}

export type ReadText = (name: string, fallback: string) => string

/** The readers of config.ts; errors go to `problems`. */
interface Reading {
  text: ReadText
  integer(name: string, fallback: number, min: number, max: number): number
  flag(name: string): boolean
  ranges(name: string): string[]
  problems: string[]
}

/** `docker:///var/run/docker.sock` (also for Podman), `kubernetes:NAMESPACE`, or empty. */
export function readHosted(reading: Reading, url: string): HostedSettings | null {
  const { text, integer, problems } = reading
  const given = text('MILLRACE_HOSTED', '')
  if (given === '') return null
  const engine = readEngine(given, reading)
  if (engine === null) {
    problems.push(
      'MILLRACE_HOSTED must look like docker:///var/run/docker.sock or kubernetes:NAMESPACE (or be absent: no hosted clusters).',
    )
    return null
  }
  const endpoint = text('MILLRACE_HOSTED_ENDPOINT', `${url}/v3`).replace(/\/+$/, '')
  if (!URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    problems.push(`MILLRACE_HOSTED_ENDPOINT must be an http or https address, not "${endpoint}".`)
  }
  const registry = text('MILLRACE_HOSTED_REGISTRY', 'localhost/millrace')
  if (!/^[a-z0-9][a-z0-9.-]*(:\d+)?(\/[a-z0-9]+([._-][a-z0-9]+)*)*$/.test(registry)) {
    problems.push(`MILLRACE_HOSTED_REGISTRY must look like registry.example.com/millrace, not "${registry}".`)
  }
  if (engine.kind === 'kubernetes' && registry.startsWith('localhost/')) {
    problems.push(
      'MILLRACE_HOSTED_REGISTRY must name a registry that the nodes of the cluster can pull from, such as registry.example.com/millrace.',
    )
  }
  const baseImage = text('MILLRACE_HOSTED_BASE_IMAGE', 'docker.io/library/buildpack-deps:bookworm-scm')
  if (!/^[\w.:/@-]+$/.test(baseImage)) {
    problems.push(`MILLRACE_HOSTED_BASE_IMAGE must be the name of an image, not "${baseImage}".`)
  }
  return {
    engine,
    endpoint,
    baseImage,
    registry,
    imageBuilds: integer('MILLRACE_HOSTED_IMAGE_BUILDS', 2, 1, 100),
    imageBuildMinutes: integer('MILLRACE_HOSTED_IMAGE_BUILD_MINUTES', 30, 1, 1440),
    warmAgents: integer('MILLRACE_HOSTED_WARM_AGENTS', 1, 0, 100),
    mostCpus: integer('MILLRACE_HOSTED_CPUS', 64, 2, 1_000_000),
    cacheLimitMb: integer('MILLRACE_HOSTED_CACHE_GB', 100, 1, 1_000_000) * 1024,
    allowed: readAllowed(text('MILLRACE_HOSTED_ALLOW', ''), [endpoint, url], problems),
  }
}

/** The server's address is always included. */
function readAllowed(given: string, servers: readonly string[], problems: string[]): string[] | null {
  if (given === '*') return null
  const named = given
    .split(',')
    .map((place) => place.trim())
    .filter(Boolean)
  const wrong = named.filter((place) => !/^[\w.-]+:\d{1,5}$/.test(place))
  if (wrong.length > 0) {
    problems.push(
      `MILLRACE_HOSTED_ALLOW must list places like 10.0.0.5:443, or be * for no fence; it has "${wrong.join(', ')}".`,
    )
  }
  const own = servers.filter((server) => URL.canParse(server)).map(placeOf)
  return [...new Set([...own, ...named])]
}

function placeOf(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

function readEngine(given: string, { text, integer, flag, ranges, problems }: Reading): HostedEngine | null {
  const [, socketPath] = /^(?:docker|unix):\/\/(\/[^?#]+)$/.exec(given) ?? []
  if (socketPath !== undefined) return { kind: 'docker', socketPath }
  const [, namespace] = /^kubernetes:([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$/.exec(given) ?? []
  if (namespace === undefined) return null
  const name = (variable: string) => {
    const value = text(variable, '')
    if (!/^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$/.test(value)) {
      problems.push(`${variable} must be the name of something in Kubernetes, not "${value}".`)
    }
    return value || null
  }
  const buildkitImage = text('MILLRACE_HOSTED_BUILDKIT_IMAGE', 'docker.io/moby/buildkit:rootless')
  if (!/^[\w.:/@-]+$/.test(buildkitImage)) {
    problems.push(`MILLRACE_HOSTED_BUILDKIT_IMAGE must be the name of an image, not "${buildkitImage}".`)
  }
  return {
    kind: 'kubernetes',
    namespace,
    kubeconfig: text('KUBECONFIG', '') || null,
    registrySecret: name('MILLRACE_HOSTED_REGISTRY_SECRET'),
    isRegistryInsecure: flag('MILLRACE_HOSTED_REGISTRY_INSECURE'),
    buildkitImage,
    storageClass: name('MILLRACE_HOSTED_STORAGE_CLASS'),
    snapshotClass: name('MILLRACE_HOSTED_SNAPSHOT_CLASS'),
    sharedStorageClass: name('MILLRACE_HOSTED_SHARED_STORAGE_CLASS'),
    sharedMb: integer('MILLRACE_HOSTED_SHARED_GB', 50, 1, 1_000_000) * 1024,
    runtimeClass: name('MILLRACE_HOSTED_RUNTIME_CLASS'),
    outboundAllow: ranges('MILLRACE_HOSTED_OUTBOUND_ALLOW'),
    isNetworkOpen: flag('MILLRACE_HOSTED_OPEN_NETWORK'),
  }
}
