// The settings of hosted clusters, as config.ts reads them.

export interface HostedSettings {
  readonly engine: HostedEngine
  /** The agent API, as containers reach it. */
  readonly endpoint: string
  /** What every agent image begins with, and what runs where a queue names none. */
  readonly baseImage: string
  /** What the names of built images begin with. */
  readonly registry: string
  /** How many images one worker builds at once, and how long each may take. */
  readonly imageBuilds: number
  readonly imageBuildMinutes: number
  /** How many containers wait for jobs, per hosted queue that has had one lately. */
  readonly warmAgents: number
  /** How many vCPUs all containers have together. */
  readonly mostCpus: number
  /** How much the cache volumes of one cluster may hold. */
  readonly cacheLimitMb: number
  /** `host:port` that containers reach although it is on the engine's machine; null: they reach everything there. */
  readonly allowed: readonly string[] | null
}

export type HostedEngine = { readonly kind: 'docker'; readonly socketPath: string } | KubernetesEngine

export interface KubernetesEngine {
  readonly kind: 'kubernetes'
  readonly namespace: string
  /** A path; null: the account of the pod that this process runs in. */
  readonly kubeconfig: string | null
  /** A Secret of type kubernetes.io/dockerconfigjson in the namespace; null: the registry asks for nothing. */
  readonly registrySecret: string | null
  /** Whether the registry is spoken to without TLS. */
  readonly isRegistryInsecure: boolean
  readonly buildkitImage: string
  /** Of cache volumes; null: the cluster's default. */
  readonly storageClass: string | null
  /** null: cache volumes are cloned, not restored from snapshots. */
  readonly snapshotClass: string | null
  /** Of what the jobs of a cluster share; null: nothing can be shared. */
  readonly sharedStorageClass: string | null
  readonly sharedMb: number
  /** null: the cluster's default. */
  readonly runtimeClass: string | null
  /** Ranges that pods may reach although they are private. */
  readonly outboundAllow: readonly string[]
  /** Whether jobs run on a network that ignores policies. */
  readonly isNetworkOpen: boolean
}

export type ReadText = (name: string, fallback: string) => string

/** How config.ts reads the environment; what is wrong goes to `problems`. */
interface Reading {
  text: ReadText
  integer(name: string, fallback: number, min: number, max: number): number
  flag(name: string): boolean
  ranges(name: string): string[]
  problems: string[]
}

/** `docker:///var/run/docker.sock`, which may be Podman's; `kubernetes:NAMESPACE`; nothing: none. */
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

/** The server itself is always among them. */
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
